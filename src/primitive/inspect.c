/* Getters. */
#include "neoprene/inspect.h"

#include <string.h>

#include "neoprene/primitive.h"
#include "src/core/log.h"
#include "src/primitive/attributes.h"
#include "src/primitive/engine.h"

/* ---- attributes ---- */

/* Writes what a pointer asks for, if it asks. */
#define TELL(pointer, value)      \
    do {                          \
        if (pointer)              \
            *(pointer) = (value); \
    } while (0)

static neo_status refuse_null(const char *function)
{
    return log_refusal(function, "attributes is NULL");
}

neo_status neo_attributes_get_fpmath_mode(const neo_attributes *attributes, neo_fpmath_mode *mode,
                                          int *apply_to_int)
{
    if (!attributes)
        return refuse_null(__func__);
    TELL(mode, attributes->fpmath);
    TELL(apply_to_int, attributes->fpmath_for_int);
    return NEO_OK;
}

neo_status neo_attributes_get_accumulation_mode(const neo_attributes *attributes,
                                                neo_accumulation_mode *mode)
{
    if (!attributes)
        return refuse_null(__func__);
    TELL(mode, attributes->accumulation);
    return NEO_OK;
}

neo_status neo_attributes_get_deterministic(const neo_attributes *attributes, int *deterministic)
{
    if (!attributes)
        return refuse_null(__func__);
    TELL(deterministic, attributes->deterministic);
    return NEO_OK;
}

neo_status neo_attributes_get_dynamic_src(const neo_attributes *attributes, neo_data_type *type)
{
    if (!attributes)
        return refuse_null(__func__);
    TELL(type, attributes->dynamic_src);
    return NEO_OK;
}

static neo_status tell_quantization(const neo_attributes *attributes, int arg, int *mask,
                                    int *group_ndims, neo_dim *group_dims, neo_data_type *type)
{
    for (int i = 0; i < attributes->quantization_count; i++) {
        const struct quantization *q = &attributes->quantizations[i];
        if (q->arg != arg)
            continue;
        TELL(mask, q->mask);
        TELL(group_ndims, q->group_ndims);
        TELL(type, q->type);
        for (int d = 0; group_dims && d < q->group_ndims; d++)
            group_dims[d] = q->group_dims[d];
        return NEO_OK;
    }
    return NEO_NOT_FOUND;
}

neo_status neo_attributes_get_scales(const neo_attributes *attributes, int arg, int *mask,
                                     int *group_ndims, neo_dim *group_dims, neo_data_type *type)
{
    if (!attributes)
        return refuse_null(__func__);
    return tell_quantization(attributes, arg | NEO_ARG_ATTR_SCALES, mask, group_ndims, group_dims,
                             type);
}

neo_status neo_attributes_get_zero_points(const neo_attributes *attributes, int arg, int *mask,
                                          int *group_ndims, neo_dim *group_dims,
                                          neo_data_type *type)
{
    if (!attributes)
        return refuse_null(__func__);
    return tell_quantization(attributes, arg | NEO_ARG_ATTR_ZERO_POINTS, mask, group_ndims,
                             group_dims, type);
}

/* NULL, and why: there is none of this kind there. */
static const struct post_op *find_post_op(neo_status *status, const char *function,
                                          const neo_attributes *attributes, int index,
                                          neo_post_op_kind kind)
{
    *status = attributes ? NEO_NOT_FOUND : refuse_null(function);
    bool is_there = attributes && index >= 0 && index < attributes->post_op_count;
    return is_there && attributes->post_ops[index].kind == kind ? &attributes->post_ops[index]
                                                                : NULL;
}

neo_status neo_attributes_get_sum(const neo_attributes *attributes, int index, float *scale,
                                  int32_t *zero_point, neo_data_type *type)
{
    neo_status status;
    const struct post_op *op = find_post_op(&status, __func__, attributes, index, NEO_POST_OP_SUM);
    if (!op)
        return status;
    TELL(scale, op->sum.scale);
    TELL(zero_point, op->sum.zero_point);
    TELL(type, op->sum.type);
    return NEO_OK;
}

neo_status neo_attributes_get_eltwise(const neo_attributes *attributes, int index,
                                      neo_eltwise *algorithm, float *alpha, float *beta)
{
    neo_status status;
    const struct post_op *op =
        find_post_op(&status, __func__, attributes, index, NEO_POST_OP_ELTWISE);
    if (!op)
        return status;
    TELL(algorithm, op->eltwise.algorithm);
    TELL(alpha, op->eltwise.alpha);
    TELL(beta, op->eltwise.beta);
    return NEO_OK;
}

neo_status neo_attributes_get_binary(const neo_attributes *attributes, int index,
                                     neo_binary *algorithm, neo_memory_desc *src1)
{
    neo_status status;
    const struct post_op *op =
        find_post_op(&status, __func__, attributes, index, NEO_POST_OP_BINARY);
    if (!op)
        return status;
    TELL(algorithm, op->binary.algorithm);
    TELL(src1, op->binary.src1);
    return NEO_OK;
}

neo_status neo_attributes_get_condition(const neo_attributes *attributes, int index,
                                        neo_memory_desc *condition)
{
    neo_status status;
    const struct post_op *op =
        find_post_op(&status, __func__, attributes, index, NEO_POST_OP_BINARY);
    if (!op)
        return status;
    if (op->binary.algorithm != NEO_BINARY_SELECT)
        return NEO_NOT_FOUND;
    TELL(condition, op->binary.condition);
    return NEO_OK;
}

neo_status neo_attributes_get_prelu(const neo_attributes *attributes, int index, int *mask)
{
    neo_status status;
    const struct post_op *op =
        find_post_op(&status, __func__, attributes, index, NEO_POST_OP_PRELU);
    if (!op)
        return status;
    TELL(mask, op->prelu.mask);
    return NEO_OK;
}

neo_status neo_attributes_get_depthwise(const neo_attributes *attributes, int index,
                                        neo_data_type *weights_type, neo_data_type *bias_type,
                                        neo_data_type *dst_type, neo_dim *kernel, neo_dim *stride,
                                        neo_dim *padding_left)
{
    neo_status status;
    const struct post_op *op =
        find_post_op(&status, __func__, attributes, index, NEO_POST_OP_DEPTHWISE);
    if (!op)
        return status;
    TELL(weights_type, op->depthwise.weights);
    TELL(bias_type, op->depthwise.bias);
    TELL(dst_type, op->depthwise.dst);
    TELL(kernel, op->depthwise.kernel);
    TELL(stride, op->depthwise.stride);
    TELL(padding_left, op->depthwise.padding);
    return NEO_OK;
}

/* ---- engines ---- */

int neo_engine_has_isa(const neo_engine *engine, const char *name)
{
    const char *unknown;
    if (!engine || !name || strpbrk(name, ", "))
        return 0;
    uint32_t bits = cpu_parse_features(name, &unknown);
    return !unknown && bits && (engine->cpu->features & bits) == bits;
}

const char *neo_engine_core(const neo_engine *engine)
{
    return engine ? engine->cpu->core->name : "";
}

int neo_engine_num_threads(const neo_engine *engine)
{
    return engine ? default_pool_threads(engine->threads) : 0;
}
