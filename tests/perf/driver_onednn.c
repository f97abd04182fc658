/* oneDNN (Debian 13's libdnnl-dev, 3.7) on one thread: a primitive is made once, and weights are
 * reordered beforehand into the layout that it asks for, where the problem says so. Where weights
 * are bytes, each output channel has a scale, and dst of bytes has one. PERF_FPMATH allows products
 * of f32 by bf16. */
#include "tests/perf/driver.h"
#include "tests/perf/operations_onednn.h"

#include <stdio.h>
#include <stdlib.h>

enum { SRC, WEIGHTS, DST, SIDES, MAX_OWNED = 6 };

struct work {
    const struct problem *problem;
    dnnl_memory_desc_t given[SIDES]; /* as the problem has them, of its types */
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[OPERATION_ARGUMENTS];
    int count;
    void *dst; /* of the problem's type; NULL: the problem's own */
    void *owned[MAX_OWNED];
    size_t owned_count;
};

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static const char *start(void)
{
    dnnl_status_t status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    return status == dnnl_success ? NULL : "the engine or its stream could not be made";
}

static void *keep(struct work *work, void *array)
{
    work->owned[work->owned_count++] = array;
    return array;
}

/* ---- descriptions ---- */

static dnnl_data_type_t type_of(enum driver_type type)
{
    static const dnnl_data_type_t types[] = {
        [DRIVER_F32] = dnnl_f32, [DRIVER_F16] = dnnl_f16, [DRIVER_BF16] = dnnl_bf16,
        [DRIVER_S32] = dnnl_s32, [DRIVER_S8] = dnnl_s8,   [DRIVER_U8] = dnnl_u8,
        [DRIVER_S4] = dnnl_s4};
    return types[type];
}

static dnnl_status_t describe(dnnl_memory_desc_t *desc, size_t count, const size_t *sizes,
                              enum driver_type type, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims;
    for (size_t i = 0; i < count; i++)
        dims[i] = (dnnl_dim_t)sizes[i];
    return dnnl_memory_desc_create_with_tag(desc, (int)count, dims, type_of(type), tag);
}

/* Batch dimensions, if there are any, and the matrix. */
static dnnl_status_t describe_matrix(dnnl_memory_desc_t *desc, const struct matmul_problem *p,
                                     const size_t *batch, size_t rows, size_t columns,
                                     enum driver_type type, bool by_column)
{
    static const dnnl_format_tag_t tags[2][4] = {{dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde},
                                                 {dnnl_ba, dnnl_acb, dnnl_abdc, dnnl_abced}};
    size_t sizes[MAX_BATCH_DIMS + 2], count = matmul_batch(p) == 1 ? 0 : p->batch_dims;
    for (size_t i = 0; i < count; i++)
        sizes[i] = batch[i];
    sizes[count] = rows;
    sizes[count + 1] = columns;
    return describe(desc, count + 2, sizes, type, tags[by_column][count]);
}

static dnnl_status_t describe_matmul(struct work *work)
{
    const struct problem *problem = work->problem;
    const struct matmul_problem *p = &problem->matmul;
    dnnl_status_t status = describe_matrix(&work->given[SRC], p, p->src_batch, p->m, p->k,
                                           problem->src_type, p->transposed & OPERAND_SRC);
    if (status == dnnl_success)
        status = describe_matrix(&work->given[WEIGHTS], p, p->weights_batch, p->k, p->n,
                                 problem->weights_type, p->transposed & OPERAND_WEIGHTS);
    if (status == dnnl_success)
        status = describe_matrix(&work->given[DST], p, p->dst_batch, p->m, p->n, problem->dst_type,
                                 p->transposed & OPERAND_DST);
    return status;
}

static dnnl_status_t describe_image(dnnl_memory_desc_t *desc, const struct conv_problem *p,
                                    size_t channels, const size_t space[3], enum driver_type type)
{
    static const dnnl_format_tag_t tags[2][3] = {{dnnl_abc, dnnl_abcd, dnnl_abcde},
                                                 {dnnl_acb, dnnl_acdb, dnnl_acdeb}};
    size_t sizes[5] = {p->mb, channels};
    for (size_t i = 0; i < p->spatial_dims; i++)
        sizes[2 + i] = space[3 - p->spatial_dims + i];
    return describe(desc, p->spatial_dims + 2, sizes, type,
                    tags[p->channels_last][p->spatial_dims - 1]);
}

static dnnl_status_t describe_kernel(struct work *work)
{
    static const dnnl_format_tag_t tags[2][3] = {{dnnl_abc, dnnl_abcd, dnnl_abcde},
                                                 {dnnl_abcd, dnnl_abcde, dnnl_abcdef}};
    const struct conv_problem *p = &work->problem->conv;
    size_t sizes[6], count = 0;
    if (p->groups > 1)
        sizes[count++] = p->groups;
    sizes[count++] = p->oc / p->groups;
    sizes[count++] = p->ic / p->groups;
    for (size_t i = 0; i < p->spatial_dims; i++)
        sizes[count++] = p->kernel[3 - p->spatial_dims + i];
    return describe(&work->given[WEIGHTS], count, sizes, work->problem->weights_type,
                    tags[p->groups > 1][p->spatial_dims - 1]);
}

static dnnl_status_t describe_conv(struct work *work)
{
    const struct conv_problem *p = &work->problem->conv;
    dnnl_status_t status =
        describe_image(&work->given[SRC], p, p->ic, p->in, work->problem->src_type);
    if (status == dnnl_success)
        status = describe_kernel(work);
    if (status == dnnl_success)
        status = describe_image(&work->given[DST], p, p->oc, p->out, work->problem->dst_type);
    return status;
}

/* ---- primitives ---- */

/* Of an output channel: the last dimension of a product, the first, or two with groups, of kernels.
 */
static int weights_mask(const struct problem *problem)
{
    if (problem->kind == PROBLEM_CONV)
        return problem->conv.groups > 1 ? 3 : 1;
    const struct matmul_problem *p = &problem->matmul;
    return 1 << (matmul_batch(p) == 1 ? 1 : p->batch_dims + 1);
}

static dnnl_status_t make_attributes(dnnl_primitive_attr_t *attributes,
                                     const struct problem *problem)
{
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success && driver_allows_bf16())
        status = dnnl_primitive_attr_set_fpmath_mode(*attributes, dnnl_fpmath_mode_bf16);
    if (status == dnnl_success && problem->weights_type == DRIVER_S8)
        status = dnnl_primitive_attr_set_scales_mask(*attributes, DNNL_ARG_WEIGHTS,
                                                     weights_mask(problem));
    if (status == dnnl_success && problem->dst_type == DRIVER_S8)
        status = dnnl_primitive_attr_set_scales_mask(*attributes, DNNL_ARG_DST, 0);
    return status;
}

static dnnl_status_t plan_conv(struct work *work, const_dnnl_memory_desc_t weights,
                               const_dnnl_primitive_attr_t attributes)
{
    const struct conv_problem *p = &work->problem->conv;
    dnnl_dims_t strides, dilations, before, after;
    for (size_t i = 0; i < p->spatial_dims; i++) {
        size_t dim = 3 - p->spatial_dims + i;
        strides[i] = (dnnl_dim_t)p->stride[dim];
        dilations[i] = (dnnl_dim_t)p->dilation[dim];
        before[i] = (dnnl_dim_t)p->pad[dim];
        after[i] = conv_pad_after(p, (int)dim);
    }
    return dnnl_convolution_forward_primitive_desc_create(
        &work->pd, engine, dnnl_forward_inference, dnnl_convolution_auto, work->given[SRC], weights,
        NULL, work->given[DST], strides, dilations, before, after, attributes);
}

/* Weights in the library's own layout, unless they have to stay as they are. */
static dnnl_status_t plan(struct work *work)
{
    bool is_matmul = work->problem->kind == PROBLEM_MATMUL;
    bool is_free = !is_matmul || work->problem->matmul.packed;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_memory_desc_t weights = NULL;
    dnnl_dims_t *dims = NULL;
    int ndims = 0;
    dnnl_data_type_t type = type_of(work->problem->weights_type);
    dnnl_status_t status = make_attributes(&attributes, work->problem);
    dnnl_memory_desc_query(work->given[WEIGHTS], dnnl_query_ndims_s32, &ndims);
    dnnl_memory_desc_query(work->given[WEIGHTS], dnnl_query_dims, &dims);
    if (status == dnnl_success)
        status = is_free ? dnnl_memory_desc_create_with_tag(&weights, ndims, *dims, type,
                                                            dnnl_format_tag_any)
                         : dnnl_memory_desc_clone(&weights, work->given[WEIGHTS]);
    if (status == dnnl_success)
        status = is_matmul ? dnnl_matmul_primitive_desc_create(&work->pd, engine, work->given[SRC],
                                                               weights, NULL, work->given[DST],
                                                               attributes)
                           : plan_conv(work, weights, attributes);
    dnnl_memory_desc_destroy(weights);
    dnnl_primitive_attr_destroy(attributes);
    return status;
}

/* ---- arguments ---- */

static dnnl_status_t add(struct work *work, int arg, const_dnnl_memory_desc_t desc, void *values)
{
    dnnl_exec_arg_t *argument = &work->arguments[work->count++];
    argument->arg = arg;
    return dnnl_memory_create(&argument->memory, desc, engine, values);
}

static dnnl_status_t reorder(dnnl_memory_t from, const_dnnl_memory_desc_t from_desc,
                             dnnl_memory_t to, const_dnnl_memory_desc_t to_desc)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t primitive = NULL;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&pd, from_desc, engine, to_desc, engine, NULL);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&primitive, pd);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(primitive, stream, 2, arguments);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static dnnl_status_t add_weights(struct work *work)
{
    const struct problem *problem = work->problem;
    const_dnnl_memory_desc_t wanted =
        dnnl_primitive_desc_query_md(work->pd, dnnl_query_weights_md, 0);
    dnnl_memory_t given = NULL;
    void *values =
        keep(work, driver_typed(problem->weights_type, problem->weights, problem->weights_size));
    if (dnnl_memory_desc_equal(wanted, work->given[WEIGHTS]))
        return add(work, DNNL_ARG_WEIGHTS, wanted, values);
    dnnl_status_t status = dnnl_memory_create(&given, work->given[WEIGHTS], engine, values);
    if (status == dnnl_success)
        status = add(work, DNNL_ARG_WEIGHTS, wanted, DNNL_MEMORY_ALLOCATE);
    if (status == dnnl_success)
        status =
            reorder(given, work->given[WEIGHTS], work->arguments[work->count - 1].memory, wanted);
    dnnl_memory_destroy(given);
    return status;
}

static dnnl_status_t add_ones(struct work *work, int arg, size_t count)
{
    dnnl_memory_desc_t desc = NULL;
    float *ones = keep(work, driver_floats(count));
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    dnnl_status_t status = describe(&desc, 1, &count, DRIVER_F32, dnnl_a);
    if (status == dnnl_success)
        status = add(work, DNNL_ARG_ATTR_SCALES | arg, desc, ones);
    dnnl_memory_desc_destroy(desc);
    return status;
}

static dnnl_status_t add_arguments(struct work *work)
{
    const struct problem *problem = work->problem;
    void *src = keep(work, driver_typed(problem->src_type, problem->src, problem->src_size));
    work->dst = keep(work, driver_typed(problem->dst_type, problem->dst, problem->dst_size));
    dnnl_status_t status = add(work, DNNL_ARG_SRC, work->given[SRC], src);
    if (status == dnnl_success)
        status = add(work, DNNL_ARG_DST, work->given[DST], work->dst);
    if (status == dnnl_success)
        status = add_weights(work);
    if (status == dnnl_success && problem->weights_type == DRIVER_S8)
        status = add_ones(work, DNNL_ARG_WEIGHTS,
                          problem->kind == PROBLEM_MATMUL ? problem->matmul.n : problem->conv.oc);
    if (status == dnnl_success && problem->dst_type == DRIVER_S8)
        status = add_ones(work, DNNL_ARG_DST, 1);
    return status;
}

/* ---- the peer ---- */

static dnnl_status_t make(struct work *work)
{
    const struct problem *problem = work->problem;
    dnnl_status_t status = dnnl_success;
    if (problem->kind == PROBLEM_OPERATION) {
        status = operation_plan(&work->pd, work->arguments, &work->count, engine, problem);
    } else {
        status = problem->kind == PROBLEM_MATMUL ? describe_matmul(work) : describe_conv(work);
        if (status == dnnl_success)
            status = plan(work);
        if (status == dnnl_success)
            status = add_arguments(work);
    }
    return status == dnnl_success ? dnnl_primitive_create(&work->primitive, work->pd) : status;
}

static const char *prepare(const struct problem *problem, void **state)
{
    struct work *work = driver_allocate(sizeof *work);
    *work = (struct work){.problem = problem};
    *state = work;
    if (problem->is_dynamic)
        return "src does not become integers within a call";
    if (problem->kind == PROBLEM_OPERATION && problem->src_type != DRIVER_F32)
        return "operations only of f32";
    return make(work) == dnnl_success ? NULL : "no primitive for it";
}

static void run(void *state)
{
    const struct work *work = state;
    dnnl_status_t status =
        dnnl_primitive_execute(work->primitive, stream, work->count, work->arguments);
    if (status == dnnl_success)
        status = dnnl_stream_wait(stream);
    if (status != dnnl_success) {
        fprintf(stderr, "onednn: executing failed with %d\n", status);
        exit(1);
    }
}

static void fetch(void *state)
{
    const struct work *work = state;
    if (work->dst)
        driver_take_result(work->problem, work->dst);
}

static void release(void *state)
{
    struct work *work = state;
    dnnl_primitive_destroy(work->primitive);
    dnnl_primitive_desc_destroy(work->pd);
    for (int i = 0; i < work->count; i++)
        dnnl_memory_destroy(work->arguments[i].memory);
    for (int side = SRC; side < SIDES; side++)
        dnnl_memory_desc_destroy(work->given[side]);
    while (work->owned_count)
        free(work->owned[--work->owned_count]);
    free(work);
}

static const char *implementation(void *state)
{
    const struct work *work = state;
    const char *name = NULL;
    dnnl_primitive_desc_query(work->pd, dnnl_query_impl_info_str, 0, &name);
    return name;
}

const struct peer peer = {"onednn", start, prepare, run, fetch, release, implementation, NULL};
