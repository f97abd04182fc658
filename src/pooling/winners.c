/* The maximum of windows and which tap it was, for training: for each tap, the line of src that it
 * reads is compared to what the taps before made. Lines are along channels or along a dimension of
 * space, whichever is innermost in dst.
 */
#include "kernels/pooling/windows.h"
#include "src/core/checked.h"
#include "src/lines/operation.h"
#include "src/lines/walk.h"
#include "src/pooling/pooling.h"
#include "src/tensor/descriptor.h"

struct winners_plan {
    struct walk walk;
    struct line_type src, dst, workspace;
    int space; /* dimensions of it */
    neo_dim kernel[3];
    float lowest; /* of src's type */
};

/* A line of dst that is being made. */
struct pooling_line {
    const struct winners_plan *plan;
    const struct execution *execution;
    struct line line;
    float values[LINE_MOST], winners[LINE_MOST];
};

static double winners_estimate(const struct algorithm *self, const struct problem *problem,
                               const struct cpu *cpu)
{
    double taps = 1;
    (void)self, (void)cpu;
    for (int i = 0; i < problem->tensors[DST].ndims - 2; i++)
        taps *= (double)problem->window.kernel[i];
    return lines_cycles(problem, 1 + taps);
}

static const char *winners_refuse(const struct algorithm *self, const struct problem *problem,
                                  const struct cpu *cpu)
{
    return problem->extra_count == 0 ? "nobody asks which tap has won"
                                     : lines_refuse(self, problem, cpu);
}

static void winners_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct winners_plan *mine = plan;
    const neo_memory_desc *dst = &problem->tensors[DST];
    mine->space = dst->ndims - 2;
    for (int i = 0; i < mine->space; i++)
        mine->kernel[i] = problem->window.kernel[i];
    mine->src = line_type(problem->tensors[SRC].data_type, cpu);
    mine->dst = line_type(dst->data_type, cpu);
    mine->lowest = windows_lowest(mine->src.element);
    mine->workspace = line_type(problem->extras[0].desc.data_type, cpu);
    if (problem_is_runtime(problem)) /* planned once more when sizes are known */
        return;
    walk_init(&mine->walk, dst, NULL, 0, true, LINE_MOST);
}

static const char *winners_kernel(const void *plan)
{
    (void)plan;
    return "max_f32";
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

/* Takes a line of src for some of the elements, as this tap. */
static void take_line(struct pooling_line *l, neo_dim offset, struct span elements, size_t tap)
{
    const struct winners_plan *plan = l->plan;
    size_t count = elements.end - elements.begin;
    float buffer[LINE_MOST];
    const void *data = line_at(&plan->src, l->execution->buffers[SRC], offset);
    const float *line = lines_load(&plan->src, data, step_in_src(l), count, buffer);
    keep_winners(l->values + elements.begin, l->winners + elements.begin, line, count, (float)tap);
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

static void begin_line(struct pooling_line *l)
{
    fill(l->values, l->line.count, l->plan->lowest);
    fill(l->winners, l->line.count, -1);
}

static void take_taps(struct pooling_line *l)
{
    const neo_memory_desc *src = &l->execution->problem->tensors[SRC];
    const neo_dim *position = l->line.position;
    neo_dim offset = position[0] * src->strides[0] + position[1] * src->strides[1];
    take_taps_from(l, 0, offset, (struct span){0, l->line.count}, 0);
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

static void end_line(struct pooling_line *l)
{
    const struct winners_plan *plan = l->plan;
    const neo_memory_desc *dst = &l->execution->problem->tensors[DST];
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

static void winners_run(const void *plan, const struct execution *execution)
{
    lines_run(execution, plan, ((const struct winners_plan *)plan)->walk.tiles, make_lines);
}

const struct algorithm pooling_winners = {
    .name = "winners",
    .refuse = winners_refuse,
    .choose = lines_choose,
    .estimate = winners_estimate,
    .plan = winners_plan,
    .plan_bytes = sizeof(struct winners_plan),
    .scratch_bytes = lines_scratch_none,
    .kernel = winners_kernel,
    .run = winners_run,
};
