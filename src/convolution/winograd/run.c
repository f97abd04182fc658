/* Winograd convolution: the products of a strip, and tasks of strips. */
#include <string.h>

#include "src/convolution/winograd/winograd.h"

/* A task's own part of the scratchpad; inputs are in it, or at the beginning for all. */
static struct task task_of(const struct run *run, int index)
{
    const struct convolution_winograd *plan = run->plan;
    unsigned char *begin = run->execution->scratch;
    unsigned char *table =
        begin + (size_t)index * plan->task_bytes + (plan->shares ? plan->input_bytes : 0);
    unsigned char *next = table + plan->table_bytes, *inputs = plan->shares ? begin : next;
    unsigned char *sums = plan->slot ? inputs : plan->shares ? next : next + plan->input_bytes;
    unsigned char *zeros = next + (plan->shares ? 0 : plan->input_bytes) + plan->sum_bytes;
    struct strip *strip = (struct strip *)(void *)table;
    memset(zeros, 0, plan->zero_bytes);
    memset(strip->own.counts, 0, sizeof strip->own.counts);
    memset(strip->inner_origin, 0, sizeof strip->inner_origin);
    strip->shared = NULL;
    return (struct task){
        .run = run,
        .strip = strip,
        .inputs = (float *)(void *)inputs + plan->slot,
        .sums = (float *)(void *)sums,
        .zeros = (float *)(void *)zeros,
        .patches = (float *)(void *)(zeros + plan->zero_bytes),
    };
}

/* ---- products ---- */

/* Panels of a round that have one width: all full ones, and each of the others. */
enum { MOST_WIDTHS = WINOGRAD_F32_NR / 4 };
struct wide {
    size_t width;
    struct winograd_f32_products task; /* of a piece whose inputs, weights and sums begin at 0 */
    const float *weights;
    size_t sums;
};

static size_t list_widths(const struct task *task, struct span panels, struct wide *list)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct arrangement *rows = task->strip->rows;
    size_t ic = (size_t)plan->shape.ic, oc = (size_t)plan->shape.oc, count = 0,
           begin = panels.begin;
    for (size_t end; begin < panels.end; begin = end) {
        size_t width = winograd_panel(plan, begin).width;
        for (end = begin + 1; end < panels.end && winograd_panel(plan, end).width == width; end++)
            continue;
        list[count++] = (struct wide){
            .width = width,
            .task = {.k = ic, .point = plan->point, .panel = rows->panel, .panels = end - begin},
            .weights = (const float *)task->run->execution->buffers[WEIGHTS] +
                       layout_panel_offset(oc, begin) * ic,
            .sums = (begin - panels.begin) * rows->panel,
        };
    }
    return count;
}

static void multiply_width(const struct winograd_f32_kernel *kernel, const struct wide *wide,
                           const struct winograd_f32_products *task)
{
    if (task->ahead_step && wide->width == WINOGRAD_F32_NR)
        kernel->fetch(task);
    else
        kernel->products[wide->width / 4 - 1](task);
}

/* A round of panels: all of them with one piece, and then with the next one. */
static void multiply(const struct task *task, struct span panels)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct arrangement *rows = task->strip->rows;
    /* Sums would replace inputs that are wanted; and what is fetched is what comes next in memory.
     */
    bool back = task->rounds % 2 && !plan->slot && !plan->fetches;
    struct wide widths[MOST_WIDTHS];
    bool fetches = plan->fetches && task->strip->count > WINOGRAD_F32_MR;
    size_t count = list_widths(task, panels, widths);
    for (size_t i = 0; i < rows->piece_count; i++) {
        const struct piece *piece = &rows->pieces[back ? rows->piece_count - 1 - i : i];
        size_t step = fetches ? winograd_ahead_step(rows, i) : 0;
        for (struct wide *wide = widths; wide < widths + count; wide++) {
            wide->task.ahead_step = step;
            wide->task.a = task->inputs + piece->inputs;
            wide->task.b = wide->weights + piece->point * plan->point;
            wide->task.c = task->sums + piece->sums + wide->sums;
            wide->task.heights = rows->heights + piece->heights;
            multiply_width(plan->kernel, wide, &wide->task);
        }
    }
}

/* As many of these panels as are multiplied at a time, the first ones, or the last ones. */
static struct span round_of(const struct convolution_winograd *plan, struct span panels, bool back)
{
    size_t count = min_size(panels.end - panels.begin, plan->most_panels);
    return back ? (struct span){panels.end - count, panels.end}
                : (struct span){panels.begin, panels.begin + count};
}

/* ---- tasks that have strips of their own ---- */

static void run_rounds(struct task *task, struct span panels, bool back)
{
    for (; panels.begin < panels.end; task->rounds++) {
        struct span some = round_of(task->run->plan, panels, back);
        multiply(task, some);
        winograd_transform_outputs(task, some);
        *(back ? &panels.end : &panels.begin) = back ? some.begin : some.end;
    }
}

/* Strips and rounds turn back where the one before ended: what it used last is in the cache. */
static void run_strip(struct task *task, struct span tiles, struct span panels)
{
    bool back = task->strips++ % 2;
    winograd_make_strip(task, tiles);
    winograd_transform_inputs(task, (struct span){0, winograd_chunks(task->run->plan)});
    run_rounds(task, panels, back);
}

static void run_rect(struct task *task, struct partition_rect rect)
{
    for (size_t s = rect.rows.begin; s < rect.rows.end; s++)
        run_strip(task, winograd_strip(task->run, s), rect.columns);
}

static void run_rects(void *argument, struct span rects, int slot)
{
    const struct run *run = argument;
    struct task task = task_of(run, slot);
    for (size_t i = rects.begin; i < rects.end; i++)
        run_rect(&task, partition_rect(&run->grid, (int)i));
}

/* ---- strips that all tasks share ---- */

static void transform_chunks(void *argument, struct span chunks, int slot)
{
    const struct run *run = argument;
    struct task task = task_of(run, slot);
    winograd_make_strip(&task, run->strip);
    winograd_transform_inputs(&task, chunks);
}

static void multiply_panels(void *argument, struct span panels, int slot)
{
    const struct run *run = argument;
    struct task task = task_of(run, slot);
    winograd_make_strip(&task, run->strip);
    run_rounds(&task, panels, false);
}

static void run_shared(struct run *run)
{
    const struct convolution_winograd *plan = run->plan;
    const struct execution *execution = run->execution;
    size_t chunks = winograd_chunks(plan);
    for (size_t begin = 0; begin < plan->tiles; begin = run->strip.end) {
        run->strip = (struct span){begin, min_size(begin + plan->strip, plan->tiles)};
        parallel_for_tiles(execution->parallel, chunks, execution->threads, transform_chunks, run);
        parallel_for_tiles(execution->parallel, plan->panels, execution->threads, multiply_panels,
                           run);
    }
}

/* ---- all of it ---- */

static void run_divided(struct run *run)
{
    parallel_for_tiles(run->execution->parallel, (size_t)run->grid.tasks, run->execution->threads,
                       run_rects, run);
}

/* By which of both ways takes less time. */
static __attribute__((noinline)) void run_by_threads(struct run *run)
{
    const struct parallel *parallel = run->execution->parallel;
    int threads = run->execution->threads, pieces = parallel_pieces(parallel, threads);
    struct convolution_winograd own = *run->plan;
    double sharing = winograd_sharing_cost(&own, threads);
    bool has_room = winograd_limit_strips(&own, threads);
    const struct convolution_winograd *plan = run->plan;
    run->plan = &own;
    if (has_room)
        winograd_divide(run, pieces);
    if (has_room && run->grid.cost <= sharing)
        run_divided(run);
    else {
        own = *plan;
        winograd_share_inputs(&own, threads);
        run_shared(run);
    }
    run->plan = plan;
}

void winograd_run(const void *plan, const struct execution *execution)
{
    const struct convolution_winograd *mine = plan;
    struct run run = {.plan = mine, .execution = execution};
    if (mine->tiles == 0 || mine->panels == 0)
        return;
    if (execution->threads > 1) {
        run_by_threads(&run);
        return;
    }
    winograd_divide(&run, 1);
    run_divided(&run);
}
