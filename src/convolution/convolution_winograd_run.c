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

/* Panels of one width. Sums of a panel are `step` elements. */
static void multiply(const struct task *task, struct span panels, size_t step)
{
    const struct convolution_winograd *plan = task->run->plan;
    size_t ic = (size_t)plan->shape.ic, oc = (size_t)plan->shape.oc;
    size_t width = layout_panel(oc, panels.begin).width;
    plan->kernel->products[width / 4 - 1](&(struct winograd_f32_products){
        .k = ic,
        .a = task->inputs,
        .b = (const float *)task->run->execution->buffers[WEIGHTS] +
             layout_panel_offset(oc, panels.begin) * ic,
        .point = plan->point,
        .c = task->sums,
        .panel = step,
        .panels = panels.end - panels.begin,
        .heights = task->strip->heights,
    });
}

/* As many panels as are multiplied at a time, from one on. */
static struct span panels_of_one_width(const struct convolution_winograd *plan, struct span panels)
{
    size_t oc = (size_t)plan->shape.oc, width = layout_panel(oc, panels.begin).width;
    struct span span = {panels.begin, panels.begin + 1};
    while (span.end < panels.end && span.end - span.begin < plan->most_panels &&
           layout_panel(oc, span.end).width == width)
        span.end++;
    return span;
}

/* ---- all tasks ---- */

static void run_panels(const struct task *task, struct span panels)
{
    size_t oc = (size_t)task->run->plan->shape.oc;
    size_t step = task->strip->rows * WINOGRAD_F32_NR;
    multiply(task, panels, step);
    for (size_t t = 0; t < task->strip->count; t++)
        for (size_t p = panels.begin; p < panels.end; p++)
            winograd_transform_output(task, t, layout_panel(oc, p),
                                      task->sums + (p - panels.begin) * step);
}

static void run_strip(const struct task *task, struct span tiles, struct span panels)
{
    winograd_make_strip(task, tiles);
    winograd_transform_inputs(task);
    while (panels.begin < panels.end) {
        struct span some = panels_of_one_width(task->run->plan, panels);
        run_panels(task, some);
        panels.begin = some.end;
    }
}

static void run_rect(const struct task *task, struct partition_rect rect)
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
