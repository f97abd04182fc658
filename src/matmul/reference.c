/* Matrix multiplication as its definition reads: one dot product after another. */
#include <math.h>

#include "src/matmul/matmul.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

struct matmul_reference {
    size_t lines; /* rows of all matrices */
};

static const char *reference_refuse(const struct algorithm *self, const struct problem *problem,
                                    const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return problem->tensors[WEIGHTS].format_kind == NEO_FORMAT_PACKED ? "the weights are packed"
                                                                      : NULL;
}

static double reference_estimate(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    (void)self, (void)cpu;
    const double call = 2e4; /* never the best; sizes that are not known are large numbers */
    return call + 16.0 * fabs((double)shape.batch) * fabs((double)shape.m) * fabs((double)shape.n) *
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
    return "matmul_f32_ref";
}

static float dot(const float *a, neo_dim a_step, const float *b, neo_dim b_step, neo_dim k)
{
    float sum = 0;
    for (neo_dim p = 0; p < k; p++)
        sum = fmaf(a[p * a_step], b[p * b_step], sum);
    return sum;
}

/* One element: the last two entries of the line's position say which. */
static void run_element(const struct execution *execution, const struct line *line)
{
    const neo_memory_desc *tensors = execution->problem->tensors;
    const neo_memory_desc *src = &tensors[SRC], *weights = &tensors[WEIGHTS], *dst = &tensors[DST];
    int last = dst->ndims - 1;
    const float *a = (const float *)execution->buffers[SRC] +
                     matmul_batch_offset(src, line->position) +
                     line->position[last - 1] * src->strides[last - 1];
    const float *b = (const float *)execution->buffers[WEIGHTS] +
                     matmul_batch_offset(weights, line->position) +
                     line->position[last] * weights->strides[last];
    float sum = dot(a, src->strides[last], b, weights->strides[last - 1], src->dims[last]);
    float *to = (float *)execution->buffers[DST] + matmul_batch_offset(dst, line->position) +
                line->position[last - 1] * dst->strides[last - 1] +
                line->position[last] * dst->strides[last];
    finish_line(execution, line, &sum, true, to, 1);
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
    .refuse = reference_refuse,
    .choose = matmul_choose_plain,
    .estimate = reference_estimate,
    .plan = reference_plan,
    .plan_bytes = sizeof(struct matmul_reference),
    .kernel = reference_kernel,
    .run = reference_run,
};
