/* Scales and zero points. */
#include "src/primitive/quantization.h"

#include "neoprene/primitive.h"
#include "src/core/checked.h"
#include "src/primitive/types.h"
#include "src/tensor/element.h"

enum { ZERO_POINT_TYPES = TYPES_BYTE | TYPES_HALF_BYTE | 1 << NEO_S32 };

/* ---- checks ---- */

static bool is_zero_point(const struct quantization *q)
{
    return q->arg & NEO_ARG_ATTR_ZERO_POINTS;
}

/* Of all tensors; -1 if it is for none of them. */
static int tensor_of(const struct problem *problem, const struct quantization *q)
{
    static const int args[TENSOR_COUNT] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    int arg = q->arg ^ (is_zero_point(q) ? NEO_ARG_ATTR_ZERO_POINTS : NEO_ARG_ATTR_SCALES);
    int depthwise = post_ops_depthwise(&problem->attributes);
    if (depthwise >= 0 && arg == NEO_ARG_DST) /* the image in between */
        return OPERAND_TENSORS + depthwise;
    if (depthwise >= 0 && arg == (NEO_ARG_ATTR_POST_OP_DW | NEO_ARG_DST))
        return DST;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (args[t] == arg)
            return t;
    for (int i = 0; i < problem->attributes.post_op_count; i++)
        if (problem->attributes.post_ops[i].kind == NEO_POST_OP_BINARY &&
            arg == post_ops_argument(&problem->attributes, 2 * i))
            return OPERAND_TENSORS + i;
    int extra = problem_extra(problem, arg);
    return extra < 0 ? -1 : TENSOR_COUNT + extra;
}

/* The tensor of that number; NULL if there is none. */
static const neo_memory_desc *numbered(const struct problem *problem, int t)
{
    if (t < 0)
        return NULL;
    if (t < OPERAND_TENSORS)
        return problem_tensor(problem, t);
    const struct post_op *op = &problem->attributes.post_ops[t - OPERAND_TENSORS];
    return op->kind == NEO_POST_OP_DEPTHWISE ? &op->depthwise.between : &op->binary.src1;
}

static bool divides(neo_dim group, neo_dim dim)
{
    return dim == NEO_RUNTIME_DIM || dim % group == 0;
}

static const char *check_groups(const struct quantization *q, const neo_memory_desc *desc)
{
    int first = desc->ndims - 2;
    if (!q->group_ndims)
        return NULL;
    if (first < 0)
        return "groups are of two dimensions, and the tensor has one";
    for (int i = 0; i < 2; i++) {
        if (q->group_dims[i] > 1 && !(q->mask >> (first + i) & 1))
            return "a group is of more than one index of a dimension that is not in the mask";
        if (!divides(q->group_dims[i], desc->dims[first + i]))
            return "a dimension is no multiple of the groups' size";
    }
    return NULL;
}

static const char *check_one(const struct problem *problem, const struct quantization *q, int t,
                             bool *unsupported)
{
    const neo_memory_desc *desc = numbered(problem, t);
    if (!desc || !desc->ndims)
        return "scales or zero points are for a tensor that the operation does not have";
    if (q->mask >> desc->ndims)
        return "the mask of scales or zero points has bits beyond the tensor's last dimension";
    const char *wrong = check_groups(q, desc);
    if (wrong)
        return wrong;
    *unsupported = true;
    if (!problem->operation->check_quantization && t < OPERAND_TENSORS)
        return "the operation takes neither scales nor zero points";
    if (t == BIAS)
        return "bias has neither scales nor zero points";
    if (!types_have(is_zero_point(q) ? ZERO_POINT_TYPES : TYPES_FLOAT, q->type))
        return is_zero_point(q) ? "zero points are of s32, s8, u8, s4 or u4"
                                : "scales are of f32, f16 or bf16";
    if (t < OPERAND_TENSORS)
        wrong = problem->operation->check_quantization(problem, q, (enum tensor)t);
    *unsupported = wrong != NULL;
    return wrong;
}

const char *quantization_check(struct problem *problem, bool *unsupported)
{
    const char *wrong = NULL;
    for (int i = 0; i < problem->attributes.quantization_count && !wrong; i++) {
        const struct quantization *q = &problem->attributes.quantizations[i];
        int t = tensor_of(problem, q);
        wrong = check_one(problem, q, t, unsupported);
        if (!wrong)
            (is_zero_point(q) ? problem->zero_points : problem->scales)[t] = (uint8_t)(i + 1);
    }
    return wrong;
}

const neo_memory_desc *quantization_tensor(const struct problem *problem,
                                           const struct quantization *q)
{
    return numbered(problem, tensor_of(problem, q));
}

/* ---- places ---- */

neo_dim quantization_group(const struct quantization *q, int ndims, int dim)
{
    if (!(q->mask >> dim & 1))
        return 0;
    return q->group_ndims && dim >= ndims - 2 ? q->group_dims[dim - (ndims - 2)] : 1;
}

/* Values along a dimension. */
static neo_dim count_along(const struct quantization *q, const neo_memory_desc *desc, int dim)
{
    neo_dim group = quantization_group(q, desc->ndims, dim);
    return group ? desc->dims[dim] / group : 1;
}

neo_dim quantization_count(const struct quantization *q, const neo_memory_desc *desc)
{
    neo_dim count = 1;
    for (int i = 0; i < desc->ndims; i++) {
        if (q->mask >> i & 1 && desc->dims[i] == NEO_RUNTIME_DIM)
            return NEO_RUNTIME_DIM;
        count *= count_along(q, desc, i);
    }
    return count;
}

neo_dim quantization_index(const struct quantization *q, const neo_memory_desc *desc,
                           const neo_dim *position)
{
    neo_dim index = 0;
    for (int i = 0; i < desc->ndims; i++) {
        neo_dim group = quantization_group(q, desc->ndims, i);
        if (group)
            index =
                index * (desc->dims[i] / group) + (desc->dims[i] == 1 ? 0 : position[i] / group);
    }
    return index;
}

/* From a value to that of the next group along a dimension. */
static neo_dim step_along(const struct quantization *q, const neo_memory_desc *desc, int dim)
{
    neo_dim step = 1;
    for (int i = dim + 1; i < desc->ndims; i++)
        step *= count_along(q, desc, i);
    return step;
}

/* ---- values ---- */

static neo_dim index_of(const struct problem *problem, int index, enum tensor t,
                        const neo_dim *position)
{
    return quantization_index(&problem->attributes.quantizations[index - 1], &problem->tensors[t],
                              position);
}

static float value_at(const struct execution *execution, int index, neo_dim at)
{
    const struct quantization *q = &execution->problem->attributes.quantizations[index - 1];
    return element_read(q->type, execution->quantizations[index - 1], at);
}

float quantization_scale(const struct execution *execution, enum tensor t, const neo_dim *position)
{
    const struct problem *problem = execution->problem;
    int index = problem->scales[t];
    return index ? value_at(execution, index, index_of(problem, index, t, position)) : 1;
}

int32_t quantization_zero_point(const struct execution *execution, enum tensor t,
                                const neo_dim *position)
{
    const struct problem *problem = execution->problem;
    int index = problem->zero_points[t];
    if (!index)
        return 0;
    return element_read_s32(element_of(problem->attributes.quantizations[index - 1].type),
                            execution->quantizations[index - 1],
                            (ptrdiff_t)index_of(problem, index, t, position));
}

neo_dim quantization_part(const struct problem *problem, enum tensor t, int dim)
{
    const int indices[] = {problem->scales[t], problem->zero_points[t]};
    neo_dim part = 0;
    for (size_t i = 0; i < count_of(indices); i++)
        if (indices[i])
            part = greatest_common_divisor(
                part, quantization_group(&problem->attributes.quantizations[indices[i] - 1],
                                         problem->tensors[t].ndims, dim));
    return part;
}

/* ---- of lines ---- */

/* What belongs to a line of a tensor: elements `group` of which have the same value. */
struct along {
    const struct execution *execution;
    int index;
    neo_dim first, step; /* the first element's value; from group to group, or 0: one for all */
    neo_dim group, begun;
};

static struct along along_line(const struct execution *execution, int index,
                               const neo_memory_desc *desc, const struct line *line)
{
    const struct quantization *q = &execution->problem->attributes.quantizations[index - 1];
    struct along out = {.execution = execution,
                        .index = index,
                        .first = quantization_index(q, desc, line->position),
                        .group = quantization_group(q, desc->ndims, line->direction)};
    if (!out.group || desc->dims[line->direction] == 1)
        return out;
    out.step = step_along(q, desc, line->direction);
    out.begun = line->position[line->direction] % out.group;
    return out;
}

static void read_part(const struct along *along, size_t from, size_t count, float *values)
{
    const struct execution *execution = along->execution;
    const struct problem *problem = execution->problem;
    neo_dim first = along->begun + (neo_dim)from;
    if (along->group == 1)
        line_load(problem->convert, problem->attributes.quantizations[along->index - 1].type,
                  execution->quantizations[along->index - 1], along->first + first * along->step,
                  along->step, count, values);
    for (size_t i = 0; along->group > 1 && i < count; i++)
        values[i] = value_at(execution, along->index,
                             along->first + (first + (neo_dim)i) / along->group * along->step);
}

void quantization_apply(const struct execution *execution, int index, const neo_memory_desc *desc,
                        binary_f32_fn *run, const struct line *line, float *values)
{
    enum { CHUNK = 64 };
    if (!index)
        return;
    struct along along = along_line(execution, index, desc, line);
    if (!along.step) {
        float one = value_at(execution, index, along.first);
        run(line->count, values, &one, 0, values);
        return;
    }
    for (size_t from = 0; from < line->count; from += CHUNK) {
        float others[CHUNK];
        size_t count = min_size(CHUNK, line->count - from);
        read_part(&along, from, count, others);
        run(count, values + from, others, 1, values + from);
    }
}

void quantization_read(const struct execution *execution, int index, const neo_memory_desc *desc,
                       const struct line *line, float *values)
{
    struct along along = {.step = 0};
    float one = 1;
    if (index) {
        along = along_line(execution, index, desc, line);
        one = value_at(execution, index, along.first);
    }
    if (along.step)
        read_part(&along, 0, line->count, values);
    for (size_t i = 0; !along.step && i < line->count; i++)
        values[i] = one;
}
