/* Post-operations. */
#include "src/primitive/post_ops.h"

#include <math.h>
#include <string.h>

#include "neoprene/primitive.h"
#include "src/core/checked.h"
#include "src/tensor/descriptor.h"
#include "src/tensor/element.h"

/* ---- checks ---- */

/* Sizes that are known on one side only are compared when the primitive is executed. */
static bool is_broadcast_of(const neo_memory_desc *operand, const neo_memory_desc *dst)
{
    if (operand->ndims != dst->ndims)
        return false;
    for (int i = 0; i < dst->ndims; i++)
        if (operand->dims[i] != 1 && operand->dims[i] != dst->dims[i] &&
            operand->dims[i] != NEO_RUNTIME_DIM && dst->dims[i] != NEO_RUNTIME_DIM)
            return false;
    return true;
}

static const char *check_sum(const struct post_op *op, const neo_memory_desc *dst,
                             bool *unsupported)
{
    if (op->sum.type == NEO_DATA_TYPE_UNDEF || op->sum.type == dst->data_type)
        return NULL;
    if (neo_data_type_bits(op->sum.type) != neo_data_type_bits(dst->data_type))
        return "sum reads dst as a type of another size";
    if (element_is_readable(op->sum.type))
        return NULL;
    *unsupported = true;
    return "sum reads dst as a data type that is not supported";
}

static const char *check_operand(const neo_memory_desc *operand, const neo_memory_desc *dst,
                                 bool *unsupported)
{
    if (!is_broadcast_of(operand, dst))
        return "a binary operand's sizes are neither dst's nor 1";
    if (operand->format_kind == NEO_FORMAT_PACKED)
        return "a binary operand is packed";
    if (!element_is_readable(operand->data_type)) {
        *unsupported = true;
        return "a binary operand has a data type that is not supported";
    }
    return NULL;
}

static const char *check_binary(const struct post_op *op, const neo_memory_desc *dst,
                                bool *unsupported)
{
    const char *wrong = check_operand(&op->binary.src1, dst, unsupported);
    if (!wrong && op->binary.condition.ndims)
        wrong = check_operand(&op->binary.condition, dst, unsupported);
    return wrong;
}

static const char *check_prelu(struct post_op *op, const neo_memory_desc *dst)
{
    if (op->prelu.mask >> dst->ndims)
        return "prelu's mask has bits beyond the last dimension of dst";
    neo_memory_desc weights = {.ndims = dst->ndims, .data_type = NEO_F32};
    for (int i = 0; i < dst->ndims; i++)
        weights.dims[i] = op->prelu.mask >> i & 1 ? dst->dims[i] : 1;
    desc_set_plain(&weights);
    op->prelu.weights = weights;
    return NULL;
}

static const char *check_one(struct post_op *op, const neo_memory_desc *dst, bool *unsupported)
{
    switch (op->kind) {
    case NEO_POST_OP_SUM:
        return check_sum(op, dst, unsupported);
    case NEO_POST_OP_BINARY:
        return check_binary(op, dst, unsupported);
    case NEO_POST_OP_PRELU:
        return check_prelu(op, dst);
    default:
        return NULL;
    }
}

int post_ops_depthwise(const neo_attributes *attributes)
{
    int i = attributes->post_op_count - 1;
    while (i >= 0 && attributes->post_ops[i].kind != NEO_POST_OP_DEPTHWISE)
        i--;
    return i;
}

/* Those before a depthwise convolution are applied to the image that it reads. */
const char *post_ops_check(struct problem *problem, bool *unsupported)
{
    const neo_attributes *attributes = &problem->attributes;
    int depthwise = post_ops_depthwise(attributes);
    const char *wrong = NULL;
    if (depthwise >= 0 && !attributes->post_ops[depthwise].depthwise.between.ndims) {
        *unsupported = true;
        return "a depthwise post-operation is for convolutions alone";
    }
    for (int i = 0; i < attributes->post_op_count && !wrong; i++)
        wrong = check_one(&attributes->post_ops[i],
                          i < depthwise ? &attributes->post_ops[depthwise].depthwise.between
                                        : &problem->tensors[DST],
                          unsupported);
    return wrong;
}

static void choose_binary(struct post_op *op, const neo_memory_desc *dst, uint32_t features)
{
    if (op->binary.src1.format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(&op->binary.src1, dst);
    if (op->binary.condition.ndims && op->binary.condition.format_kind == NEO_FORMAT_ANY)
        desc_set_order_of(&op->binary.condition, dst);
    if (op->binary.algorithm != NEO_BINARY_SELECT)
        op->binary.run = binary_f32_find(features, (enum binary_f32_alg)op->binary.algorithm)->run;
}

void post_ops_choose(struct problem *problem, const struct cpu *cpu)
{
    uint32_t features = cpu->features;
    problem->binary = binary_f32_find(features, (enum binary_f32_alg)0); /* tables begin there */
    problem->convert = convert_find(features, (enum element)0);
    for (int i = 0; i < problem->attributes.post_op_count; i++) {
        struct post_op *op = &problem->attributes.post_ops[i];
        if (op->kind == NEO_POST_OP_BINARY)
            choose_binary(op, &problem->tensors[DST], features);
        else if (op->kind == NEO_POST_OP_PRELU)
            op->prelu.run = binary_f32_find(features, BINARY_F32_PRELU)->run;
        else if (op->kind == NEO_POST_OP_SUM)
            op->sum.run = sum_f32_find(features)->run;
        else if (op->kind == NEO_POST_OP_ELTWISE)
            op->eltwise.run =
                eltwise_f32_find(features, (enum eltwise_f32_alg)op->eltwise.algorithm)->run;
    }
}

static const neo_memory_desc *first_operand(const struct post_op *op)
{
    switch (op->kind) {
    case NEO_POST_OP_BINARY:
        return &op->binary.src1;
    case NEO_POST_OP_PRELU:
        return &op->prelu.weights;
    default:
        return NULL;
    }
}

bool post_ops_some_have_operand(const neo_attributes *attributes)
{
    for (int i = 0; i < attributes->post_op_count; i++)
        if (first_operand(&attributes->post_ops[i]))
            return true;
    return false;
}

const neo_memory_desc *post_ops_operand(const neo_attributes *attributes, int place)
{
    const struct post_op *op = &attributes->post_ops[place / 2];
    if (place % 2 == 0)
        return first_operand(op);
    bool is_there = op->kind == NEO_POST_OP_BINARY && op->binary.condition.ndims;
    return is_there ? &op->binary.condition : NULL;
}

int post_ops_argument(const neo_attributes *attributes, int place)
{
    int which = place % 2                                                   ? NEO_ARG_SRC_2
                : attributes->post_ops[place / 2].kind == NEO_POST_OP_PRELU ? NEO_ARG_WEIGHTS
                                                                            : NEO_ARG_SRC_1;
    return NEO_ARG_ATTR_MULTIPLE_POST_OP(place / 2) | which;
}

int post_ops_place(const neo_attributes *attributes, int arg)
{
    for (int place = 0; place < post_ops_places(attributes); place++)
        if (arg == post_ops_argument(attributes, place) && post_ops_operand(attributes, place))
            return place;
    return -1;
}

/* ---- fusion ---- */

/* A single relu or clip is a clamp. Relu with alpha != 0 is not. */
static bool is_clamp(const struct post_op *op, float *low, float *high)
{
    if (op->kind != NEO_POST_OP_ELTWISE)
        return false;
    if (op->eltwise.algorithm == NEO_ELTWISE_RELU && op->eltwise.alpha == 0) {
        *low = 0;
        return true;
    }
    if (op->eltwise.algorithm == NEO_ELTWISE_CLIP || op->eltwise.algorithm == NEO_ELTWISE_CLIP_V2) {
        *low = op->eltwise.alpha;
        *high = op->eltwise.beta;
        return true;
    }
    return false;
}

/* An operand with dst's descriptor may be in the same buffer. */
static bool may_be_dst(const struct problem *problem, int place)
{
    const neo_memory_desc *operand = post_ops_operand(&problem->attributes, place);
    return operand && neo_memory_desc_equal(operand, &problem->tensors[DST]);
}

struct post_ops_fusion post_ops_fusion_of_some(const struct problem *problem)
{
    const neo_attributes *attributes = &problem->attributes;
    struct post_ops_fusion fusion = {.low = -INFINITY, .high = INFINITY};
    int count = attributes->post_op_count;
    fusion.complete = count == 1 && is_clamp(&attributes->post_ops[0], &fusion.low, &fusion.high);
    for (int i = 0; i < count; i++)
        fusion.reads_dst |= attributes->post_ops[i].kind == NEO_POST_OP_SUM ||
                            may_be_dst(problem, 2 * i) || may_be_dst(problem, 2 * i + 1);
    return fusion;
}
