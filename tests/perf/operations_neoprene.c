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
    if (operation_is_of_rows(p)) {
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

/* One of them for each operation: `algorithm` is its own kind of primitive's, if that has any. */
typedef neo_status plan_fn(const struct plan *plan, int algorithm);

static neo_status plan_elements(const struct plan *plan, int algorithm)
{
    bool is_hardswish = algorithm == NEO_ELTWISE_HARDSWISH;
    return neo_eltwise_primitive_desc_create(
        plan->pd, plan->engine, NEO_FORWARD_INFERENCE, (neo_eltwise)algorithm, &plan->src,
        &plan->dst, is_hardswish ? 1.0f / 6 : 0, is_hardswish ? 0.5f : 0, NULL);
}

static neo_status plan_two(const struct plan *plan, int algorithm)
{
    return neo_binary_primitive_desc_create(plan->pd, plan->engine, (neo_binary)algorithm,
                                            &plan->src, &plan->src, NULL, &plan->dst, NULL);
}

static neo_status plan_pool(const struct plan *plan, int algorithm)
{
    const struct operation_problem *p = &plan->problem->operation;
    neo_pooling_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                             .algorithm = (neo_pooling)algorithm,
                             .src = plan->src,
                             .dst = plan->dst};
    for (int i = 0; i < 2; i++) {
        desc.strides[i] = (neo_dim)p->stride;
        desc.kernel[i] = (neo_dim)p->kernel;
        desc.padding_left[i] = (neo_dim)p->pad;
        desc.padding_right[i] = (neo_dim)operation_pad_after(p, i);
    }
    return neo_pooling_primitive_desc_create(plan->pd, plan->engine, &desc, NULL);
}

static neo_status plan_softmax(const struct plan *plan, int algorithm)
{
    return neo_softmax_primitive_desc_create(plan->pd, plan->engine, NEO_FORWARD_INFERENCE,
                                             (neo_softmax)algorithm, &plan->src, &plan->dst, 1,
                                             NULL);
}

static neo_status plan_layer_norm(const struct plan *plan, int algorithm)
{
    (void)algorithm;
    return neo_layer_normalization_primitive_desc_create(
        plan->pd, plan->engine, NEO_FORWARD_INFERENCE, &plan->src, &plan->dst, NULL, NEO_F32,
        OPERATION_EPSILON, NEO_NORMALIZATION_USE_SCALE | NEO_NORMALIZATION_USE_SHIFT, NULL);
}

static neo_status plan_batch_norm(const struct plan *plan, int algorithm)
{
    (void)algorithm;
    return neo_batch_normalization_primitive_desc_create(
        plan->pd, plan->engine, NEO_FORWARD_INFERENCE, &plan->src, &plan->dst, OPERATION_EPSILON,
        NEO_NORMALIZATION_USE_GLOBAL_STATS | NEO_NORMALIZATION_USE_SCALE |
            NEO_NORMALIZATION_USE_SHIFT,
        NULL);
}

static neo_status plan_bilinear(const struct plan *plan, int algorithm)
{
    return neo_resampling_primitive_desc_create(plan->pd, plan->engine, NEO_FORWARD_INFERENCE,
                                                (neo_resampling)algorithm, NULL, &plan->src,
                                                &plan->dst, NULL);
}

static neo_status plan_concat(const struct plan *plan, int algorithm)
{
    (void)algorithm;
    const neo_memory_desc sources[] = {plan->src, plan->src};
    return neo_concat_primitive_desc_create(plan->pd, plan->engine, &plan->dst, 2, 1, sources,
                                            NULL);
}

static const struct way {
    plan_fn *plan;
    int algorithm;
} ways[OPERATION_COUNT] = {
    [OPERATION_RELU] = {plan_elements, NEO_ELTWISE_RELU},
    [OPERATION_HARDSWISH] = {plan_elements, NEO_ELTWISE_HARDSWISH},
    [OPERATION_LOGISTIC] = {plan_elements, NEO_ELTWISE_LOGISTIC},
    [OPERATION_TANH] = {plan_elements, NEO_ELTWISE_TANH},
    [OPERATION_GELU] = {plan_elements, NEO_ELTWISE_GELU_ERF},
    [OPERATION_EXP] = {plan_elements, NEO_ELTWISE_EXP},
    [OPERATION_ADD] = {plan_two, NEO_BINARY_ADD},
    [OPERATION_MULTIPLY] = {plan_two, NEO_BINARY_MUL},
    [OPERATION_MAX_POOL] = {plan_pool, NEO_POOLING_MAX},
    [OPERATION_AVERAGE_POOL] = {plan_pool, NEO_POOLING_AVERAGE_EXCLUDE_PADDING},
    [OPERATION_SOFTMAX] = {plan_softmax, NEO_SOFTMAX_ACCURATE},
    [OPERATION_LAYER_NORM] = {plan_layer_norm, 0},
    [OPERATION_BATCH_NORM] = {plan_batch_norm, 0},
    [OPERATION_BILINEAR] = {plan_bilinear, NEO_RESAMPLING_LINEAR},
    [OPERATION_CONCAT] = {plan_concat, 0},
};

/* ---- arguments ---- */

static const int ids[] = {[ROLE_SRC] = NEO_ARG_SRC,
                          [ROLE_SECOND] = NEO_ARG_SRC_1,
                          [ROLE_DST] = NEO_ARG_DST,
                          [ROLE_FIRST_PART] = NEO_ARG_MULTIPLE_SRC,
                          [ROLE_SECOND_PART] = NEO_ARG_MULTIPLE_SRC + 1,
                          [ROLE_SCALE] = NEO_ARG_SCALE,
                          [ROLE_SHIFT] = NEO_ARG_SHIFT,
                          [ROLE_MEAN] = NEO_ARG_MEAN,
                          [ROLE_VARIANCE] = NEO_ARG_VARIANCE};

static neo_status add_arguments(neo_exec_arg *arguments, int *count, const struct plan *plan)
{
    const struct problem *problem = plan->problem;
    struct operation_argument all[OPERATION_ARGUMENTS];
    size_t size =
        operation_arguments(all, &problem->operation, problem->src, problem->weights, problem->dst);
    neo_dim channels = (neo_dim)problem->operation.channels;
    neo_memory_desc parameter;
    neo_status status = neo_memory_desc_init_tag(&parameter, 1, &channels, NEO_F32, "a");
    for (size_t i = 0; status == NEO_OK && i < size; i++) {
        const neo_memory_desc *desc = all[i].role >= ROLE_SCALE ? &parameter
                                      : all[i].role == ROLE_DST ? &plan->dst
                                                                : &plan->src;
        arguments[*count].arg = ids[all[i].role];
        status =
            neo_memory_create(&arguments[(*count)++].memory, desc, plan->engine, all[i].values);
    }
    return status;
}

neo_status operation_plan(neo_primitive_desc **pd, neo_exec_arg arguments[OPERATION_ARGUMENTS],
                          int *count, neo_engine *engine, const struct problem *problem)
{
    struct plan plan = {.pd = pd, .engine = engine, .problem = problem};
    *count = 0;
    neo_status status = describe(&plan);
    const struct way *way = &ways[problem->operation.operation];
    if (status == NEO_OK)
        status = way->plan(&plan, way->algorithm);
    return status == NEO_OK ? add_arguments(arguments, count, &plan) : status;
}
