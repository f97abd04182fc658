/* Winograd convolution: the products of a strip, and tasks of strips. */
#include <math.h>
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

static void multiply_panel(const struct task *task, struct layout_panel panel, size_t offset)
{
    const struct convolution_winograd *plan = task->run->plan;
    const struct strip *strip = task->strip;
    gemm_f32_fn *const *by_height = task->gemm->run[panel.width / 4 - 1];
    size_t ic = (size_t)plan->shape.ic;
    const float *weights = (const float *)task->run->execution->buffers[WEIGHTS] + offset * ic;
    struct gemm_f32_tile tile = {.k = ic,
                                 .row = GEMM_F32_NR,
                                 .col = 1,
                                 .n = panel.width,
                                 .low = -INFINITY,
                                 .high = INFINITY};
    for (size_t p = 0; p < plan->points * plan->points; p++) {
        size_t rows = strip->rows[p];
        tile.b = weights + p * plan->columns * ic;
        for (size_t i = 0; i < div_up(rows, GEMM_F32_MR); i++) {
            struct span span = gemm_f32_row_tile(rows, i);
            tile.m = span.end - span.begin;
            tile.a = task->inputs + (strip->first[p] + span.begin) * ic;
            tile.c = task->sums + (strip->first[p] + span.begin) * GEMM_F32_NR;
            by_height[tile.m - 1](&tile);
        }
    }
}

/* ---- all tasks ---- */

static void run_strip(const struct task *task, struct span tiles, struct span panels)
{
    size_t oc = (size_t)task->run->plan->shape.oc;
    winograd_make_strip(task, tiles);
    winograd_transform_inputs(task);
    for (size_t p = panels.begin; p < panels.end; p++) {
        struct layout_panel panel = layout_panel(oc, p);
        multiply_panel(task, panel, layout_panel_offset(oc, p));
        for (size_t t = 0; t < task->strip->count; t++)
            winograd_transform_output(task, t, panel);
    }
}

static void run_rect(const struct task *task, struct partition_rect rect)
{
    const struct convolution_winograd *plan = task->run->plan;
    for (size_t s = rect.rows.begin; s < rect.rows.end; s++) {
        struct span tiles = {s * plan->strip, min_size((s + 1) * plan->strip, plan->tiles)};
        run_strip(task, tiles, rect.columns);
    }
}

static void run_rects(void *argument, struct span rects, int slot)
{
    const struct run *run = argument;
    struct task task = task_of(run, slot);
    struct gemm_f32_tiles own;
    task.gemm = gemm_f32_tiles_here(&run->plan->gemm, &own, run->execution->parallel);
    for (size_t i = rects.begin; i < rects.end; i++)
        run_rect(&task, partition_rect(&run->grid, (int)i));
}

void winograd_run(const void *plan, const struct execution *execution)
{
    const struct convolution_winograd *mine = plan;
    if (mine->tiles == 0 || mine->panels == 0)
        return;
    /* A strip's rows are transformed again by every task that has some of its panels. */
    struct partition_costs costs = {.tile = (double)mine->strip * (double)GEMM_F32_NR,
                                    .row = 6 * (double)mine->strip};
    size_t strips = div_up(mine->tiles, mine->strip);
    int pieces = parallel_pieces(execution->parallel, execution->threads);
    struct run run = {mine, execution, partition_grid(strips, mine->panels, pieces, &costs)};
    parallel_for_tiles(execution->parallel, (size_t)run.grid.tasks, execution->threads, run_rects,
                       &run);
}
