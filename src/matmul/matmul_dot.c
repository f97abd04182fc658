/* Matrix multiplication with one column, or with one row and transposed weights: each result is the
 * dot product of a contiguous row with the same vector. */
#include <math.h>

#include "kernels/dot_f32.h"
#include "src/core/checked.h"
#include "src/matmul/batch.h"
#include "src/memory/descriptor.h"
#include "src/primitive/finish.h"
#include "src/threading/partition.h"

enum { CHUNK = 64 }; /* results that are finished at once */

struct matmul_dot {
    size_t batch, count, k; /* count: results of one matrix */
    size_t stride;          /* between rows */
    bool one_column;        /* rows are src's; else the weights' columns */
    const struct dot_f32_kernel *kernel;
};

static bool is_one_column(const struct problem *problem)
{
    return matmul_shape(problem).n == 1;
}

/* Elements along a dimension follow each other. */
static bool is_contiguous(const neo_memory_desc *desc, int dim)
{
    return desc->format_kind == NEO_FORMAT_ANY || desc->dims[dim] == 1 || desc->strides[dim] == 1;
}

static const char *dot_refuse(const struct problem *problem, const struct cpu *cpu)
{
    const neo_memory_desc *src = &problem->tensors[SRC], *weights = &problem->tensors[WEIGHTS];
    (void)cpu;
    if (problem_is_runtime(problem))
        return "a size is known only at run time";
    if (weights->format_kind == NEO_FORMAT_PACKED)
        return "the weights are packed";
    if (!is_one_column(problem) && matmul_shape(problem).m != 1)
        return "there is more than one row and more than one column";
    if (!is_one_column(problem) && weights->format_kind == NEO_FORMAT_ANY)
        return "packed weights are better than transposed ones";
    if (!is_contiguous(src, src->ndims - 1))
        return "rows of src are not contiguous";
    return is_contiguous(weights, weights->ndims - 2) ? NULL
                                                      : "columns of weights are not contiguous";
}

static void dot_choose(struct problem *problem, const struct cpu *cpu)
{
    (void)cpu;
    for (int t = 0; t < TENSOR_COUNT; t++)
        if (problem->tensors[t].ndims && problem->tensors[t].format_kind == NEO_FORMAT_ANY)
            desc_set_plain(&problem->tensors[t]);
}

/* Eight rows at a time: nine loads for eight multiply-adds. */
static double dot_estimate(const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    double count = (double)shape.m * (double)shape.n, k = (double)shape.k;
    double macs = 1 / fmax(cpu->core->fmla_per_cycle, 1);
    double loads = 9.0 / 8 / fmax(cpu->core->loads_per_cycle, 1);
    double vector = cpu->core->in_order ? macs + 2 * loads : fmax(macs, loads);
    return 100 + (double)shape.batch *
                     (60 + count * (ceil(k / 4) * vector + 6 + post_ops_cycles(problem)));
}

static void dot_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_dot *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    mine->one_column = is_one_column(problem);
    const neo_memory_desc *rows = &problem->tensors[mine->one_column ? SRC : WEIGHTS];
    mine->batch = (size_t)shape.batch, mine->k = (size_t)shape.k;
    mine->count = (size_t)(shape.m * shape.n);
    mine->stride = (size_t)rows->strides[rows->ndims - (mine->one_column ? 2 : 1)];
    mine->kernel = dot_f32_find(cpu->features);
}

static size_t dot_scratch_bytes(const void *plan, int threads)
{
    (void)plan, (void)threads;
    return 0;
}

static const char *dot_kernel(const void *plan)
{
    return ((const struct matmul_dot *)plan)->kernel->name;
}

/* ---- run ---- */

/* Results `span` of one matrix. */
static void run_matrix(const struct matmul_dot *plan, const struct execution *execution,
                       size_t batch, struct span span)
{
    const neo_memory_desc *tensors = execution->problem->tensors, *dst = &tensors[DST];
    struct line line = {.direction = dst->ndims - (plan->one_column ? 2 : 1)};
    matmul_position(execution->problem, batch, line.position);
    const float *src =
        (const float *)execution->buffers[SRC] + matmul_batch_offset(&tensors[SRC], line.position);
    const float *weights = (const float *)execution->buffers[WEIGHTS] +
                           matmul_batch_offset(&tensors[WEIGHTS], line.position);
    float *out = (float *)execution->buffers[DST] + matmul_batch_offset(dst, line.position);
    const float *rows = plan->one_column ? src : weights, *x = plan->one_column ? weights : src;
    neo_dim step = dst->strides[line.direction];
    for (size_t at = span.begin; at < span.end; at += line.count) {
        float values[CHUNK];
        line.count = min_size(CHUNK, span.end - at);
        line.position[line.direction] = (neo_dim)at;
        plan->kernel->run(rows + at * plan->stride, plan->stride, x, plan->k, line.count, values);
        finish_line(execution, &line, values, true, out + (neo_dim)at * step, step);
    }
}

struct dot_run {
    const struct matmul_dot *plan;
    const struct execution *execution;
};

static void run_span(void *argument, struct span all, int slot)
{
    const struct dot_run *run = argument;
    const struct matmul_dot *plan = run->plan;
    (void)slot;
    while (all.begin < all.end) {
        size_t first = all.begin % plan->count;
        size_t end = min_size(first + (all.end - all.begin), plan->count);
        run_matrix(plan, run->execution, all.begin / plan->count, (struct span){first, end});
        all.begin += end - first;
    }
}

static void dot_run(const void *plan, const struct execution *execution)
{
    const struct matmul_dot *mine = plan;
    struct dot_run run = {mine, execution};
    parallel_for_tiles(execution->parallel, mine->batch * mine->count, execution->threads, run_span,
                       &run);
}

const struct algorithm matmul_dot_f32 = {
    .name = "dot",
    .refuse = dot_refuse,
    .choose = dot_choose,
    .estimate = dot_estimate,
    .plan = dot_plan,
    .plan_bytes = sizeof(struct matmul_dot),
    .scratch_bytes = dot_scratch_bytes,
    .kernel = dot_kernel,
    .run = dot_run,
};
