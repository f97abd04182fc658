/* Pooling by lines of dst, along channels or along a dimension of space, whichever is innermost:
 * for each tap, the line of src that it reads is added, or compared, to what the taps before made.
 */
#include <float.h>

#include "kernels/elementwise/binary_f32.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/pooling/pooling.h"
#include "src/tensor/descriptor.h"

struct pooling_plan {
    struct walk walk;
    struct line_type src, dst, workspace;
    neo_pooling algorithm;
    int space; /* dimensions of it */
    size_t taps;
    neo_dim kernel[3];
    bool keeps_winners;
    float lowest; /* of src's type */
    binary_f32_fn *max, *add, *divide;
};

/* A line of dst that is being made. */
struct pooling_line {
    const struct pooling_plan *plan;
    const struct execution *execution;
    struct line line;
    bool is_begun; /* values are there */
    size_t in_src; /* taps that were, the same for all of a line along channels */
    float values[LINE_MOST];
    float taps[LINE_MOST];    /* how many were in src, if that counts and each has its own */
    float winners[LINE_MOST]; /* if they are kept */
};

static double pooling_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    double taps = 1;
    (void)self, (void)cpu;
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        taps *= (double)problem->window.kernel[i];
    return lines_cycles(problem, 1 + taps);
}

/* The lowest finite value. */
static float lowest_of(neo_data_type type)
{
    static const float lowest[] = {
        [NEO_F32] = -FLT_MAX, [NEO_F16] = -65504, [NEO_BF16] = -0x1.fep127f,
        [NEO_S32] = -0x1p31f, [NEO_S8] = -128,    [NEO_U8] = 0};
    return lowest[type];
}

static void pooling_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct pooling_plan *mine = plan;
    const neo_memory_desc *dst = &problem->tensors[DST];
    mine->algorithm = (neo_pooling)pooling_parameters(problem)->algorithm;
    mine->space = dst->ndims - 2;
    mine->taps = 1;
    for (int i = 0; i < mine->space; i++) {
        mine->kernel[i] = problem->window.kernel[i];
        mine->taps *= (size_t)problem->window.kernel[i];
    }
    mine->src = line_type(problem->tensors[SRC].data_type, cpu);
    mine->dst = line_type(dst->data_type, cpu);
    mine->lowest = lowest_of(problem->tensors[SRC].data_type);
    mine->keeps_winners = problem->extra_count > 0;
    if (mine->keeps_winners)
        mine->workspace = line_type(problem->extras[0].desc.data_type, cpu);
    mine->max = binary_f32_find(cpu->features, BINARY_F32_MAX)->run;
    mine->add = binary_f32_find(cpu->features, BINARY_F32_ADD)->run;
    mine->divide = binary_f32_find(cpu->features, BINARY_F32_DIV)->run;
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    walk_init(&mine->walk, dst, NULL, 0, true, LINE_MOST);
}

static const char *pooling_kernel(const void *plan)
{
    return ((const struct pooling_plan *)plan)->algorithm == NEO_POOLING_MAX ? "max_f32"
                                                                             : "average_f32";
}

/* Do all elements of the line have the same taps in src? */
static bool shares_taps(const struct pooling_line *l)
{
    return l->line.direction < 2;
}

static bool has_own_counts(const struct pooling_line *l)
{
    return l->plan->algorithm == NEO_POOLING_AVERAGE_EXCLUDE_PADDING && !shares_taps(l);
}

static neo_dim step_in_src(const struct pooling_line *l)
{
    const struct problem *problem = l->execution->problem;
    int direction = l->line.direction;
    neo_dim stride = problem->tensors[SRC].strides[direction];
    return direction < 2 ? stride : stride * problem->window.strides[direction - 2];
}

static void keep_winners(float *values, float *winners, const float *src, size_t count, float tap)
{
    for (size_t i = 0; i < count; i++) {
        bool wins = src[i] > values[i] || winners[i] < 0;
        values[i] = wins ? src[i] : values[i];
        winners[i] = wins ? tap : winners[i];
    }
}

static void fill(float *values, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

static float start_of(const struct pooling_plan *plan)
{
    return plan->algorithm == NEO_POOLING_MAX ? plan->lowest : 0;
}

/* Takes a line of src for some of the elements, as this tap. The first one that is taken for all of
 * them needs no values before it. */
static void take_line(struct pooling_line *l, neo_dim offset, struct span elements, size_t tap)
{
    const struct pooling_plan *plan = l->plan;
    binary_f32_fn *op = plan->algorithm == NEO_POOLING_MAX ? plan->max : plan->add;
    size_t count = elements.end - elements.begin;
    float buffer[LINE_MOST], *values = l->values + elements.begin, start = start_of(plan);
    const void *data = line_at(&plan->src, l->execution->buffers[SRC], offset);
    const float *line = lines_load(&plan->src, data, step_in_src(l), count, buffer);
    if (plan->keeps_winners)
        keep_winners(values, l->winners + elements.begin, line, count, (float)tap);
    else if (l->is_begun)
        op(count, values, line, 1, values);
    else
        op(count, line, &start, 0, values);
    l->is_begun = true;
    l->in_src++;
    if (has_own_counts(l))
        for (size_t i = elements.begin; i < elements.end; i++)
            l->taps[i]++;
}

static bool is_own_dimension(const struct pooling_line *l, int i)
{
    return l->line.direction == 2 + i;
}

/* Where the first tap along dimension i of space is for the line's first element. */
static neo_dim first_tap(const struct pooling_line *l, int i)
{
    const struct window *window = &l->execution->problem->window;
    return l->line.position[2 + i] * window->strides[i] - window->left[i];
}

/* The taps along dimension i of space that are in src; of the line's own dimension all of them,
 * since elements differ. */
static struct span taps_in_src(const struct pooling_line *l, int i)
{
    neo_dim in = l->execution->problem->tensors[SRC].dims[2 + i];
    neo_dim apart = l->execution->problem->window.dilations[i] + 1;
    neo_dim most = l->plan->kernel[i], first = first_tap(l, i);
    if (is_own_dimension(l, i))
        return (struct span){0, (size_t)most};
    neo_dim begin = first < 0 ? (-first + apart - 1) / apart : 0;
    neo_dim end = first < in ? (in - 1 - first) / apart + 1 : 0;
    end = end < most ? end : most;
    return (struct span){(size_t)begin, (size_t)(end > begin ? end : begin)};
}

/* The elements of a line along dimension i of space whose tap, the first one's being at `at`, is in
 * src. */
static struct span elements_in_src(const struct pooling_line *l, int i, neo_dim at)
{
    neo_dim in = l->execution->problem->tensors[SRC].dims[2 + i];
    neo_dim stride = l->execution->problem->window.strides[i];
    size_t before = (size_t)(at < 0 ? (-at + stride - 1) / stride : 0);
    size_t within = (size_t)(at < in ? (in - 1 - at) / stride + 1 : 0);
    return (struct span){min_size(before, l->line.count), min_size(within, l->line.count)};
}

/* Taps of the dimensions of space from i on; `tap` counts those of the dimensions before. They are
 * in src for all elements or for none, but along the line's own dimension. */
static void take_taps_from(struct pooling_line *l, int i, neo_dim offset, struct span elements,
                           size_t tap)
{
    const struct problem *problem = l->execution->problem;
    if (i == l->plan->space) {
        take_line(l, offset, elements, tap);
        return;
    }
    neo_dim first = first_tap(l, i), step = problem->tensors[SRC].strides[2 + i];
    neo_dim apart = problem->window.dilations[i] + 1;
    struct span taps = taps_in_src(l, i);
    bool is_own = is_own_dimension(l, i);
    tap *= (size_t)l->plan->kernel[i];
    for (size_t k = taps.begin; k < taps.end; k++) {
        neo_dim at = first + (neo_dim)k * apart;
        if (is_own) {
            elements = elements_in_src(l, i, at);
            at += (neo_dim)elements.begin * problem->window.strides[i];
        }
        if (elements.begin < elements.end)
            take_taps_from(l, i + 1, offset + at * step, elements, tap + k);
    }
}

/* Values come before the first tap where it may not be for all elements, or where winners are
 * compared with them. */
static void begin_line(struct pooling_line *l)
{
    l->in_src = 0;
    l->is_begun = !shares_taps(l) || l->plan->keeps_winners;
    if (l->is_begun)
        fill(l->values, l->line.count, start_of(l->plan));
    if (has_own_counts(l))
        fill(l->taps, l->line.count, 0);
    if (l->plan->keeps_winners)
        fill(l->winners, l->line.count, -1);
}

static void take_taps(struct pooling_line *l)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    const neo_dim *position = l->line.position;
    neo_dim offset = position[0] * src->strides[0] + position[1] * src->strides[1];
    take_taps_from(l, 0, offset, (struct span){0, l->line.count}, 0);
    if (!l->is_begun) /* the window is outside */
        fill(l->values, l->line.count, start_of(l->plan));
}

static void store_winners(struct pooling_line *l)
{
    const neo_memory_desc *desc = &l->execution->problem->extras[0].desc;
    void *data =
        line_at(&l->plan->workspace, l->execution->extras[0], desc_offset(desc, l->line.position));
    for (size_t i = 0; i < l->line.count; i++) /* of windows that are all outside */
        l->winners[i] = l->winners[i] < 0 ? 0 : l->winners[i];
    lines_store(&l->plan->workspace, l->winners, l->line.count, data,
                desc->strides[l->line.direction]);
}

/* Sums become averages, of the whole window or of its part that is in src. */
static void divide(struct pooling_line *l)
{
    bool whole = l->plan->algorithm == NEO_POOLING_AVERAGE_INCLUDE_PADDING;
    float taps = (float)(whole ? l->plan->taps : max_size(l->in_src, 1));
    if (!has_own_counts(l)) {
        l->plan->divide(l->line.count, l->values, &taps, 0, l->values);
        return;
    }
    for (size_t i = 0; i < l->line.count; i++)
        l->taps[i] = l->taps[i] > 0 ? l->taps[i] : 1;
    l->plan->divide(l->line.count, l->values, l->taps, 1, l->values);
}

static void end_line(struct pooling_line *l)
{
    const struct pooling_plan *plan = l->plan;
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
    if (plan->algorithm != NEO_POOLING_MAX)
        divide(l);
    if (plan->keeps_winners)
        store_winners(l);
    void *data =
        line_at(&plan->dst, l->execution->buffers[DST], desc_offset(dst, l->line.position));
    finish_line(l->execution, &l->line, l->values, false, data, dst->strides[l->line.direction]);
}

static void make_lines(void *argument, struct span tiles, int slot)
{
    const struct lines_task *task = argument;
    struct pooling_line l; /* not cleared: values are set before they are read */
    (void)slot;
    l.plan = task->plan;
    l.execution = task->execution;
    for (size_t i = tiles.begin; i < tiles.end; i++) {
        struct walk_chunk chunk = walk_chunk(&l.plan->walk, i);
        walk_line(&l.plan->walk, &chunk, &l.line);
        begin_line(&l);
        take_taps(&l);
        end_line(&l);
    }
}

static void pooling_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct pooling_plan *)plan)->walk.tiles, make_lines);
}

const struct algorithm pooling_lines = {
    .name = "lines",
    .refuse = lines_refuse,
    .choose = lines_choose,
    .estimate = pooling_estimate,
    .plan = pooling_plan,
    .plan_bytes = sizeof(struct pooling_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = pooling_kernel,
    .run = pooling_run,
};
