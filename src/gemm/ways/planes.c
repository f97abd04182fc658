/* Steps of the blocked multiplication with columns of A read in place. */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/ways.h"
#include "src/tensor/layout.h"

enum { LOWEST = GEMM_F32_PLANES_LOWEST, HIGHEST = 16 };

/* Rows of one panel: the strip is that of the first one. */
struct panel_run {
    struct gemm_f32_planes strip;
    const struct gemm_f32_planes_kernels *kernels;
    size_t valid; /* columns */
};

static void run_tiles(const struct panel_run *run, size_t row, size_t tiles, bool lowest)
{
    struct gemm_f32_planes strip = run->strip;
    size_t kind = strip.width / 4 - 1;
    strip.a += row;
    strip.c += row;
    strip.tiles = tiles;
    strip.height = lowest ? LOWEST : run->kernels->tiles[kind].height;
    (lowest ? run->kernels->tiles[kind].run_lowest : run->kernels->tiles[kind].run)(&strip);
}

/* At least LOWEST rows: high tiles, then low ones or one more high one. The last one overlaps the
 * ones before, and computes some elements once more. */
static void run_rows(const struct panel_run *run, size_t rows)
{
    size_t height = run->kernels->tiles[run->strip.width / 4 - 1].height;
    size_t tiles = rows / height, left = rows % height;
    if (tiles)
        run_tiles(run, 0, tiles, false);
    if (tiles && left > height - LOWEST) {
        run_tiles(run, rows - height, 1, false);
        return;
    }
    if (left / LOWEST)
        run_tiles(run, tiles * height, left / LOWEST, true);
    if (left % LOWEST)
        run_tiles(run, rows - LOWEST, 1, true);
}

/* A panel of which not all columns exist: some rows after the other on a copy of C. */
static void run_ragged(const struct panel_run *run, size_t rows)
{
    float copy[HIGHEST * LAYOUT_PANEL], bias[LAYOUT_PANEL] = {0};
    struct panel_run part = *run;
    float *c = run->strip.c;
    part.strip.c = copy;
    part.strip.ldc = HIGHEST;
    if (run->strip.bias) {
        memcpy(bias, run->strip.bias, run->valid * sizeof *bias);
        part.strip.bias = bias;
    }
    for (size_t row = 0; row < rows;) {
        row = min_size(row, rows - LOWEST);
        size_t count = min_size(rows - row, HIGHEST);
        part.strip.a = run->strip.a + row;
        run_rows(&part, count);
        for (size_t j = 0; j < run->valid; j++)
            memcpy(c + j * run->strip.ldc + row, copy + j * HIGHEST, count * sizeof *copy);
        row += count;
    }
}

static uint32_t clamp_of(const struct gemm_shape *shape)
{
    if (shape->output != GEMM_DIRECT)
        return 0;
    uint32_t low = shape->low > -INFINITY ? GEMM_F32_PLANES_LOW : 0;
    return low | (shape->high < INFINITY ? GEMM_F32_PLANES_HIGH : 0);
}

/* Rows [row, row + rows) of the step, one panel after the other. */
static void run_panels(const struct gemm_task *task, const struct gemm_step *step,
                       const struct gemm_block *block, struct panel_run *run, size_t row,
                       size_t rows)
{
    const float *a = run->strip.a, *bias = task->place.bias;
    for (size_t p = step->panels.begin; p < step->panels.end; p++) {
        struct layout_panel panel = gemm_plan_panel(task->plan, p);
        struct panel_run one = *run;
        one.valid = panel.valid;
        one.strip.width = (uint32_t)panel.width;
        one.strip.a = a + row;
        one.strip.b = gemm_step_panel(task, step, &panel);
        one.strip.c = block->values + (panel.first - step->column) * block->column_stride + row;
        one.strip.bias = bias ? bias + panel.first : NULL;
        (panel.valid == panel.width ? run_rows : run_ragged)(&one, rows);
    }
}

void gemm_way_run_planes(const struct gemm_task *task, const struct gemm_step *step,
                         const struct gemm_block *block)
{
    const struct gemm_plan *plan = task->plan;
    const struct gemm_shape *shape = &plan->shape;
    struct panel_run first = {
        .kernels = task->tiles->planes,
        .strip = {.a_step = shape->a_column,
                  .rounds = shape->k / 4,
                  .tail = shape->k % 4,
                  .ldc = block->column_stride,
                  .clamp = clamp_of(shape),
                  .low = shape->low,
                  .high = shape->high},
    };
    first.strip.a = gemm_step_row(task, step);
    for (size_t row = 0; row < step->rows;) {
        size_t left = step->rows - row, rows = plan->run_rows;
        rows = left < rows + LOWEST ? left : rows; /* none are too few for a tile */
        run_panels(task, step, block, &first, row, rows);
        row += rows;
    }
}
