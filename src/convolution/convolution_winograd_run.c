/* Winograd convolution: the products of a strip, and tasks of strips. */
#include <string.h>

#include "src/convolution/convolution_winograd.h"

static struct task task_of(const struct run *run, int index)
{
    const struct convolution_winograd *plan = run->plan;
    unsigned char *table =
        (unsigned char *)run->execution->scratch + (size_t)index * plan->task_bytes;
    unsigned char *inputs = table + plan->table_bytes, *sums = inputs + plan->input_bytes;
    unsigned char *zeros = sums + plan->sum_bytes;
    memset(zeros, 0, plan->zero_bytes);
    return (struct task){
        .run = run,
        .strip = (struct strip *)(void *)table,
        .inputs = (float *)(void *)inputs,
        .sums = (float *)(void *)sums,
        .zeros = (float *)(void *)zeros,
        .patches = (float *)(void *)(zeros + plan->zero_bytes),
    };
}

/* ---- products ---- */

/* A round of panels, of one width. Sums of a panel are `step` elements. */
static void multiply(const struct task *task, struct span panels, size_t step)
{
    const struct convolution_winograd *plan = task->run->plan;
    size_t ic = (size_t)plan->shape.ic, oc = (size_t)plan->shape.oc;
    size_t width = layout_panel(oc, panels.begin).width;
    const float *weights = (const float *)task->run->execution->buffers[WEIGHTS] +
                           layout_panel_offset(oc, panels.begin) * ic;
    for (size_t i = 0; i < plan->groups; i++) {
        size_t group = task->rounds % 2 ? plan->groups - 1 - i : i;
        const struct points *points = &task->strip->groups[group];
        plan->kernel->products[width / 4 - 1](&(struct winograd_f32_products){
            .k = ic,
            .a = task->inputs + points->row * plan->padded,
            .b = weights + points->first * plan->point,
            .point = plan->point,
            .c = task->sums + points->row * WINOGRAD_F32_NR,
            .panel = step,
            .panels = panels.end - panels.begin,
            .heights = points->heights,
        });
    }
}

/* As many of these panels as are multiplied at a time, the first ones, or the last ones. */
static struct span round_of(const struct convolution_winograd *plan, struct span panels, bool back)
{
    size_t oc = (size_t)plan->shape.oc, at = back ? panels.end - 1 : panels.begin, count = 1;
    size_t most = min_size(panels.end - panels.begin, plan->most_panels);
    size_t width = layout_panel(oc, at).width;
    while (count < most && layout_panel(oc, back ? at - count : at + count).width == width)
        count++;
    size_t begin = back ? panels.end - count : panels.begin;
    return (struct span){begin, begin + count};
}

/* ---- all tasks ---- */

static void run_round(const struct task *task, struct span panels)
{
    size_t oc = (size_t)task->run->plan->shape.oc;
    size_t step = task->strip->rows * WINOGRAD_F32_NR;
    multiply(task, panels, step);
    for (size_t t = 0; t < task->strip->count; t++)
        for (size_t p = panels.begin; p < panels.end; p++)
            winograd_transform_output(task, t, layout_panel(oc, p),
                                      task->sums + (p - panels.begin) * step);
}

/* Strips and rounds turn back where the one before ended: what it used last is in the cache. */
static void run_strip(struct task *task, struct span tiles, struct span panels)
{
    bool back = task->strips++ % 2;
    winograd_make_strip(task, tiles);
    winograd_transform_inputs(task);
    for (; panels.begin < panels.end; task->rounds++) {
        struct span some = round_of(task->run->plan, panels, back);
        run_round(task, some);
        *(back ? &panels.end : &panels.begin) = back ? some.begin : some.end;
    }
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

void winograd_run(const void *plan, const struct execution *execution)
{
    const struct convolution_winograd *mine = plan;
    if (mine->tiles == 0 || mine->panels == 0)
        return;
    struct run run = {.plan = mine, .execution = execution};
    winograd_divide(&run, parallel_pieces(execution->parallel, execution->threads));
    parallel_for_tiles(execution->parallel, (size_t)run.grid.tasks, execution->threads, run_rects,
                       &run);
}
