/* Matrix multiplication as its definition reads: one dot product after another. */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/matmul/quantized.h"
#include "src/primitive/finish.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"
#include "src/threading/partition.h"

struct matmul_reference {
    size_t lines; /* rows of all matrices */
};

static const char *reference_refuse(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self, (void)cpu;
    if (matmul_is_dynamic(problem))
        return MATMUL_IS_DYNAMIC;
    return problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED ? "the weights are packed"
                                                                      : NULL;
}

static double reference_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    (void)self, (void)cpu;
    const double call = 2e4; /* never the best; sizes that are not known are large numbers */
    return call + 16 * fabs((double)shape.batch) * fabs((double)shape.m) * fabs((double)shape.n) *
                      fabs((double)shape.k);
}

static void reference_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_reference *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    (void)cpu;
    mine->lines = (size_t)shape.batch * (size_t)shape.m; /* made again when sizes are known */
}

static const char *reference_kernel(const void *plan)
{
    (void)plan;
    return "matmul_ref";
}

/* ---- one element ---- */

/* What its sum runs over. Scales and zero points are the same in each part of k. */
struct factors {
    const struct execution *execution;
    bool integers; /* both are: the sums of parts are exact, modulo 2^32 */
    enum element a_type, b_type;
    const void *a, *b;
    ptrdiff_t a_first, a_step, b_first, b_step; /* elements */
    neo_dim k, part;
    neo_dim a_position[NEO_MAX_NDIMS], b_position[NEO_MAX_NDIMS];
};

static float sum_integers(const struct factors *f, neo_dim begin, neo_dim end)
{
    uint32_t a_zero = (uint32_t)quantization_zero_point(f->execution, SRC, f->a_position);
    uint32_t b_zero = (uint32_t)quantization_zero_point(f->execution, WEIGHTS, f->b_position);
    uint32_t sum = 0;
    for (ptrdiff_t p = begin; p < end; p++) {
        int32_t a = element_read_s32(f->a_type, f->a, f->a_first + p * f->a_step);
        int32_t b = element_read_s32(f->b_type, f->b, f->b_first + p * f->b_step);
        sum += ((uint32_t)a - a_zero) * ((uint32_t)b - b_zero);
    }
    return (float)(int32_t)sum;
}

static float sum_floats(const struct factors *f, neo_dim begin, neo_dim end)
{
    float a_zero = (float)quantization_zero_point(f->execution, SRC, f->a_position);
    float b_zero = (float)quantization_zero_point(f->execution, WEIGHTS, f->b_position);
    float sum = 0;
    for (ptrdiff_t p = begin; p < end; p++)
        sum = fmaf(element_read_f32(f->a_type, f->a, f->a_first + p * f->a_step) - a_zero,
                   element_read_f32(f->b_type, f->b, f->b_first + p * f->b_step) - b_zero, sum);
    return sum;
}

/* The sum of the parts, each of them scaled. */
static float sum_of(struct factors *f, int ndims)
{
    float total = 0;
    for (neo_dim begin = 0; begin < f->k; begin += f->part) {
        neo_dim end = begin + f->part < f->k ? begin + f->part : f->k;
        f->a_position[ndims - 1] = f->b_position[ndims - 2] = begin;
        float sum = (f->integers ? sum_integers : sum_floats)(f, begin, end);
        sum *= quantization_scale(f->execution, SRC, f->a_position);
        sum *= quantization_scale(f->execution, WEIGHTS, f->b_position);
        total = begin ? total + sum : sum;
    }
    return total;
}

static neo_dim part_of_k(const struct problem *problem, neo_dim k)
{
    int ndims = problem->tensors[DST].ndims;
    neo_dim parts[] = {quantization_part(problem, SRC, ndims - 1),
                       quantization_part(problem, WEIGHTS, ndims - 2)};
    neo_dim part = k;
    for (size_t i = 0; i < count_of(parts); i++)
        if (parts[i])
            part = greatest_common_divisor(part, parts[i]);
    return part;
}

/* The last two entries of the line's position say which element it is. */
static struct factors factors_of(const struct execution *execution, const struct line *line)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *weights = &execution->problem->tensors[WEIGHTS];
    int last = src->ndims - 1;
    struct factors f = {
        .execution = execution,
        .a_type = element_of(src->data_type),
        .b_type = element_of(weights->data_type),
        .a = execution->buffers[SRC],
        .b = execution->buffers[WEIGHTS],
        .a_first = matmul_batch_offset(src, line->position) +
                   line->position[last - 1] * src->strides[last - 1],
        .a_step = src->strides[last],
        .b_first = matmul_batch_offset(weights, line->position) +
                   line->position[last] * weights->strides[last],
        .b_step = weights->strides[last - 1],
        .k = src->dims[last],
        .part = part_of_k(execution->problem, src->dims[last]),
    };
    f.integers = element_is_integer(f.a_type) && element_is_integer(f.b_type);
    memcpy(f.a_position, line->position, sizeof f.a_position);
    memcpy(f.b_position, line->position, sizeof f.b_position);
    return f;
}

static void run_element(const struct execution *execution, const struct line *line)
{
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    int last = dst->ndims - 1;
    struct factors factors = factors_of(execution, line);
    float sum = sum_of(&factors, dst->ndims);
    neo_dim to = matmul_batch_offset(dst, line->position) +
                 line->position[last - 1] * dst->strides[last - 1] +
                 line->position[last] * dst->strides[last];
    finish_line(execution, line, &sum, true,
                element_to(dst->data_type, execution->buffers[DST], to), 1);
}

struct reference_run {
    const struct matmul_reference *plan;
    const struct execution *execution;
};

static void run_rows(void *argument, struct span rows, int slot)
{
    const struct reference_run *run = argument;
    const struct problem *problem = run->execution->problem;
    struct matmul_shape shape = matmul_shape(problem);
    (void)slot;
    struct line line = {.direction = problem->tensors[DST].ndims - 1, .count = 1};
    for (size_t row = rows.begin; row < rows.end; row++) {
        matmul_position(problem, row / (size_t)shape.m, line.position);
        line.position[line.direction - 1] = (neo_dim)(row % (size_t)shape.m);
        for (neo_dim n = 0; n < shape.n; n++) {
            line.position[line.direction] = n;
            run_element(run->execution, &line);
        }
    }
}

static void reference_run(const void *plan, const struct execution *execution)
{
    struct reference_run run = {plan, execution};
    parallel_for_tiles(execution->parallel, run.plan->lines, execution->threads, run_rows, &run);
}

const struct algorithm matmul_reference = {
    .name = "reference",
    .types = matmul_types,
    .quantizes = true,
    .refuse = reference_refuse,
    .choose = matmul_choose_plain,
    .estimate = reference_estimate,
    .plan = reference_plan,
    .plan_bytes = sizeof(struct matmul_reference),
    .kernel = reference_kernel,
    .run = reference_run,
};
