#include "tests/perf/operations_neoprene.h"

#include "neoprene/binary.h"
#include "neoprene/concat.h"
#include "neoprene/eltwise.h"
#include "neoprene/normalization.h"
#include "neoprene/pooling.h"
#include "neoprene/resampling.h"
#include "neoprene/softmax.h"

struct plan {
    neo_primitive_desc **pd;
    neo_engine *engine;
    const struct problem *problem;
    neo_memory_desc src, dst;
};

/* ---- descriptions ---- */

static neo_status describe_image(neo_memory_desc *desc, const struct operation_problem *p,
                                 size_t channels, size_t height, size_t width)
{
    neo_dim dims[] = {(neo_dim)p->mb, (neo_dim)channels, (neo_dim)height, (neo_dim)width};
    return neo_memory_desc_init_tag(desc, 4, dims, NEO_F32, "nhwc");
}

static neo_status describe_rows(neo_memory_desc *desc, const struct operation_problem *p)
{
    neo_dim dims[] = {(neo_dim)(p->mb * p->height * p->width), (neo_dim)p->channels};
    return neo_memory_desc_init_tag(desc, 2, dims, NEO_F32, "ab");
}

static neo_status describe(struct plan *plan)
{
    const struct operation_problem *p = &plan->problem->operation;
    if (p->operation == OPERATION_SOFTMAX || p->operation == OPERATION_LAYER_NORM) {
        neo_status status = describe_rows(&plan->src, p);
        plan->dst = plan->src;
        return status;
    }
    neo_status status = describe_image(&plan->src, p, p->channels, p->height, p->width);
    return status == NEO_OK
               ? describe_image(&plan->dst, p, p->out_channels, p->out_height, p->out_width)
               : status;
}

/* ---- primitive descriptors ---- */

static neo_status plan_elements(const struct plan *plan, neo_eltwise algorithm, float alpha,
                                float beta)
{
    return neo_eltwise_primitive_desc_create(plan->pd, plan->engine, NEO_FORWARD_INFERENCE,
                                             algorithm, &plan->src, &plan->dst, alpha, beta, NULL);
}

static neo_status plan_two(const struct plan *plan, neo_binary algorithm)
{
    return neo_binary_primitive_desc_create(plan->pd, plan->engine, algorithm, &plan->src,
                                            &plan->src, NULL, &plan->dst, NULL);
}

static neo_status plan_pool(const struct plan *plan, neo_pooling algorithm)
{
    const struct operation_problem *p = &plan->problem->operation;
    neo_pooling_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                             .algorithm = algorithm,
                             .src = plan->src,
                             .dst = plan->dst};
    const size_t in[] = {p->height, p->width}, out[] = {p->out_height, p->out_width};
    for (int i = 0; i < 2; i++) {
        desc.strides[i] = (neo_dim)p->stride;
        desc.kernel[i] = (neo_dim)p->kernel;
        desc.padding_left[i] = (neo_dim)p->pad;
        desc.padding_right[i] =
            (neo_dim)((out[i] - 1) * p->stride + p->kernel) - (neo_dim)(in[i] + p->pad);
    }
    return neo_pooling_primitive_desc_create(plan->pd, plan->engine, &desc, NULL);
}

static neo_status plan_softmax(const struct plan *plan)
{
    return neo_softmax_primitive_desc_create(plan->pd, plan->engine, NEO_FORWARD_INFERENCE,
                                             NEO_SOFTMAX_ACCURATE, &plan->src, &plan->dst, 1, NULL);
}

static neo_status plan_layer_norm(const struct plan *plan)
{
    return neo_layer_normalization_primitive_desc_create(
        plan->pd, plan->engine, NEO_FORWARD_INFERENCE, &plan->src, &plan->dst, NULL, NEO_F32,
        OPERATION_EPSILON, NEO_NORMALIZATION_USE_SCALE | NEO_NORMALIZATION_USE_SHIFT, NULL);
}

static neo_status plan_batch_norm(const struct plan *plan)
{
    return neo_batch_normalization_primitive_desc_create(
        plan->pd, plan->engine, NEO_FORWARD_INFERENCE, &plan->src, &plan->dst, OPERATION_EPSILON,
        NEO_NORMALIZATION_USE_GLOBAL_STATS | NEO_NORMALIZATION_USE_SCALE |
            NEO_NORMALIZATION_USE_SHIFT,
        NULL);
}

static neo_status plan_bilinear(const struct plan *plan)
{
    return neo_resampling_primitive_desc_create(plan->pd, plan->engine, NEO_FORWARD_INFERENCE,
                                                NEO_RESAMPLING_LINEAR, NULL, &plan->src, &plan->dst,
                                                NULL);
}

static neo_status plan_concat(const struct plan *plan)
{
    const neo_memory_desc sources[] = {plan->src, plan->src};
    return neo_concat_primitive_desc_create(plan->pd, plan->engine, &plan->dst, 2, 1, sources,
                                            NULL);
}

static neo_status make_plan(const struct plan *plan)
{
    switch (plan->problem->operation.operation) {
    case OPERATION_RELU:
        return plan_elements(plan, NEO_ELTWISE_RELU, 0, 0);
    case OPERATION_HARDSWISH:
        return plan_elements(plan, NEO_ELTWISE_HARDSWISH, 1.0f / 6, 0.5f);
    case OPERATION_LOGISTIC:
        return plan_elements(plan, NEO_ELTWISE_LOGISTIC, 0, 0);
    case OPERATION_TANH:
        return plan_elements(plan, NEO_ELTWISE_TANH, 0, 0);
    case OPERATION_GELU:
        return plan_elements(plan, NEO_ELTWISE_GELU_ERF, 0, 0);
    case OPERATION_EXP:
        return plan_elements(plan, NEO_ELTWISE_EXP, 0, 0);
    case OPERATION_ADD:
        return plan_two(plan, NEO_BINARY_ADD);
    case OPERATION_MULTIPLY:
        return plan_two(plan, NEO_BINARY_MUL);
    case OPERATION_MAX_POOL:
        return plan_pool(plan, NEO_POOLING_MAX);
    case OPERATION_AVERAGE_POOL:
        return plan_pool(plan, NEO_POOLING_AVERAGE_EXCLUDE_PADDING);
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

static neo_status add(neo_exec_arg *arguments, int *count, neo_engine *engine, int arg,
                      const neo_memory_desc *desc, float *values)
{
    arguments[*count].arg = arg;
    return neo_memory_create(&arguments[(*count)++].memory, desc, engine, values);
}

/* What there is for each channel, in the order in which a problem has it. */
static neo_status add_parameters(neo_exec_arg *arguments, int *count, neo_engine *engine,
                                 const struct problem *problem)
{
    static const int ids[] = {NEO_ARG_SCALE, NEO_ARG_SHIFT, NEO_ARG_MEAN, NEO_ARG_VARIANCE};
    size_t channels = problem->operation.channels;
    neo_dim dim = (neo_dim)channels;
    neo_memory_desc desc;
    neo_status status = neo_memory_desc_init_tag(&desc, 1, &dim, NEO_F32, "a");
    for (size_t i = 0; status == NEO_OK && i < problem->weights_size / channels; i++)
        status = add(arguments, count, engine, ids[i], &desc, problem->weights + i * channels);
    return status;
}

static neo_status add_arguments(neo_exec_arg *arguments, int *count, const struct plan *plan)
{
    const struct problem *problem = plan->problem;
    enum operation operation = problem->operation.operation;
    bool is_concat = operation == OPERATION_CONCAT;
    neo_status status =
        add(arguments, count, plan->engine, is_concat ? NEO_ARG_MULTIPLE_SRC : NEO_ARG_SRC,
            &plan->src, problem->src);
    if (status == NEO_OK)
        status = add(arguments, count, plan->engine, NEO_ARG_DST, &plan->dst, problem->dst);
    if (status != NEO_OK)
        return status;
    if (operation == OPERATION_LAYER_NORM || operation == OPERATION_BATCH_NORM)
        return add_parameters(arguments, count, plan->engine, problem);
    if (problem->weights_size)
        return add(arguments, count, plan->engine,
                   is_concat ? NEO_ARG_MULTIPLE_SRC + 1 : NEO_ARG_SRC_1, &plan->src,
                   problem->weights);
    return NEO_OK;
}

neo_status operation_plan(neo_primitive_desc **pd, neo_exec_arg arguments[OPERATION_ARGUMENTS],
                          int *count, neo_engine *engine, const struct problem *problem)
{
    struct plan plan = {.pd = pd, .engine = engine, .problem = problem};
    *count = 0;
    neo_status status = describe(&plan);
    if (status == NEO_OK)
        status = make_plan(&plan);
    return status == NEO_OK ? add_arguments(arguments, count, &plan) : status;
}
