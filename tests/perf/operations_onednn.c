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
    bool is_rows = p->operation == OPERATION_SOFTMAX || p->operation == OPERATION_LAYER_NORM;
    dnnl_dims_t rows = {(dnnl_dim_t)(p->mb * height * width), (dnnl_dim_t)channels};
    dnnl_dims_t image = {(dnnl_dim_t)p->mb, (dnnl_dim_t)channels, (dnnl_dim_t)height,
                         (dnnl_dim_t)width};
    return is_rows ? dnnl_memory_desc_create_with_tag(desc, 2, rows, dnnl_f32, dnnl_ab)
                   : dnnl_memory_desc_create_with_tag(desc, 4, image, dnnl_f32, dnnl_acdb);
}

/* ---- primitive descriptors ---- */

static dnnl_status_t plan_elements(const struct plan *plan, dnnl_alg_kind_t algorithm, float alpha,
                                   float beta)
{
    return dnnl_eltwise_forward_primitive_desc_create(plan->pd, plan->engine,
                                                      dnnl_forward_inference, algorithm, plan->src,
                                                      plan->dst, alpha, beta, NULL);
}

static dnnl_status_t plan_two(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    return dnnl_binary_primitive_desc_create(plan->pd, plan->engine, algorithm, plan->src,
                                             plan->src, plan->dst, NULL);
}

static dnnl_status_t plan_pool(const struct plan *plan, dnnl_alg_kind_t algorithm)
{
    const struct operation_problem *p = &plan->problem->operation;
    const size_t in[] = {p->height, p->width}, out[] = {p->out_height, p->out_width};
    dnnl_dims_t strides, kernel, dilation, before, after;
    for (int i = 0; i < 2; i++) {
        strides[i] = (dnnl_dim_t)p->stride;
        kernel[i] = (dnnl_dim_t)p->kernel;
        dilation[i] = 0;
        before[i] = (dnnl_dim_t)p->pad;
        after[i] =
            (dnnl_dim_t)((out[i] - 1) * p->stride + p->kernel) - (dnnl_dim_t)(in[i] + p->pad);
    }
    return dnnl_pooling_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, algorithm, plan->src, plan->dst, strides,
        kernel, dilation, before, after, NULL);
}

static dnnl_status_t plan_softmax(const struct plan *plan)
{
    return dnnl_softmax_forward_primitive_desc_create(plan->pd, plan->engine,
                                                      dnnl_forward_inference, dnnl_softmax_accurate,
                                                      plan->src, plan->dst, 1, NULL);
}

static dnnl_status_t plan_layer_norm(const struct plan *plan)
{
    return dnnl_layer_normalization_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, plan->src, plan->dst, NULL,
        OPERATION_EPSILON, dnnl_use_scale | dnnl_use_shift, NULL);
}

static dnnl_status_t plan_batch_norm(const struct plan *plan)
{
    return dnnl_batch_normalization_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, plan->src, plan->dst, OPERATION_EPSILON,
        dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift, NULL);
}

static dnnl_status_t plan_bilinear(const struct plan *plan)
{
    return dnnl_resampling_forward_primitive_desc_create(
        plan->pd, plan->engine, dnnl_forward_inference, dnnl_resampling_linear, NULL, plan->src,
        plan->dst, NULL);
}

static dnnl_status_t plan_concat(const struct plan *plan)
{
    const const_dnnl_memory_desc_t sources[] = {plan->src, plan->src};
    return dnnl_concat_primitive_desc_create(plan->pd, plan->engine, plan->dst, 2, 1, sources,
                                             NULL);
}

static dnnl_status_t make_plan(const struct plan *plan)
{
    switch (plan->problem->operation.operation) {
    case OPERATION_RELU:
        return plan_elements(plan, dnnl_eltwise_relu, 0, 0);
    case OPERATION_HARDSWISH:
        return plan_elements(plan, dnnl_eltwise_hardswish, 1.0f / 6, 0.5f);
    case OPERATION_LOGISTIC:
        return plan_elements(plan, dnnl_eltwise_logistic, 0, 0);
    case OPERATION_TANH:
        return plan_elements(plan, dnnl_eltwise_tanh, 0, 0);
    case OPERATION_GELU:
        return plan_elements(plan, dnnl_eltwise_gelu_erf, 0, 0);
    case OPERATION_EXP:
        return plan_elements(plan, dnnl_eltwise_exp, 0, 0);
    case OPERATION_ADD:
        return plan_two(plan, dnnl_binary_add);
    case OPERATION_MULTIPLY:
        return plan_two(plan, dnnl_binary_mul);
    case OPERATION_MAX_POOL:
        return plan_pool(plan, dnnl_pooling_max);
    case OPERATION_AVERAGE_POOL:
        return plan_pool(plan, dnnl_pooling_avg_exclude_padding);
    case OPERATION_SOFTMAX:
        return plan_softmax(plan);
    case OPERATION_LAYER_NORM:
        return plan_layer_norm(plan);
    case OPERATION_BATCH_NORM:
        return plan_batch_norm(plan);
    case OPERATION_BILINEAR:
        return plan_bilinear(plan);
    default:
        return plan_concat(plan);
    }
}

/* ---- arguments ---- */

static dnnl_status_t add(dnnl_exec_arg_t *arguments, int *count, dnnl_engine_t engine, int arg,
                         const_dnnl_memory_desc_t desc, float *values)
{
    arguments[*count].arg = arg;
    return dnnl_memory_create(&arguments[(*count)++].memory, desc, engine, values);
}

/* What there is for each channel, in the order in which a problem has it. */
static dnnl_status_t add_parameters(dnnl_exec_arg_t *arguments, int *count, dnnl_engine_t engine,
                                    const struct problem *problem)
{
    static const int ids[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    size_t channels = problem->operation.channels;
    dnnl_dims_t dims = {(dnnl_dim_t)channels};
    dnnl_memory_desc_t desc;
    dnnl_status_t status = dnnl_memory_desc_create_with_tag(&desc, 1, dims, dnnl_f32, dnnl_a);
    if (status != dnnl_success)
        return status;
    for (size_t i = 0; status == dnnl_success && i < problem->weights_size / channels; i++)
        status = add(arguments, count, engine, ids[i], desc, problem->weights + i * channels);
    dnnl_memory_desc_destroy(desc);
    return status;
}

static dnnl_status_t add_arguments(dnnl_exec_arg_t *arguments, int *count, const struct plan *plan)
{
    const struct problem *problem = plan->problem;
    enum operation operation = problem->operation.operation;
    bool is_concat = operation == OPERATION_CONCAT;
    dnnl_status_t status =
        add(arguments, count, plan->engine, is_concat ? DNNL_ARG_MULTIPLE_SRC : DNNL_ARG_SRC,
            plan->src, problem->src);
    if (status == dnnl_success)
        status = add(arguments, count, plan->engine, DNNL_ARG_DST, plan->dst, problem->dst);
    if (status != dnnl_success)
        return status;
    if (operation == OPERATION_LAYER_NORM || operation == OPERATION_BATCH_NORM)
        return add_parameters(arguments, count, plan->engine, problem);
    if (problem->weights_size)
        return add(arguments, count, plan->engine,
                   is_concat ? DNNL_ARG_MULTIPLE_SRC + 1 : DNNL_ARG_SRC_1, plan->src,
                   problem->weights);
    return dnnl_success;
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
    if (status == dnnl_success)
        status = make_plan(&plan);
    if (status == dnnl_success)
        status = add_arguments(arguments, count, &plan);
    dnnl_memory_desc_destroy(plan.src);
    dnnl_memory_desc_destroy(plan.dst);
    return status;
}
