/* Neoprene through its public interface: a primitive is made once, its weights packed beforehand
 * where the problem says so; what is measured is one neo_primitive_execute(), with one thread or
 * as many as PERF_THREADS says: then task i runs on thread i and nowhere else, so that what is
 * counted for a thread is the work that the library gave to it. PERF_WITHOUT takes kernels away,
 * and PERF_KERNELS=1 only lists what there are. */
#include "tests/perf/driver.h"
#include "tests/perf/without.h"

#include "neoprene/convolution.h"
#include "neoprene/matmul.h"
#include "neoprene/reorder.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { SRC, WEIGHTS, DST, ARGUMENTS };

struct work {
    char implementation[64];
    neo_primitive *primitive;
    neo_exec_arg arguments[ARGUMENTS];
};

/* One engine and one stream for all problems, as a program has. */
static neo_engine *engine;
static neo_stream *stream;

/* ---- threads ---- */

enum { MOST_THREADS = 256 };

/* Waiting threads sleep: they execute nothing that would be counted. */
static struct worker {
    sem_t start, done;
    neo_task_fn *task;
    void *argument;
    int i, n;
} workers[MOST_THREADS];

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    for (;;) {
        while (sem_wait(&w->start))
            continue;
        w->task(w->argument, w->i, w->n);
        sem_post(&w->done);
    }
    return NULL;
}

static int pool_threads(void *context)
{
    return *(int *)context;
}

static int in_pool(void *context)
{
    (void)context;
    return 0;
}

static void run_on_pool(void *context, int n, neo_task_fn *task, void *argument)
{
    int threads = *(int *)context, last = n < threads ? n : threads;
    for (int i = 1; i < last; i++) {
        struct worker *w = &workers[i];
        w->task = task;
        w->argument = argument;
        w->i = i;
        w->n = n;
        sem_post(&w->start);
    }
    task(argument, 0, n);
    for (int i = threads; i < n; i++)
        task(argument, i, n);
    for (int i = 1; i < last; i++)
        while (sem_wait(&workers[i].done))
            continue;
}

/* NULL when there is no need for one. */
static const neo_threadpool *make_pool(void)
{
    static int threads;
    static const neo_threadpool pool = {.context = &threads,
                                        .num_threads = pool_threads,
                                        .in_parallel = in_pool,
                                        .parallel_for = run_on_pool};
    const char *text = getenv("PERF_THREADS");
    int wanted = text ? atoi(text) : 1;
    for (threads = 1; threads < wanted && threads < MOST_THREADS; threads++) {
        struct worker *w = &workers[threads];
        pthread_t thread;
        if (sem_init(&w->start, 0, 0) || sem_init(&w->done, 0, 0) ||
            pthread_create(&thread, NULL, worker_main, w))
            exit(1);
    }
    return threads > 1 ? &pool : NULL;
}

static const char *start(void)
{
    const char *without = getenv("PERF_WITHOUT");
    if (without)
        without_kernels(without);
    if (getenv("PERF_KERNELS")) {
        print_kernels(&peer);
        exit(0);
    }
    const neo_threadpool *pool = make_pool();
    neo_stream_options options = {.threadpool = pool, .max_threads = pool ? 0 : 1};
    neo_status status = neo_engine_create(&engine);
    if (status == NEO_OK)
        status = neo_stream_create(&stream, engine, &options);
    return status == NEO_OK ? NULL : neo_status_text(status);
}

/* ---- descriptions ---- */

/* The tensors of a problem. `user_weights` is what the arrays of the problem hold, and the
 * primitive may want them in another layout. */
struct tensors {
    neo_memory_desc src, weights, user_weights, dst;
};

static neo_status describe(neo_memory_desc *desc, int ndims, const size_t *sizes, const char *tag)
{
    neo_dim dims[NEO_MAX_NDIMS];
    for (int i = 0; i < ndims; i++)
        dims[i] = (neo_dim)sizes[i];
    return neo_memory_desc_init_tag(desc, ndims, dims, NEO_F32, tag);
}

/* Batch dimensions, if there are any, and the matrix. */
static neo_status describe_matrix(neo_memory_desc *desc, const struct matmul_problem *p,
                                  const size_t *batch, size_t rows, size_t columns,
                                  const char *const tags[])
{
    size_t sizes[MAX_BATCH_DIMS + 2], count = matmul_batch(p) == 1 ? 0 : p->batch_dims;
    for (size_t i = 0; i < count; i++)
        sizes[i] = batch[i];
    sizes[count] = rows;
    sizes[count + 1] = columns;
    return describe(desc, (int)count + 2, sizes, tags[count]);
}

static neo_status describe_matmul(struct tensors *t, const struct matmul_problem *p)
{
    static const char *const rows[] = {"ab", "abc", "abcd", "abcde"};
    static const char *const columns[] = {"ba", "acb", "abdc", "abced"};
    static const char *const any[] = {"any", "any", "any", "any"};
    const char *const *user = p->transposed & OPERAND_WEIGHTS ? columns : rows;
    neo_status status = describe_matrix(&t->src, p, p->src_batch, p->m, p->k,
                                        p->transposed & OPERAND_SRC ? columns : rows);
    if (status == NEO_OK)
        status = describe_matrix(&t->user_weights, p, p->weights_batch, p->k, p->n, user);
    if (status == NEO_OK)
        status =
            describe_matrix(&t->weights, p, p->weights_batch, p->k, p->n, p->packed ? any : user);
    if (status == NEO_OK)
        status = describe_matrix(&t->dst, p, p->dst_batch, p->m, p->n,
                                 p->transposed & OPERAND_DST ? columns : rows);
    return status;
}

/* Two leading sizes and as many spatial ones as the user names. */
static neo_status describe_image(neo_memory_desc *desc, const struct conv_problem *p,
                                 size_t channels, const size_t space[3])
{
    static const char *const first[] = {"ncw", "nchw", "ncdhw"};
    static const char *const last[] = {"nwc", "nhwc", "ndhwc"};
    const char *const *tags = p->channels_last ? last : first;
    size_t sizes[5] = {p->mb, channels};
    for (size_t i = 0; i < p->spatial_dims; i++)
        sizes[2 + i] = space[3 - p->spatial_dims + i];
    return describe(desc, (int)p->spatial_dims + 2, sizes, tags[p->spatial_dims - 1]);
}

static neo_status describe_weights(struct tensors *t, const struct conv_problem *p)
{
    static const char *const plain[2][3] = {{"oiw", "oihw", "oidhw"}, {"goiw", "goihw", "goidhw"}};
    size_t sizes[6], count = 0;
    if (p->groups > 1)
        sizes[count++] = p->groups;
    sizes[count++] = p->oc / p->groups;
    sizes[count++] = p->ic / p->groups;
    for (size_t i = 0; i < p->spatial_dims; i++)
        sizes[count++] = p->kernel[3 - p->spatial_dims + i];
    neo_status status =
        describe(&t->user_weights, (int)count, sizes, plain[p->groups > 1][p->spatial_dims - 1]);
    return status == NEO_OK ? describe(&t->weights, (int)count, sizes, "any") : status;
}

static neo_status describe_conv(struct tensors *t, const struct conv_problem *p)
{
    neo_status status = describe_image(&t->src, p, p->ic, p->in);
    if (status == NEO_OK)
        status = describe_weights(t, p);
    if (status == NEO_OK)
        status = describe_image(&t->dst, p, p->oc, p->out);
    return status;
}

/* ---- primitive descriptors ---- */

static neo_status plan_matmul(neo_primitive_desc **pd, const struct tensors *t)
{
    neo_matmul_desc desc = {.src = t->src, .weights = t->weights, .dst = t->dst};
    return neo_matmul_primitive_desc_create(pd, engine, &desc, NULL);
}

/* PERF_DIRECT=1 forbids Winograd. */
static neo_status plan_conv(neo_primitive_desc **pd, const struct tensors *t,
                            const struct conv_problem *p)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE, .src = t->src, .weights = t->weights, .dst = t->dst};
    if (getenv("PERF_DIRECT"))
        desc.algorithm = NEO_CONVOLUTION_DIRECT;
    for (size_t i = 0; i < p->spatial_dims; i++) {
        size_t dim = 3 - p->spatial_dims + i;
        desc.strides[i] = (neo_dim)p->stride[dim];
        desc.dilations[i] = (neo_dim)p->dilation[dim];
        desc.padding_left[i] = (neo_dim)p->pad[dim];
        desc.padding_right[i] = (neo_dim)conv_pad_after(p, (int)dim);
    }
    return neo_convolution_primitive_desc_create(pd, engine, &desc, NULL);
}

/* PERF_IMPLEMENTATION=n measures the n-th best implementation instead of the best one, 0. */
static neo_status skip_implementations(neo_primitive_desc *pd)
{
    const char *wanted = getenv("PERF_IMPLEMENTATION");
    neo_status status = NEO_OK;
    for (int i = wanted ? atoi(wanted) : 0; i > 0 && status == NEO_OK; i--)
        status = neo_primitive_desc_next(pd);
    return status;
}

static neo_status plan(neo_primitive_desc **pd, struct tensors *t, const struct problem *problem)
{
    bool is_matmul = problem->kind == PROBLEM_MATMUL;
    neo_status status =
        is_matmul ? describe_matmul(t, &problem->matmul) : describe_conv(t, &problem->conv);
    if (status == NEO_OK)
        status = is_matmul ? plan_matmul(pd, t) : plan_conv(pd, t, &problem->conv);
    return status == NEO_OK ? skip_implementations(*pd) : status;
}

/* ---- weights ---- */

static neo_status reorder(neo_memory *from, neo_memory *to)
{
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    neo_status status = neo_reorder_primitive_desc_create(&pd, engine, neo_memory_get_desc(from),
                                                          neo_memory_get_desc(to), NULL);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    neo_exec_arg arguments[] = {{NEO_ARG_SRC, from}, {NEO_ARG_DST, to}};
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, stream, 2, arguments);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status;
}

/* The problem's weights in the layout that the primitive asks for. */
static neo_status make_weights(neo_memory **out, const neo_memory_desc *wanted,
                               const struct tensors *t, float *values)
{
    if (neo_memory_desc_equal(wanted, &t->user_weights))
        return neo_memory_create(out, wanted, engine, values);
    neo_memory *plain = NULL;
    neo_status status = neo_memory_create(&plain, &t->user_weights, engine, values);
    if (status == NEO_OK)
        status = neo_memory_create(out, wanted, engine, NEO_MEMORY_ALLOCATE);
    if (status == NEO_OK)
        status = reorder(plain, *out);
    neo_memory_destroy(plain);
    return status;
}

/* ---- the peer ---- */

static neo_status fill_work(struct work *work, const struct problem *problem)
{
    struct tensors t;
    neo_primitive_desc *pd = NULL;
    static const int ids[] = {
        [SRC] = NEO_ARG_SRC, [WEIGHTS] = NEO_ARG_WEIGHTS, [DST] = NEO_ARG_DST};
    for (int i = 0; i < ARGUMENTS; i++)
        work->arguments[i].arg = ids[i];
    neo_status status = plan(&pd, &t, problem);
    if (status == NEO_OK)
        status = neo_primitive_create(&work->primitive, pd);
    if (status == NEO_OK)
        status = neo_memory_create(&work->arguments[SRC].memory, &t.src, engine, problem->src);
    if (status == NEO_OK)
        status = make_weights(&work->arguments[WEIGHTS].memory,
                              neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), &t, problem->weights);
    if (status == NEO_OK)
        status = neo_memory_create(&work->arguments[DST].memory, &t.dst, engine, problem->dst);
    if (pd)
        snprintf(work->implementation, sizeof work->implementation, "%s",
                 neo_primitive_desc_implementation(pd));
    neo_primitive_desc_destroy(pd);
    return status;
}

static const char *implementation(void *state)
{
    return ((struct work *)state)->implementation;
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){0};
    *state = work;
    neo_status status = fill_work(work, problem);
    return status == NEO_OK ? NULL : neo_status_text(status);
}

static void run(void *state)
{
    const struct work *work = state;
    neo_status status = neo_primitive_execute(work->primitive, stream, ARGUMENTS, work->arguments);
    if (status != NEO_OK)
        exit(1);
}

static void release(void *state)
{
    struct work *work = state;
    for (int i = 0; i < ARGUMENTS; i++)
        neo_memory_destroy(work->arguments[i].memory);
    neo_primitive_destroy(work->primitive);
    free(work);
}

const struct peer peer = {"neoprene", start, prepare, run, NULL, release, implementation};
