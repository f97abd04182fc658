/* Post-operations on lines of results. */
#include <string.h>

#include "src/core/checked.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

enum { CHUNK = 256 };

/* Where an operand's elements for a line are. */
struct operand_line {
    const void *data; /* of the element at offset 0 */
    neo_data_type type;
    neo_dim first, step; /* in elements */
};

static struct operand_line operand_line(const neo_memory_desc *desc, const void *data,
                                        const struct line *line)
{
    struct operand_line result = {.data = data, .type = desc->data_type};
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] != 1)
            result.first += line->position[i] * desc->strides[i];
    if (desc->dims[line->direction] != 1)
        result.step = desc->strides[line->direction];
    return result;
}

/* Elements [from, from + count) as f32: in place where they lie that way, else gathered into
 * buffer. *step becomes 0 or 1. */
static const float *operand_values(const struct convert_kernel *convert,
                                   const struct operand_line *line, size_t from, size_t count,
                                   float *buffer, size_t *step)
{
    neo_dim at = line->first + (neo_dim)from * line->step;
    *step = line->step != 0;
    if (line->type == NEO_F32 && (line->step == 0 || line->step == 1))
        return (const float *)line->data + at;
    line_load(convert, line->type, line->data, at, line->step, line->step == 0 ? 1 : count, buffer);
    return buffer;
}

void line_apply(const struct convert_kernel *convert, binary_f32_fn *run,
                const neo_memory_desc *desc, const void *data, const struct line *line,
                float *values)
{
    struct operand_line operand = operand_line(desc, data, line);
    for (size_t from = 0; from < line->count; from += CHUNK) {
        float buffer[CHUNK];
        size_t step, count = min_size(CHUNK, line->count - from);
        const float *other = operand_values(convert, &operand, from, count, buffer, &step);
        run(count, values + from, other, step, values + from);
    }
}

static void apply_sum(const struct problem *problem, const struct post_op *op,
                      const struct line *line, float *values, const void *old, neo_dim old_step)
{
    neo_data_type type = op->sum.type ? op->sum.type : problem->tensors[DST].data_type;
    struct operand_line operand = {.data = old, .type = type, .step = old_step};
    for (size_t from = 0; from < line->count; from += CHUNK) {
        float buffer[CHUNK];
        size_t count = min_size(CHUNK, line->count - from);
        size_t step;
        const float *chunk = operand_values(problem->convert, &operand, from, count, buffer, &step);
        op->sum.run(count, values + from, chunk, op->sum.scale, (float)op->sum.zero_point,
                    values + from);
    }
}

/* src1's elements for part of a line, less their zero points and times their scales; as many of
 * them as there are along the line. */
static const float *scaled_values(const struct execution *execution, int index,
                                  const struct operand_line *operand, const struct line *line,
                                  size_t from, size_t count, float *buffer, size_t *step)
{
    const struct problem *problem = execution->problem;
    const neo_memory_desc *src1 = &problem->attributes.post_ops[index].binary.src1;
    uint8_t scale = problem->scales[OPERAND_TENSORS + index];
    uint8_t zero_point = problem->zero_points[OPERAND_TENSORS + index];
    const float *values = operand_values(problem->convert, operand, from, count, buffer, step);
    if (!scale && !zero_point)
        return values;
    struct line part = *line;
    part.position[line->direction] += (neo_dim)from;
    part.count = *step ? count : 1;
    if (values != buffer)
        memcpy(buffer, values, part.count * sizeof *buffer);
    quantization_apply(execution, zero_point, src1, problem->binary[BINARY_F32_SUB].run, &part,
                       buffer);
    quantization_apply(execution, scale, src1, problem->binary[BINARY_F32_MUL].run, &part, buffer);
    return buffer;
}

/* Values whose condition is 0 become src1's. */
static void apply_select(const struct execution *execution, int index, const struct line *line,
                         float *values)
{
    const struct problem *problem = execution->problem;
    const struct post_op *op = &problem->attributes.post_ops[index];
    struct operand_line others =
        operand_line(&op->binary.src1, execution->operands[2 * index], line);
    struct operand_line conditions =
        operand_line(&op->binary.condition, execution->operands[2 * index + 1], line);
    enum { HALF = CHUNK / 2 }; /* two of them are one chunk on the stack */
    for (size_t from = 0; from < line->count; from += HALF) {
        float first[HALF], second[HALF];
        size_t step, condition_step, count = min_size(HALF, line->count - from);
        const float *other =
            scaled_values(execution, index, &others, line, from, count, first, &step);
        const float *condition =
            operand_values(problem->convert, &conditions, from, count, second, &condition_step);
        for (size_t i = 0; i < count; i++)
            if (condition[i * condition_step] == 0)
                values[from + i] = other[i * step];
    }
}

static void apply_binary(const struct execution *execution, int index, const struct line *line,
                         float *values)
{
    const struct post_op *op = &execution->problem->attributes.post_ops[index];
    struct operand_line operand =
        operand_line(&op->binary.src1, execution->operands[2 * index], line);
    for (size_t from = 0; from < line->count; from += CHUNK) {
        float buffer[CHUNK];
        size_t step, count = min_size(CHUNK, line->count - from);
        const float *other =
            scaled_values(execution, index, &operand, line, from, count, buffer, &step);
        op->binary.run(count, values + from, other, step, values + from);
    }
}

static void apply_operand(const struct execution *execution, int index, const struct line *line,
                          float *values)
{
    const struct post_op *op = &execution->problem->attributes.post_ops[index];
    if (op->kind == NEO_POST_OP_PRELU)
        line_apply(execution->problem->convert, op->prelu.run, &op->prelu.weights,
                   execution->operands[2 * index], line, values);
    else if (op->binary.run)
        apply_binary(execution, index, line, values);
    else
        apply_select(execution, index, line, values);
}

void post_ops_apply(const struct execution *execution, const struct line *line, float *values,
                    const void *old, neo_dim old_step)
{
    const neo_attributes *attributes = &execution->problem->attributes;
    for (int i = 0; i < attributes->post_op_count; i++) {
        const struct post_op *op = &attributes->post_ops[i];
        if (op->kind == NEO_POST_OP_ELTWISE)
            op->eltwise.run(line->count, values, values, op->eltwise.alpha, op->eltwise.beta);
        else if (op->kind == NEO_POST_OP_SUM)
            apply_sum(execution->problem, op, line, values, old, old_step);
        else
            apply_operand(execution, i, line, values);
    }
}
