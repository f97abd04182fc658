/* What a primitive costs once its implementation is in the cache, through the public interface: the
 * convolution 64 x 56 x 56, 3 x 3, and a matrix multiplication; also by several threads. */
#include "neoprene/neoprene.h"
#include "tests/bench/check.h"
#include "tests/bench/measure.h"

enum { BATCH = 100, BATCHES = 20, MOST_THREADS = 8, THREAD_LIVES = 50000 };

static neo_engine *engine;
static neo_convolution_desc convolution;
static neo_matmul_desc matmul[MOST_THREADS]; /* a shape for each thread */

static neo_memory_desc tensor(int ndims, const char *tag, const neo_dim *dims)
{
    neo_memory_desc desc;
    check_ok(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag));
    return desc;
}

static void fill_descriptions(void)
{
    convolution = (neo_convolution_desc){
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor(4, "nhwc", (neo_dim[]){1, 64, 56, 56}),
        .weights = tensor(4, "any", (neo_dim[]){64, 64, 3, 3}),
        .dst = tensor(4, "nhwc", (neo_dim[]){1, 64, 56, 56}),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    for (neo_dim i = 0; i < MOST_THREADS; i++)
        matmul[i] = (neo_matmul_desc){
            .src = tensor(2, "ab", (neo_dim[]){128, 700 + i}),
            .weights = tensor(2, "any", (neo_dim[]){700 + i, 64}),
            .dst = tensor(2, "ab", (neo_dim[]){128, 64}),
        };
}

static neo_primitive_desc *describe_convolution(void)
{
    neo_primitive_desc *pd;
    check_ok(neo_convolution_primitive_desc_create(&pd, engine, &convolution, NULL));
    return pd;
}

static neo_primitive_desc *describe_matmul(size_t i)
{
    neo_primitive_desc *pd;
    check_ok(neo_matmul_primitive_desc_create(&pd, engine, &matmul[i], NULL));
    return pd;
}

/* ---- the steps of a life, each by itself ---- */

/* Nanoseconds of each step: many objects go through one step before the next begins. */
enum step { DESCRIBE, CREATE, DESTROY, DESTROY_DESC, STEPS };

static double time_step(enum step step, neo_primitive_desc *pds[BATCH],
                        neo_primitive *primitives[BATCH], int is_matmul)
{
    double start = now_ns();
    for (size_t i = 0; i < BATCH; i++) {
        if (step == DESCRIBE)
            pds[i] = is_matmul ? describe_matmul(0) : describe_convolution();
        else if (step == CREATE)
            check_ok(neo_primitive_create(&primitives[i], pds[i]));
        else if (step == DESTROY)
            neo_primitive_destroy(primitives[i]);
        else
            neo_primitive_desc_destroy(pds[i]);
    }
    return now_ns() - start;
}

struct wanted {
    enum step step;
    int is_matmul;
};

static double time_one_step(void *context)
{
    static neo_primitive_desc *pds[BATCH];
    static neo_primitive *primitives[BATCH];
    const struct wanted *wanted = context;
    double sum = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        for (enum step step = DESCRIBE; step < STEPS; step++) {
            double ns = time_step(step, pds, primitives, wanted->is_matmul);
            sum += step == wanted->step ? ns : 0;
        }
    }
    return sum / (BATCH * BATCHES);
}

static void report_steps(const char *operation, int is_matmul)
{
    static const char *const names[STEPS] = {"describe (hit)", "create", "destroy",
                                             "destroy the descriptor"};
    for (enum step step = DESCRIBE; step < STEPS; step++) {
        char text[80];
        struct wanted wanted = {step, is_matmul};
        snprintf(text, sizeof text, "%s: %s", operation, names[step]);
        report(text, median(time_one_step, &wanted));
    }
}

/* ---- whole lives ---- */

static void live_once(size_t shape)
{
    neo_primitive_desc *pd = describe_matmul(shape);
    neo_primitive *primitive;
    check_ok(neo_primitive_create(&primitive, pd));
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static double live(void *context)
{
    (void)context;
    double start = now_ns();
    for (int i = 0; i < BATCH * BATCHES; i++)
        live_once(0);
    return (now_ns() - start) / (BATCH * BATCHES);
}

static void *live_often(void *context)
{
    size_t shape = (size_t)((neo_matmul_desc *)context - matmul);
    for (int i = 0; i < THREAD_LIVES; i++)
        live_once(shape);
    return NULL;
}

static void report_threads(void)
{
    struct spent alone = {0, 0};
    for (size_t threads = 1; threads <= MOST_THREADS; threads *= 2) {
        pthread_t made[MOST_THREADS];
        struct spent spent = spend_begin();
        for (size_t i = 0; i < threads; i++)
            if (pthread_create(&made[i], NULL, live_often, &matmul[i]))
                exit(1);
        for (size_t i = 0; i < threads; i++)
            pthread_join(made[i], NULL);
        spent = spend_end(spent, (double)(THREAD_LIVES * threads));
        if (threads == 1)
            alone = spent;
        report_spent("lives", threads, spent, alone);
    }
}

int main(void)
{
    become_threaded();
    check_ok(neo_engine_create(&engine));
    fill_descriptions();
    report_steps("convolution", 0);
    report_steps("matmul", 1);
    report("matmul: describe, create, destroy both", median(live, NULL));
    report_threads();
    neo_engine_destroy(engine);
    return 0;
}
