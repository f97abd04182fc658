/* Problems with run-time sizes, and the same ones with sizes. */
#include "src/primitive/concrete.h"

#include <string.h>

#include "neoprene/primitive.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/quantization.h"
#include "src/tensor/descriptor.h"

static void copy(struct concrete *concrete, const struct problem *problem)
{
    int post_ops = problem->attributes.post_op_count, extras = problem->extra_count;
    concrete->problem = *problem;
    if (post_ops)
        memcpy(concrete->post_ops, problem->attributes.post_ops,
               (size_t)post_ops * sizeof *concrete->post_ops);
    if (extras)
        memcpy(concrete->extras, problem->extras, (size_t)extras * sizeof *concrete->extras);
    concrete->problem.attributes.post_ops = concrete->post_ops;
    concrete->problem.extras = concrete->extras;
}

/* ---- the sizes of an execution ---- */

static void take_operands(struct post_op *op, const neo_memory *const *operands)
{
    op->binary.src1 = operands[0]->desc;
    if (op->binary.condition.ndims)
        op->binary.condition = operands[1]->desc;
}

static void take_descriptors(struct concrete *concrete, const struct arguments *args)
{
    struct problem *problem = &concrete->problem;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (args->tensors[t])
            problem->tensors[t] = args->tensors[t]->desc;
    for (int i = 0; i < problem->extra_count; i++)
        concrete->extras[i].desc = args->extras[i]->desc;
    for (int i = 0; i < problem->attributes.post_op_count; i++)
        if (concrete->post_ops[i].kind == NEO_POST_OP_BINARY)
            take_operands(&concrete->post_ops[i], args->operands + 2 * (ptrdiff_t)i);
}

/* The weights of prelu follow from dst, so they are compared once more. */
static bool has_right_prelu(const struct concrete *concrete, const struct arguments *args)
{
    for (int i = 0; i < concrete->problem.attributes.post_op_count; i++)
        if (concrete->post_ops[i].kind == NEO_POST_OP_PRELU &&
            !neo_memory_desc_equal(&concrete->post_ops[i].prelu.weights,
                                   &args->operands[2 * (ptrdiff_t)i]->desc))
            return false;
    return true;
}

static bool has_right_counts(const struct problem *problem, const struct arguments *args)
{
    for (int i = 0; i < problem->attributes.quantization_count; i++) {
        const struct quantization *q = &problem->attributes.quantizations[i];
        if (quantization_count(q, quantization_tensor(problem, q)) !=
            (neo_dim)neo_memory_desc_elements(&args->quantizations[i]->desc))
            return false;
    }
    return true;
}

static const char *wrong_of(struct concrete *concrete, const struct arguments *args)
{
    struct problem *problem = &concrete->problem;
    bool unsupported = false;
    const char *wrong = problem->operation->check(problem, &unsupported);
    if (!wrong)
        wrong = post_ops_check(problem, &unsupported);
    if (!wrong)
        wrong = quantization_check(problem, &unsupported);
    if (!wrong && desc_overlaps_itself(&problem->tensors[DST]))
        wrong = "elements of dst overlap each other";
    if (!wrong && !problem_is_moderate(problem))
        wrong = "a tensor has more elements or larger strides than an address space has room for";
    if (!wrong && !has_right_prelu(concrete, args))
        wrong = "prelu's weights do not have dst's sizes where its mask has a bit";
    if (!wrong && !has_right_counts(problem, args))
        wrong = "scales or zero points are not as many as the sizes ask for";
    return wrong;
}

neo_status concrete_of_arguments(struct concrete *concrete, const struct problem *problem,
                                 const struct arguments *args)
{
    copy(concrete, problem);
    take_descriptors(concrete, args);
    const char *wrong = wrong_of(concrete, args);
    if (wrong)
        return problem_reject(&concrete->problem, NEO_INVALID_ARGUMENT, "", wrong);
    problem_settle_strides(&concrete->problem);
    return NEO_OK;
}

/* ---- sizes that are likely ---- */

/* Strides that are not known become those of a dense tensor in the order of the others. */
static void suppose_strides(neo_memory_desc *desc)
{
    const neo_memory_desc given = *desc;
    if (desc->format_kind != NEO_FORMAT_STRIDED || !desc_has_runtime(desc->strides, desc->ndims))
        return;
    desc_set_order_of(desc, &given);
    desc->offset = given.offset;
}

static void suppose_operand(neo_memory_desc *operand, const neo_memory_desc *dst)
{
    for (int i = 0; i < operand->ndims; i++)
        if (operand->dims[i] == NEO_RUNTIME_DIM)
            operand->dims[i] = dst->dims[i];
    suppose_strides(operand);
}

void concrete_suppose(struct concrete *concrete, const struct problem *problem)
{
    struct problem *supposed = &concrete->problem;
    copy(concrete, problem);
    problem->operation->suppose(supposed);
    for (int t = 0; t < TENSOR_COUNT; t++)
        suppose_strides(&supposed->tensors[t]);
    for (int i = 0; i < supposed->attributes.post_op_count; i++)
        if (concrete->post_ops[i].kind == NEO_POST_OP_BINARY) {
            suppose_operand(&concrete->post_ops[i].binary.src1, &supposed->tensors[DST]);
            suppose_operand(&concrete->post_ops[i].binary.condition, &supposed->tensors[DST]);
        }
}
