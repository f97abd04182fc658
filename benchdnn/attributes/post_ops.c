/* Post-operations: their translation for the library, and what is known of them. */
#include "benchdnn/attributes/post_ops.h"

#include <math.h>
#include <string.h>

/* ---- for the library ---- */

const char *post_ops_out_of_scope(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        bool has_type = op->kind == POST_OP_BINARY || op->kind == POST_OP_DEPTHWISE ||
                        (op->kind == POST_OP_SUM && op->type);
        if (has_type && type_to_neo(op->type) == NEO_DATA_TYPE_UNDEF)
            return "Data type not supported";
        if (op->kind == POST_OP_BINARY &&
            (tag_is_blocked(&op->tag) || tag_is_blocked(&op->condition.tag)))
            return "Case not supported";
    }
    return NULL;
}

struct dims post_op_dims(const struct post_op *op, const struct attribute_shape *shape)
{
    struct dims dims = *shape->dst;
    int mask = mask_resolve(&op->mask, QUANTITY_SRC1, shape);
    for (int i = 0; i < dims.count; i++) {
        if (!(mask >> i & 1))
            dims.at[i] = 1;
    }
    return dims;
}

/* The operand's dimensions; those that are dst's are told at execution where dst's are. */
static struct dims described_dims(const struct post_op *op, const struct attribute_shape *shape,
                                  bool actual)
{
    struct dims dims = post_op_dims(op, shape);
    unsigned mask = (unsigned)mask_resolve(&op->mask, QUANTITY_SRC1, shape);
    for (int i = 0; i < dims.count; i++) {
        if (!actual && (mask & shape->dst_runtime) >> i & 1)
            dims.at[i] = NEO_RUNTIME_DIM;
    }
    return dims;
}

neo_status post_op_desc(neo_memory_desc *out, const struct post_op *op,
                        const struct attribute_shape *shape, bool actual)
{
    struct dims dims = described_dims(op, shape, actual);
    neo_data_type type = type_to_neo(op->type);
    if (op->strides.count)
        return op->strides.count == dims.count
                   ? neo_memory_desc_init_strides(out, dims.count, dims.at, type, op->strides.at)
                   : NEO_INVALID_ARGUMENT;
    struct tag tag = op->tag;
    char expanded[NEO_MAX_NDIMS + 24];
    if (tag_is_any(&tag) && (actual || shape->dst_runtime))
        strcpy(tag.text, "abx");
    if (!tag_expand(expanded, sizeof expanded, &tag, dims.count))
        return NEO_INVALID_ARGUMENT;
    return neo_memory_desc_init_tag(out, dims.count, dims.at, type, expanded);
}

struct post_op post_op_condition(const struct post_op *op)
{
    struct post_op out = *op;
    out.type = TYPE_S8;
    out.mask = op->condition.mask;
    out.tag = op->condition.tag;
    return out;
}

struct dims post_op_condition_dims(const struct post_op *op, const struct attribute_shape *shape)
{
    struct post_op condition = post_op_condition(op);
    return post_op_dims(&condition, shape);
}

static neo_status append_binary(neo_attributes *to, const struct post_op *op,
                                const struct attribute_shape *shape)
{
    neo_memory_desc src1, condition;
    neo_status status = post_op_desc(&src1, op, shape, false);
    if (status != NEO_OK)
        return status;
    if (!post_op_selects(op))
        return neo_attributes_append_binary(to, op->binary, &src1);
    struct post_op second = post_op_condition(op);
    status = post_op_desc(&condition, &second, shape, false);
    return status == NEO_OK ? neo_attributes_append_select(to, &src1, &condition) : status;
}

struct attribute_shape post_op_shape(const struct post_ops *ops, int i,
                                     const struct attribute_shape *shape)
{
    struct attribute_shape own = *shape;
    for (int j = i + 1; j < ops->count; j++)
        if (ops->at[j].kind == POST_OP_DEPTHWISE)
            own.dst = &shape->between;
    return own;
}

static neo_status append(neo_attributes *to, const struct post_op *op,
                         const struct attribute_shape *shape)
{
    switch (op->kind) {
    case POST_OP_SUM:
        return neo_attributes_append_sum(to, (float)op->alpha, op->zero_point,
                                         type_to_neo(op->type));
    case POST_OP_ELTWISE:
        return neo_attributes_append_eltwise(to, op->eltwise, (float)op->alpha, (float)op->beta);
    case POST_OP_BINARY:
        return append_binary(to, op, shape);
    case POST_OP_PRELU:
        return neo_attributes_append_prelu(to, mask_resolve(&op->mask, QUANTITY_SRC1, shape));
    case POST_OP_DEPTHWISE:
        return neo_attributes_append_depthwise(to, shape->weights_type, shape->bias_type,
                                               type_to_neo(op->type), op->kernel, op->stride,
                                               op->padding);
    default:
        return NEO_UNSUPPORTED;
    }
}

neo_status post_ops_append(neo_attributes *to, const struct post_ops *ops,
                           const struct attribute_shape *shape)
{
    neo_status status = NEO_OK;
    for (int i = 0; i < ops->count && status == NEO_OK; i++) {
        struct attribute_shape own = post_op_shape(ops, i, shape);
        status = append(to, &ops->at[i], &own);
    }
    return status;
}

/* ---- properties ---- */

bool post_ops_have_kind(const struct post_ops *ops, enum post_op_kind kind)
{
    for (int i = 0; i < ops->count; i++) {
        if (ops->at[i].kind == kind)
            return true;
    }
    return false;
}

bool post_ops_have_eltwise(const struct post_ops *ops, neo_eltwise algorithm)
{
    for (int i = 0; i < ops->count; i++) {
        if (ops->at[i].kind == POST_OP_ELTWISE && ops->at[i].eltwise == algorithm)
            return true;
    }
    return false;
}

static bool makes_zeros(const struct post_op *op)
{
    if (op->kind == POST_OP_BINARY)
        return op->binary >= NEO_BINARY_MIN || op->binary == NEO_BINARY_MUL;
    if (op->kind != POST_OP_ELTWISE)
        return false;
    switch (op->eltwise) {
    case NEO_ELTWISE_RELU:
    case NEO_ELTWISE_ELU:
    case NEO_ELTWISE_LINEAR:
    case NEO_ELTWISE_CLIP:
    case NEO_ELTWISE_CLIP_V2:
    case NEO_ELTWISE_POW:
        return op->alpha == 0 || op->beta == 0;
    case NEO_ELTWISE_TANH:
    case NEO_ELTWISE_SQUARE:
    case NEO_ELTWISE_ABS:
    case NEO_ELTWISE_ROUND:
        return false;
    default: /* those that fade to zero on one side */
        return true;
    }
}

bool post_ops_make_zeros(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        if (makes_zeros(&ops->at[i]))
            return true;
    }
    return false;
}

/* No number, infinite, or such that a few of them multiplied are infinite. */
static bool is_huge(double x)
{
    return !(fabs(x) < 1e9);
}

bool post_ops_make_non_finite(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        if ((op->kind == POST_OP_BINARY && op->binary == NEO_BINARY_DIV) || is_huge(op->alpha) ||
            is_huge(op->beta))
            return true;
    }
    return post_ops_have_eltwise(ops, NEO_ELTWISE_SQRT) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_LOG) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_POW) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_EXP) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_ELU) ||
           post_ops_have_eltwise(ops, NEO_ELTWISE_SQUARE);
}

static bool is_dyadic(double x)
{
    return x * 1024 == floor(x * 1024) && fabs(x) < 1024;
}

bool post_ops_round(const struct post_ops *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const struct post_op *op = &ops->at[i];
        if (op->kind == POST_OP_BINARY && op->binary <= NEO_BINARY_DIV)
            return true;
        if (op->kind == POST_OP_SUM && !is_dyadic(op->alpha))
            return true;
        if (op->kind == POST_OP_PRELU)
            return true;
    }
    return false;
}
