#include "tests/perf/operations_onednn.h"

struct plan {
    dnnl_primitive_desc_t *pd;
    dnnl_engine_t engine;
    const struct problem *problem;
    dnnl_memory_desc_t src, dst;
};

/* ---- descriptions ---- */

/* Rows as matrices, images with channels last. */
static dnnl_status_t describe(dnnl_memory_desc_t *desc, const struct operation_problem *p,
                              size_t channels, size_t height, size_t width)
{
    dnnl_dims_t rows = {(dnnl_dim_t)(p->mb * height * width), (dnnl_dim_t)channels};
    dnnl_dims_t image = {(dnnl_dim_t)p->mb, (dnnl_dim_t)channels, (dnnl_dim_t)height,
                         (dnnl_dim_t)width};
    return operation_is_of_rows(p)
               ? dnnl_memory_desc_create_with_tag(desc, 2, rows, dnnl_f32, dnnl_ab)
               : dnnl_memory_desc_create_with_tag(desc, 4, image, dnnl_f32, dnnl_acdb);
}

/* ---- primitive descriptors ---- */

/* One of them for each operation; those of one algorithm leave the other alone. */
typedef dnnl_status_t plan_fn(const struct plan *plan, dnnl_alg_kind_t algorithm);

static dnnl_status_t plan_elements(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    bool is_hardswish = algorithm == dnnl_eltwise_hardswish;
    return dnnl_eltwise_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, algorithm, plan->src, plan->dst,
        is_hardswish ? 1.0f / 6 : 0, is_hardswish ? 0.5f : 0, NULL);
}

static dnnl_status_t plan_two(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    return dnnl_binary_primitive_desc_create(plan->pd, plan->engine, algorithm, plan->src,
                                             plan->src, plan->dst, NULL);
}

static dnnl_status_t plan_pool(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    const struct operation_problem *p = &plan->problem->operation;
    dnnl_dims_t strides, kernel, dilation, before, after;
    for (int i = 0; i < 2; i++) {
        strides[i] = (dnnl_dim_t)p->stride;
        kernel[i] = (dnnl_dim_t)p->kernel;
        dilation[i] = 0;
        before[i] = (dnnl_dim_t)p->pad;
        after[i] = operation_pad_after(p, i);
    }
    return dnnl_pooling_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, algorithm, plan->src, plan->dst, strides,
        kernel, dilation, before, after, NULL);
}

static dnnl_status_t plan_softmax(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    return dnnl_softmax_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, algorithm, plan->src, plan->dst, 1, NULL);
}

static dnnl_status_t plan_layer_norm(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    (void)algorithm;
    return dnnl_layer_normalization_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, plan->src, plan->dst, NULL,
        OPERATION_EPSILON, dnnl_use_scale | dnnl_use_shift, NULL);
}

static dnnl_status_t plan_batch_norm(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    (void)algorithm;
    return dnnl_batch_normalization_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, plan->src, plan->dst, OPERATION_EPSILON,
        dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift, NULL);
}

static dnnl_status_t plan_bilinear(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    return dnnl_resampling_forward_primitive_desc_create(plan->pd, plan->engine,
                                                         dnnl_forward_inference, algorithm, NULL,
                                                         plan->src, plan->dst, NULL);
}

static dnnl_status_t plan_concat(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    (void)algorithm;
    const const_dnnl_memory_desc_t sources[] = {plan->src, plan->src};
    return dnnl_concat_primitive_desc_create(plan->pd, plan->engine, plan->dst, 2, 1, sources,
                                             NULL);
}

static const struct way {
    plan_fn *plan;
    dnnl_alg_kind_t algorithm;
} ways[OPERATION_COUNT] = {
    [OPERATION_RELU] = {plan_elements, dnnl_eltwise_relu},
    [OPERATION_HARDSWISH] = {plan_elements, dnnl_eltwise_hardswish},
    [OPERATION_LOGISTIC] = {plan_elements, dnnl_eltwise_logistic},
    [OPERATION_TANH] = {plan_elements, dnnl_eltwise_tanh},
    [OPERATION_GELU] = {plan_elements, dnnl_eltwise_gelu_erf},
    [OPERATION_EXP] = {plan_elements, dnnl_eltwise_exp},
    [OPERATION_ADD] = {plan_two, dnnl_binary_add},
    [OPERATION_MULTIPLY] = {plan_two, dnnl_binary_mul},
    [OPERATION_MAX_POOL] = {plan_pool, dnnl_pooling_max},
    [OPERATION_AVERAGE_POOL] = {plan_pool, dnnl_pooling_avg_exclude_padding},
    [OPERATION_SOFTMAX] = {plan_softmax, dnnl_softmax_accurate},
    [OPERATION_LAYER_NORM] = {plan_layer_norm, dnnl_alg_kind_undef},
    [OPERATION_BATCH_NORM] = {plan_batch_norm, dnnl_alg_kind_undef},
    [OPERATION_BILINEAR] = {plan_bilinear, dnnl_resampling_linear},
    [OPERATION_CONCAT] = {plan_concat, dnnl_alg_kind_undef},
};

/* ---- arguments ---- */

static const int ids[] = {[ROLE_SRC] = DNNL_ARG_SRC,
                          [ROLE_SECOND] = DNNL_ARG_SRC_1,
                          [ROLE_DST] = DNNL_ARG_DST,
                          [ROLE_FIRST_PART] = DNNL_ARG_MULTIPLE_SRC,
                          [ROLE_SECOND_PART] = DNNL_ARG_MULTIPLE_SRC + 1,
                          [ROLE_SCALE] = DNNL_ARG_SCALE,
                          [ROLE_SHIFT] = DNNL_ARG_SHIFT,
                          [ROLE_MEAN] = DNNL_ARG_MEAN,
                          [ROLE_VARIANCE] = DNNL_ARG_VARIANCE};

static dnnl_status_t add_arguments(dnnl_exec_arg_t *arguments, int *count, const struct plan *plan)
{
    const struct problem *problem = plan->problem;
    struct operation_argument all[OPERATION_ARGUMENTS];
    size_t size =
        operation_arguments(all, &problem->operation, problem->src, problem->weights, problem->dst);
    dnnl_dims_t channels = {(dnnl_dim_t)problem->operation.channels};
    dnnl_memory_desc_t parameter = NULL;
    dnnl_status_t status =
        dnnl_memory_desc_create_with_tag(&parameter, 1, channels, dnnl_f32, dnnl_a);
    for (size_t i = 0; status == dnnl_success && i < size; i++) {
        const_dnnl_memory_desc_t desc = all[i].role >= ROLE_SCALE ? parameter
                                        : all[i].role == ROLE_DST ? plan->dst
                                                                  : plan->src;
        arguments[*count].arg = ids[all[i].role];
        status =
            dnnl_memory_create(&arguments[(*count)++].memory, desc, plan->engine, all[i].values);
    }
    dnnl_memory_desc_destroy(parameter);
    return status;
}

dnnl_status_t operation_plan(dnnl_primitive_desc_t *pd,
                             dnnl_exec_arg_t arguments[OPERATION_ARGUMENTS], int *count,
                             dnnl_engine_t engine, const struct problem *problem)
{
    const struct operation_problem *p = &problem->operation;
    struct plan plan = {.pd = pd, .engine = engine, .problem = problem};
    *count = 0;
    dnnl_status_t status = describe(&plan.src, p, p->channels, p->height, p->width);
    if (status == dnnl_success)
        status = describe(&plan.dst, p, p->out_channels, p->out_height, p->out_width);
    const struct way *way = &ways[p->operation];
    if (status == dnnl_success)
        status = way->plan(&plan, way->algorithm);
    if (status == dnnl_success)
        status = add_arguments(arguments, count, &plan);
    dnnl_memory_desc_destroy(plan.src);
    dnnl_memory_desc_destroy(plan.dst);
    return status;
}
