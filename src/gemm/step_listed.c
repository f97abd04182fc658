/* Steps of the blocked multiplication with rows of A read in place. */
#include <math.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"

enum { HEIGHT = GEMM_F32_LISTED_HEIGHT, LIST = GEMM_F32_LIST };

/* ---- rows of A ---- */

/* Rows that would fall on the same few places of the L1 cache are copied next to each other. */
static void copy_rows(const float **list, size_t rows, size_t depth, float *to)
{
    for (size_t i = 0; i < rows; i++, to += depth) {
        memcpy(to, list[i], depth * sizeof *to);
        list[i] = to;
    }
}

/* The values of k that one segment has in this step. */
static size_t depth_of(const struct gemm_f32 *plan, const struct gemm_step *step)
{
    return min_size(step->k.end - step->k.begin, plan->shape.segment);
}

/* Rows of one segment at equal distances. Addresses of rows that do not exist are numbers only. */
static void list_regular(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = task->list, *first;
    uintptr_t stride = plan->shape.a_stride * sizeof(float);
    task->call->list_a(task->call->context, task->batch, step->row, 1, step->k.begin, 1, &first);
    uintptr_t row = (uintptr_t)first;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++, list += LIST) {
#pragma GCC unroll 7
        for (size_t i = 0; i < HEIGHT; i++)
            list[i] = (const float *)(row + i * stride);
        row += (plan->tall - (t >= plan->tall_tiles)) * stride;
    }
}

static void list_rows(const struct gemm_task *task, const struct gemm_step *step, size_t segments)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = task->list;
    if (plan->shape.a_is_regular) {
        list_regular(task, step);
        return;
    }
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++, list += segments * LIST) {
        struct span rows = gemm_f32_plan_tile(plan, t);
        task->call->list_a(task->call->context, task->batch, rows.begin, rows.end - rows.begin,
                           step->k.begin, segments, list);
    }
}

static void copy_listed(const struct gemm_task *task, const struct gemm_step *step, size_t segments,
                        size_t depth)
{
    const struct gemm_f32 *plan = task->plan;
    const float **list = task->list;
    float *copy = task->a;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++) {
        size_t rows = plan->tall - (t >= plan->tall_tiles);
        for (size_t s = 0; s < segments; s++, list += LIST, copy += rows * depth)
            copy_rows(list, rows, depth, copy);
    }
}

/* ---- strips ---- */

/* A strip as its kernel wants it, and the kernels for the two heights of tiles. */
struct panels_run {
    struct gemm_f32_listed strip;
    size_t first, valid; /* columns of the first panel */
    size_t tall_tiles;   /* of this step: the others are one row lower */
    size_t low_tiles, tall;
};

static gemm_f32_listed_fn *kernel_of(const struct gemm_task *task, size_t height, size_t width)
{
    return gemm_f32_listed_run(task->tiles->listed, height, width);
}

/* The first tile of full panels of plain weights, which it packs for the tiles below. */
static void pack_panels(const struct gemm_task *task, const struct gemm_step *step,
                        struct panels_run *run, const struct layout_panel *panel)
{
    struct gemm_f32_listed strip = run->strip;
    size_t *tiles = run->tall_tiles ? &run->tall_tiles : &run->low_tiles;
    size_t height = run->tall - (run->tall_tiles == 0), b_row = task->plan->shape.b_row;
    strip.tiles = 1;
    strip.height = (uint32_t)height;
    strip.from = task->place.b + step->k.begin * b_row + panel->first;
    strip.from_row = b_row;
    strip.to = gemm_step_own_panel(task, step, panel);
    task->tiles->listed->pack[height - 1](&strip);
    run->strip.rows += strip.segments * LIST;
    run->strip.c += height * strip.ldc;
    --*tiles;
}

static void run_tiles(const struct gemm_task *task, const struct panels_run *run)
{
    struct gemm_f32_listed strip = run->strip;
    strip.tiles = run->tall_tiles;
    strip.height = (uint32_t)run->tall;
    if (strip.tiles)
        kernel_of(task, run->tall, strip.width)(&strip);
    if (!run->low_tiles)
        return;
    strip.rows += run->tall_tiles * strip.segments * LIST;
    strip.c += run->tall_tiles * run->tall * strip.ldc;
    strip.tiles = run->low_tiles;
    strip.height = (uint32_t)run->tall - 1;
    kernel_of(task, run->tall - 1, strip.width)(&strip);
}

static void copy_block(float *to, size_t to_row, const float *from, size_t from_row, size_t rows,
                       size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[i * to_row + j] = from[i * from_row + j];
}

/* A panel of which not all columns exist: tile by tile on a copy of C. */
static void run_ragged(const struct gemm_task *task, const struct panels_run *run)
{
    float copy[HEIGHT * LAYOUT_PANEL] = {0}, bias[LAYOUT_PANEL] = {0};
    struct panels_run one = *run;
    one.strip.c = copy;
    one.strip.ldc = LAYOUT_PANEL;
    if (run->strip.bias) {
        memcpy(bias, run->strip.bias, run->valid * sizeof *bias);
        one.strip.bias = bias;
    }
    float *c = run->strip.c;
    for (size_t t = 0; t < run->tall_tiles + run->low_tiles; t++) {
        size_t rows = run->tall - (t >= run->tall_tiles);
        one.tall_tiles = t < run->tall_tiles;
        one.low_tiles = !one.tall_tiles;
        if (run->strip.accumulate)
            copy_block(copy, LAYOUT_PANEL, c, run->strip.ldc, rows, run->valid);
        run_tiles(task, &one);
        copy_block(c, run->strip.ldc, copy, LAYOUT_PANEL, rows, run->valid);
        one.strip.rows += one.strip.segments * LIST;
        c += rows * run->strip.ldc;
    }
}

/* How many panels of one width follow each other from p on: full ones as far as they stay in the L1
 * cache together with a tile's rows of A, or the two of 8 columns that few columns end in. */
static size_t group_of(const struct gemm_f32 *plan, struct span panels, size_t p)
{
    size_t end = min_size(plan->full_panels, panels.end), n = plan->shape.n;
    if (p < end)
        return min_size(end - p, plan->group_panels);
    return p + 1 < panels.end && layout_panel(n, p).width == layout_panel(n, p + 1).valid ? 2 : 1;
}

static struct layout_panel panel_of(const struct gemm_f32 *plan, size_t p)
{
    if (p < plan->full_panels)
        return (struct layout_panel){p * LAYOUT_PANEL, LAYOUT_PANEL, LAYOUT_PANEL};
    return layout_panel(plan->shape.n, p);
}

static void run_panels(const struct gemm_task *task, const struct gemm_step *step,
                       const struct panels_run *all, const struct gemm_f32_block *block, size_t p,
                       size_t count)
{
    const struct gemm_f32_shape *shape = &task->plan->shape;
    struct layout_panel panel = panel_of(task->plan, p);
    bool narrow = panel.valid < 4, last = step->k.end == shape->k;
    struct panels_run run = *all;
    run.valid = panel.valid;
    run.strip.width = (uint32_t)(narrow ? panel.valid : panel.width);
    run.strip.panels = count;
    run.strip.b = gemm_step_panel(task, step, &panel);
    run.strip.b_step = gemm_step_panel_stride(task, step, panel.width);
    run.strip.c = block->values + (panel.first - step->column);
    run.strip.bias = last && task->place.bias ? task->place.bias + panel.first : NULL;
    if (task->packs && p < task->plan->full_panels)
        pack_panels(task, step, &run, &panel);
    if (narrow || panel.valid == panel.width)
        run_tiles(task, &run);
    else
        run_ragged(task, &run);
}

static uint32_t clamp_of(const struct gemm_f32_shape *shape)
{
    uint32_t low = shape->low > -INFINITY ? GEMM_F32_LOW : 0;
    return low | (shape->high < INFINITY ? GEMM_F32_HIGH : 0);
}

void gemm_step_run_listed(const struct gemm_task *task, const struct gemm_step *step,
                          const struct gemm_f32_block *block, struct span panels)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t depth = depth_of(plan, step);
    size_t segments = depth ? (step->k.end - step->k.begin) / depth : 1;
    bool clamps = step->k.end == shape->k && shape->output == GEMM_DIRECT;
    struct panels_run run = {
        .strip = {.rows = task->list,
                  .segments = segments,
                  .rounds = depth / 4,
                  .tail = depth % 4,
                  .ldc = block->row_stride,
                  .accumulate = step->k.begin > 0,
                  .clamp = clamps ? clamp_of(shape) : 0,
                  .low = shape->low,
                  .high = shape->high},
        .tall = plan->tall,
    };
    size_t boundary = max_size(min_size(plan->tall_tiles, step->tiles.end), step->tiles.begin);
    run.tall_tiles = boundary - step->tiles.begin;
    run.low_tiles = step->tiles.end - boundary;
    list_rows(task, step, segments);
    if (plan->copies)
        copy_listed(task, step, segments, depth);
    for (size_t p = panels.begin; p < panels.end;) {
        size_t count = group_of(plan, panels, p);
        run_panels(task, step, &run, block, p, count);
        p += count;
    }
}
