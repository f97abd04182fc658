/* Neoprene through its public interface: a primitive is made once, its weights packed beforehand
 * where the problem says so; what is measured is one neo_primitive_execute(), with one thread or
 * as many as PERF_THREADS says: then task i runs on thread i and nowhere else, so that what is
 * counted for a thread is the work that the library gave to it. PERF_WITHOUT takes kernels away,
 * and PERF_KERNELS=1 only lists what there are. Where PERF_TYPES (driver.c) has weights of bytes,
 * they have a scale for each output channel, and with PERF_DST_SCALE=1 dst of bytes has one of its
 * own. PERF_FPMATH=bf16 allows products of f32 by
 * bf16, =f16 by f16; PERF_ACCUMULATION=f16 allows sums of f16.
 */
#include "tests/perf/driver.h"
#include "tests/perf/operations_neoprene.h"
#include "tests/perf/without.h"

#include "neoprene/block_weights.h"
#include "neoprene/convolution.h"
#include "neoprene/matmul.h"
#include "neoprene/reorder.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SRC,
    WEIGHTS,
    DST,
    SIDES,
    WEIGHTS_SCALES = SIDES,
    DST_SCALE,
    ARGUMENTS = OPERATION_ARGUMENTS
};

struct work {
    char implementation[64];
    neo_primitive *primitive;
    neo_exec_arg arguments[ARGUMENTS];
    int count; /* of them */
    float *result;
    neo_memory_desc result_desc; /* of f32 */
    neo_packed_weights *blocks;  /* NULL: weights are a tensor of their own */
};

static neo_data_type types[SIDES] = {NEO_F32, NEO_F32, NEO_F32};
static neo_attributes *attributes; /* NULL: the default ones */

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

static void set_types(const struct problem *problem)
{
    static const neo_data_type ours[] = {
        [DRIVER_F32] = NEO_F32, [DRIVER_F16] = NEO_F16, [DRIVER_BF16] = NEO_BF16,
        [DRIVER_S32] = NEO_S32, [DRIVER_S8] = NEO_S8,   [DRIVER_U8] = NEO_U8,
        [DRIVER_S4] = NEO_S4};
    types[SRC] = ours[problem->src_type];
    types[WEIGHTS] = ours[problem->weights_type];
    types[DST] = ours[problem->dst_type];
}

static neo_status read_fpmath(void)
{
    const char *text = getenv("PERF_FPMATH");
    if (!text)
        return NEO_OK;
    neo_status status = neo_attributes_create(&attributes);
    neo_fpmath_mode mode = strcmp(text, "f16") ? NEO_FPMATH_BF16 : NEO_FPMATH_F16;
    return status == NEO_OK ? neo_attributes_set_fpmath_mode(attributes, mode, 0) : status;
}

/* Integers, of which each column has a scale; weights in blocks have theirs inside. */
static bool is_byte(int side)
{
    return types[side] == NEO_S8 || types[side] == NEO_U8;
}

static bool has_dst_scale(void)
{
    return is_byte(DST) && getenv("PERF_DST_SCALE");
}

/* Masks tell the output channels, which come after groups. */
static neo_status add_scales(int mask)
{
    neo_status status = NEO_OK;
    if (!attributes)
        status = neo_attributes_create(&attributes);
    if (status == NEO_OK && is_byte(WEIGHTS))
        status = neo_attributes_set_scales(attributes, NEO_ARG_WEIGHTS, mask, 0, NULL, NEO_F32);
    if (status == NEO_OK && has_dst_scale())
        status = neo_attributes_set_scales(attributes, NEO_ARG_DST, 0, 0, NULL, NEO_F32);
    return status;
}

static neo_status read_accumulation(void)
{
    if (!driver_allows_f16_sums())
        return NEO_OK;
    neo_status status = attributes ? NEO_OK : neo_attributes_create(&attributes);
    return status == NEO_OK ? neo_attributes_set_accumulation_mode(attributes, NEO_ACCUMULATION_F16)
                            : status;
}

static neo_status allow_dynamic(void)
{
    neo_status status = attributes ? NEO_OK : neo_attributes_create(&attributes);
    return status == NEO_OK ? neo_attributes_set_dynamic_src(attributes, NEO_S8) : status;
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
        status = read_fpmath();
    if (status == NEO_OK)
        status = read_accumulation();
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
    return neo_matmul_primitive_desc_create(pd, engine, &desc, attributes);
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
    return neo_convolution_primitive_desc_create(pd, engine, &desc, attributes);
}

static bool is_wanted(const neo_primitive_desc *pd, const char *name)
{
    return !strncmp(neo_primitive_desc_implementation(pd), name, strlen(name));
}

/* PERF_IMPLEMENTATION=n measures the n-th best implementation instead of the best one, 0, and
 * PERF_IMPLEMENTATION=name the best one whose name begins so. */
static neo_status skip_implementations(neo_primitive_desc *pd)
{
    const char *wanted = getenv("PERF_IMPLEMENTATION");
    char *end = NULL;
    long n = wanted ? strtol(wanted, &end, 10) : 0;
    bool by_name = end && *end;
    neo_status status = NEO_OK;
    while (status == NEO_OK && (by_name ? !is_wanted(pd, wanted) : n-- > 0))
        status = neo_primitive_desc_next(pd);
    return status;
}

static neo_status plan(neo_primitive_desc **pd, struct tensors *t, const struct problem *problem,
                       const neo_packed_weights *blocks)
{
    bool is_matmul = problem->kind == PROBLEM_MATMUL;
    neo_status status =
        is_matmul ? describe_matmul(t, &problem->matmul) : describe_conv(t, &problem->conv);
    bool is_grouped = !is_matmul && problem->conv.groups > 1;
    int mask = is_matmul ? 1 << (t->weights.ndims - 1) : is_grouped ? 3 : 1;
    t->src.data_type = types[SRC];
    t->weights.data_type = types[WEIGHTS];
    t->dst.data_type = types[DST];
    if (blocks)
        t->weights = *neo_memory_get_desc(neo_packed_weights_memory(blocks));
    if (status == NEO_OK && problem->is_dynamic)
        status = allow_dynamic();
    if (status == NEO_OK && !blocks && (is_byte(WEIGHTS) || has_dst_scale()))
        status = add_scales(mask);
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

/* The problem's values in the layout and type that the primitive asks for. */
static neo_status make_tensor(neo_memory **out, const neo_memory_desc *wanted,
                              const neo_memory_desc *user, float *values)
{
    if (neo_memory_desc_equal(wanted, user))
        return neo_memory_create(out, wanted, engine, values);
    neo_memory *given = NULL, *plain = NULL;
    neo_memory_desc typed = *user; /* a type first, then the layout */
    typed.data_type = wanted->format_kind == NEO_FORMAT_PACKED ? wanted->data_type : NEO_F32;
    bool converts = typed.data_type != user->data_type;
    neo_status status = neo_memory_create(&given, user, engine, values);
    if (status == NEO_OK && converts)
        status = neo_memory_create(&plain, &typed, engine, NEO_MEMORY_ALLOCATE);
    if (status == NEO_OK && converts)
        status = reorder(given, plain);
    if (status == NEO_OK)
        status = neo_memory_create(out, wanted, engine, NEO_MEMORY_ALLOCATE);
    if (status == NEO_OK)
        status = reorder(converts ? plain : given, *out);
    neo_memory_destroy(given);
    neo_memory_destroy(plain);
    return status;
}

/* Two a byte, the first in the low half. */
static void *nibbles(const float *values, size_t count)
{
    uint8_t *to = driver_allocate((count + 1) / 2);
    memset(to, 0, (count + 1) / 2);
    for (size_t i = 0; i < count; i++)
        to[i / 2] |= (uint8_t)(((int)values[i] & 15) << (i % 2 ? 4 : 0));
    return to;
}

/* Weights whose scales are in their layout: all of four bits, and bytes that have more than one for
 * a column. */
static neo_status import_blocks(neo_packed_weights **out, const struct problem *problem)
{
    const struct matmul_problem *p = &problem->matmul;
    bool by_column = p->transposed & OPERAND_WEIGHTS;
    void *values = problem->weights_type == DRIVER_S4
                       ? nibbles(problem->weights, problem->weights_size)
                       : driver_typed(DRIVER_S8, problem->weights, problem->weights_size);
    float *scales = driver_floats(problem->weights_size);
    for (size_t i = 0; i < problem->weights_size; i++)
        scales[i] = 1;
    neo_block_source source = {.format = NEO_BLOCKS_PLAIN,
                               .k = (neo_dim)p->k,
                               .n = (neo_dim)p->n,
                               .group = (neo_dim)problem->group,
                               .type = types[WEIGHTS],
                               .k_stride = by_column ? 1 : (neo_dim)p->n,
                               .n_stride = by_column ? (neo_dim)p->k : 1,
                               .weights = values,
                               .scales = scales,
                               .scale_type = NEO_F32};
    neo_status status = neo_block_weights_import(out, stream, &source);
    free(values);
    free(scales);
    return status;
}

/* So many scales of 1. */
static neo_status add_ones(struct work *work, int arg, neo_dim count)
{
    neo_memory_desc desc;
    neo_exec_arg *to = &work->arguments[work->count];
    void *ones = NULL;
    neo_status status = neo_memory_desc_init_tag(&desc, 1, &count, NEO_F32, "a");
    if (status == NEO_OK)
        status = neo_memory_create(&to->memory, &desc, engine, NEO_MEMORY_ALLOCATE);
    if (status == NEO_OK)
        ones = neo_memory_get_handle(to->memory);
    for (neo_dim i = 0; status == NEO_OK && i < count; i++)
        ((float *)ones)[i] = 1;
    to->arg = NEO_ARG_ATTR_SCALES | arg;
    work->count++;
    return status;
}

static neo_status make_scales(struct work *work, const struct problem *problem)
{
    bool is_matmul = problem->kind == PROBLEM_MATMUL;
    neo_dim channels = (neo_dim)(is_matmul ? problem->matmul.n : problem->conv.oc);
    neo_status status = NEO_OK;
    if (is_byte(WEIGHTS) && !work->blocks)
        status = add_ones(work, NEO_ARG_WEIGHTS, channels);
    if (status == NEO_OK && has_dst_scale())
        status = add_ones(work, NEO_ARG_DST, 1);
    return status;
}

/* ---- the peer ---- */

static void set_implementation(struct work *work, const neo_primitive_desc *pd)
{
    if (pd)
        snprintf(work->implementation, sizeof work->implementation, "%s",
                 neo_primitive_desc_implementation(pd));
}

static neo_status fill_work(struct work *work, const struct problem *problem)
{
    struct tensors t;
    neo_primitive_desc *pd = NULL;
    static const int ids[] = {
        [SRC] = NEO_ARG_SRC, [WEIGHTS] = NEO_ARG_WEIGHTS, [DST] = NEO_ARG_DST};
    for (int i = 0; i < SIDES; i++)
        work->arguments[i].arg = ids[i];
    work->count = SIDES;
    set_types(problem);
    neo_status status = NEO_OK;
    if (problem->is_dynamic && problem->kind != PROBLEM_MATMUL)
        status = NEO_UNSUPPORTED;
    else if (problem->is_dynamic && (problem->group || !is_byte(WEIGHTS)))
        status = import_blocks(&work->blocks, problem);
    if (status == NEO_OK)
        status = plan(&pd, &t, problem, work->blocks);
    if (status == NEO_OK)
        status = neo_primitive_create(&work->primitive, pd);
    neo_memory_desc user_src = t.src;
    user_src.data_type = NEO_F32;
    work->result = problem->dst;
    work->result_desc = t.dst;
    work->result_desc.data_type = NEO_F32;
    if (status == NEO_OK)
        status = make_tensor(&work->arguments[SRC].memory, &t.src, &user_src, problem->src);
    work->arguments[WEIGHTS].memory = neo_packed_weights_memory(work->blocks);
    if (status == NEO_OK && !work->blocks)
        status = make_tensor(&work->arguments[WEIGHTS].memory,
                             neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), &t.user_weights,
                             problem->weights);
    if (status == NEO_OK)
        status = neo_memory_create(&work->arguments[DST].memory, &t.dst, engine,
                                   types[DST] == NEO_F32 ? problem->dst : NEO_MEMORY_ALLOCATE);
    if (status == NEO_OK)
        status = make_scales(work, problem);
    set_implementation(work, pd);
    neo_primitive_desc_destroy(pd);
    return status;
}

static neo_status fill_operation(struct work *work, const struct problem *problem)
{
    neo_primitive_desc *pd = NULL;
    set_types(problem);
    if (types[SRC] != NEO_F32 || types[DST] != NEO_F32)
        return NEO_UNSUPPORTED;
    neo_status status = operation_plan(&pd, work->arguments, &work->count, engine, problem);
    if (status == NEO_OK)
        status = skip_implementations(pd);
    if (status == NEO_OK)
        status = neo_primitive_create(&work->primitive, pd);
    set_implementation(work, pd);
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
    neo_status status = problem->kind == PROBLEM_OPERATION ? fill_operation(work, problem)
                                                           : fill_work(work, problem);
    return status == NEO_OK ? NULL : neo_status_text(status);
}

static void run(void *state)
{
    const struct work *work = state;
    neo_status status =
        neo_primitive_execute(work->primitive, stream, work->count, work->arguments);
    if (status != NEO_OK)
        exit(1);
}

static void fetch(void *state)
{
    struct work *work = state;
    neo_memory *result = NULL;
    if (types[DST] == NEO_F32)
        return;
    if (neo_memory_create(&result, &work->result_desc, engine, work->result) != NEO_OK ||
        reorder(work->arguments[DST].memory, result) != NEO_OK)
        exit(1);
    neo_memory_destroy(result);
}

static size_t weights_bytes(void *state)
{
    const struct work *work = state;
    return neo_memory_desc_size(neo_memory_get_desc(work->arguments[WEIGHTS].memory));
}

static void release(void *state)
{
    struct work *work = state;
    if (work->blocks)
        work->arguments[WEIGHTS].memory = NULL;
    neo_packed_weights_destroy(work->blocks);
    for (int i = 0; i < ARGUMENTS; i++)
        neo_memory_destroy(work->arguments[i].memory);
    neo_primitive_destroy(work->primitive);
    free(work);
}

const struct peer peer = {"neoprene", start,   prepare,        run,
                          fetch,      release, implementation, weights_bytes};
