/* Plain layout to plain layout: lines along the dimension that is innermost in dst. */
#include <string.h>

#include "src/core/checked.h"
#include "src/primitive/finish.h"
#include "src/reorder/reorder.h"
#include "src/tensor/descriptor.h"
#include "src/threading/partition.h"

enum { CHUNK = 512 };

struct reorder_copy {
    int direction; /* the lines' dimension */
    size_t lines;
    bool is_plain_copy; /* no post-operations */
};

static const char *copy_refuse(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    (void)self, (void)cpu;
    for (int t = SRC; t <= DST; t++)
        if (problem->tensors[t].format_kind == NEO_FORMAT_PACKED)
            return "a side is packed";
    return NULL;
}

static double copy_estimate(const struct algorithm *self, const struct problem *problem,
                            const struct cpu *cpu)
{
    (void)self, (void)cpu;
    return reorder_estimate(problem, 2);
}

/* The dimension of more than one element with the smallest stride in dst. */
static int innermost(const neo_memory_desc *dst)
{
    int best = dst->ndims - 1;
    for (int i = dst->ndims - 1; i >= 0; i--)
        if (dst->dims[i] != 1 && (dst->dims[best] == 1 || dst->strides[i] < dst->strides[best]))
            best = i;
    return best;
}

static void copy_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct reorder_copy *mine = plan;
    const neo_memory_desc *dst = &problem->tensors[DST];
    (void)cpu;
    mine->direction = innermost(dst);
    mine->is_plain_copy = problem->attributes.post_op_count == 0;
    mine->lines = 1;
    for (int i = 0; i < dst->ndims; i++)
        if (i != mine->direction)
            mine->lines *= (size_t)dst->dims[i]; /* made again when sizes are known */
}

static const char *copy_kernel(const void *plan)
{
    (void)plan;
    return "copy_f32";
}

static void line_position(const neo_memory_desc *dst, int direction, size_t index,
                          neo_dim *position)
{
    for (int i = dst->ndims - 1; i >= 0; i--) {
        if (i == direction) {
            position[i] = 0;
            continue;
        }
        position[i] = (neo_dim)(index % (size_t)dst->dims[i]);
        index /= (size_t)dst->dims[i];
    }
}

static void gather(const float *src, neo_dim step, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = src[(neo_dim)i * step];
}

static void copy_line(const struct reorder_copy *plan, const struct execution *execution,
                      struct line *line)
{
    const neo_memory_desc *src = &execution->problem->tensors[SRC];
    const neo_memory_desc *dst = &execution->problem->tensors[DST];
    neo_dim src_step = src->strides[plan->direction], dst_step = dst->strides[plan->direction];
    size_t count = (size_t)dst->dims[plan->direction];
    for (size_t from = 0; from < count; from += CHUNK) {
        float values[CHUNK];
        line->position[plan->direction] = (neo_dim)from;
        line->count = min_size(CHUNK, count - from);
        const float *in = (const float *)execution->buffers[SRC] + desc_offset(src, line->position);
        float *out = (float *)execution->buffers[DST] + desc_offset(dst, line->position);
        if (plan->is_plain_copy && dst_step == 1) {
            gather(in, src_step, line->count, out);
            continue;
        }
        gather(in, src_step, line->count, values);
        finish_line(execution, line, values, false, out, dst_step);
    }
}

struct copy_run {
    const struct reorder_copy *plan;
    const struct execution *execution;
};

static void run_lines(void *argument, struct span lines, int slot)
{
    (void)slot;
    const struct copy_run *run = argument;
    const neo_memory_desc *dst = &run->execution->problem->tensors[DST];
    struct line line = {.direction = run->plan->direction};
    for (size_t i = lines.begin; i < lines.end; i++) {
        line_position(dst, run->plan->direction, i, line.position);
        copy_line(run->plan, run->execution, &line);
    }
}

static void copy_run(const void *plan, const struct execution *execution)
{
    const struct reorder_copy *mine = plan;
    struct copy_run run = {mine, execution};
    parallel_for_tiles(execution->parallel, mine->lines, execution->threads, run_lines, &run);
}

const struct algorithm reorder_copy = {
    .name = "copy",
    .refuse = copy_refuse,
    .estimate = copy_estimate,
    .plan = copy_plan,
    .plan_bytes = sizeof(struct reorder_copy),
    .kernel = copy_kernel,
    .run = copy_run,
};
