/* The blocked f32 matrix multiplication: tasks, steps, tiles. */
#include "src/gemm/gemm_f32.h"

#include <math.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"
#include "src/weights/layout.h"

/* ---- rows of a tile ---- */

struct span gemm_f32_row_tile(size_t m, size_t index)
{
    size_t tiles = div_up(m, GEMM_F32_MR), rest = m % GEMM_F32_MR;
    bool shared = tiles >= 2 && rest >= 1 && rest <= 3;
    size_t begin = index * GEMM_F32_MR;
    if (!shared || index + 2 < tiles)
        return (struct span){begin, min_size(begin + GEMM_F32_MR, m)};
    size_t pair = (tiles - 2) * GEMM_F32_MR, half = pair + div_up(GEMM_F32_MR + rest, 2);
    return index + 2 == tiles ? (struct span){pair, half} : (struct span){half, m};
}

static struct span listed_tile(const struct gemm_f32 *plan, size_t t)
{
    size_t begin = t * plan->tall - (t > plan->tall_tiles ? t - plan->tall_tiles : 0);
    return (struct span){begin, begin + plan->tall - (t >= plan->tall_tiles)};
}

struct span gemm_f32_plan_tile(const struct gemm_f32 *plan, size_t t)
{
    return plan->listed ? listed_tile(plan, t) : gemm_f32_row_tile(plan->shape.m, t);
}

/* ---- one task ---- */

const float *gemm_step_row(const struct gemm_task *task, const struct gemm_step *step)
{
    const float *address[GEMM_F32_LIST] = {NULL};
    struct gemm_f32_list one = {.batch = task->batch,
                                .row = step->row,
                                .height = 1,
                                .tall = 1,
                                .first = step->k.begin,
                                .segments = 1,
                                .out = address};
    task->call->list_a(task->call->context, task->caller, &one);
    return address[0];
}

/* Where the sums of a step go. */
static struct gemm_f32_block block_of_c(const struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32_place *place = &task->place;
    const struct gemm_f32_shape *shape = &task->plan->shape;
    struct gemm_f32_block block = {
        .batch = task->batch,
        .row = step->row,
        .rows = step->rows,
        .column = step->column,
        .columns = step->columns,
    };
    if (shape->output == GEMM_STAGED) {
        block.values = task->stage;
        block.row_stride = shape->columns ? 1 : step->columns;
        block.column_stride = shape->columns ? step->rows : 1;
    } else {
        block.values = place->c + step->row * place->c_row + step->column * place->c_column;
        block.row_stride = place->c_row;
        block.column_stride = place->c_column;
    }
    return block;
}

/* All tiles of one panel. */
static void run_panel(const struct gemm_task *task, const struct gemm_step *step,
                      const struct gemm_f32_block *block, size_t p)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_shape *shape = &plan->shape;
    struct layout_panel panel = layout_panel(shape->n, p);
    size_t depth = step->k.end - step->k.begin;
    bool last = step->k.end == shape->k;
    struct gemm_f32_tile tile = {
        .k = depth,
        .b = gemm_step_panel(task, step, &panel),
        .row = block->row_stride,
        .col = block->column_stride,
        .n = panel.valid,
        .bias = last && task->place.bias ? task->place.bias + panel.first : NULL,
        .accumulate = step->k.begin > 0,
        .low = last && shape->output == GEMM_DIRECT ? shape->low : -INFINITY,
        .high = last && shape->output == GEMM_DIRECT ? shape->high : INFINITY,
    };
    gemm_f32_fn *const *by_height = task->tiles->run[panel.width / 4 - 1];
    float *c = block->values + (panel.first - step->column) * block->column_stride;
    for (size_t t = 0; t < div_up(step->rows, GEMM_F32_MR); t++) {
        struct span rows = gemm_f32_row_tile(step->rows, t);
        tile.m = rows.end - rows.begin;
        tile.a = task->a + rows.begin * depth;
        tile.c = c + rows.begin * block->row_stride;
        by_height[tile.m - 1](&tile);
    }
}

/* With rows packed. If the plan lists them, other threads may sum narrow panels in the order that
 * is theirs there, and so does this one. */
static void run_packed(const struct gemm_task *task, const struct gemm_step *step,
                       const struct gemm_f32_block *block)
{
    size_t end = step->panels.end;
    bool narrow = task->plan->listed && layout_panel(task->plan->shape.n, end - 1).valid < 4;
    gemm_step_pack_a(task, step);
    for (size_t p = step->panels.begin; p < end - narrow; p++)
        run_panel(task, step, block, p);
    if (narrow)
        gemm_step_run_listed(task, step, block, (struct span){end - 1, end});
}

static void run_step(struct gemm_task *task, const struct gemm_step *step)
{
    const struct gemm_f32_shape *shape = &task->plan->shape;
    if (!shape->b_packed)
        gemm_step_pack_b(task, step);
    struct gemm_f32_block block = block_of_c(task, step);
    if (task->plan->planes)
        gemm_step_run_planes(task, step, &block);
    else if (gemm_step_lists(task))
        gemm_step_run_listed(task, step, &block, step->panels);
    else
        run_packed(task, step, &block);
    if (step->k.end == shape->k && shape->output != GEMM_DIRECT)
        task->call->finish(task->call->context, &block);
}

static struct span block_span(struct span whole, size_t block, size_t index)
{
    size_t begin = whole.begin + index * block;
    return (struct span){begin, min_size(begin + block, whole.end)};
}

static size_t block_count(struct span whole, size_t block)
{
    return div_up(whole.end - whole.begin, block);
}

/* Number index of the blocks of k. */
static struct span k_span(const struct gemm_f32 *plan, size_t index)
{
    size_t unit = plan->k_unit, count = max_size(div_up(unit, plan->block_k), 1);
    size_t first = index / count * unit;
    return block_span((struct span){first, first + unit}, plan->block_k, index % count);
}

size_t gemm_f32_k_blocks(const struct gemm_f32 *plan)
{
    size_t unit = plan->k_unit;
    return unit ? plan->shape.k / unit * div_up(unit, plan->block_k) : 1;
}

static struct gemm_step make_step(const struct gemm_f32 *plan, struct span tiles,
                                  struct span panels, struct span k)
{
    size_t n = plan->shape.n;
    struct gemm_step step = {.tiles = tiles, .panels = panels, .k = k};
    struct layout_panel last = layout_panel(n, panels.end - 1);
    step.row = gemm_f32_plan_tile(plan, tiles.begin).begin;
    step.rows = gemm_f32_plan_tile(plan, tiles.end - 1).end - step.row;
    step.column = layout_panel(n, panels.begin).first;
    step.columns = last.first + last.valid - step.column;
    step.padded_column = layout_panel_offset(n, panels.begin);
    return step;
}

static void prepare_rows(const struct gemm_task *task, struct span tiles)
{
    if (!task->call->prepare_a)
        return;
    size_t begin = gemm_f32_plan_tile(task->plan, tiles.begin).begin;
    size_t end = gemm_f32_plan_tile(task->plan, tiles.end - 1).end;
    task->call->prepare_a(task->call->context, task->caller, task->batch, begin, end - begin);
}

/* The tiles and panels of one matrix that fall to a task. Sums that stay in the scratchpad must be
 * finished before the next block of rows begins; a block of B that is packed here is used for all
 * rows. */
static void run_matrix(struct gemm_task *task, struct span tiles, struct span panels)
{
    const struct gemm_f32 *plan = task->plan;
    size_t row_blocks = block_count(tiles, plan->block_tiles), k_blocks = gemm_f32_k_blocks(plan);
    bool k_inside = plan->k_inside;
    size_t inner = k_inside ? k_blocks : row_blocks, steps = row_blocks * k_blocks;
    task->packed_panel = SIZE_MAX;
    task->call->locate(task->call->context, task->batch, &task->place);
    prepare_rows(task, tiles);
    for (size_t pb = 0; pb < block_count(panels, plan->block_panels); pb++) {
        for (size_t s = 0; s < steps; s++) {
            size_t outer_index = s / inner, inner_index = s % inner;
            struct gemm_step step = make_step(
                plan, block_span(tiles, plan->block_tiles, k_inside ? outer_index : inner_index),
                block_span(panels, plan->block_panels, pb),
                k_span(plan, k_inside ? inner_index : outer_index));
            run_step(task, &step);
        }
    }
}

/* ---- all tasks ---- */

struct run {
    const struct gemm_f32 *plan;
    const struct gemm_f32_call *call;
    struct partition_grid grid;
    unsigned char *scratch;
    const struct parallel *parallel;
};

static void run_rect(struct gemm_task *task, struct partition_rect rect)
{
    size_t row_tiles = task->plan->row_tiles;
    for (size_t row = rect.rows.begin; row < rect.rows.end;) {
        size_t first = row % row_tiles;
        size_t end = min_size(first + (rect.rows.end - row), row_tiles);
        task->batch = row / row_tiles;
        run_matrix(task, (struct span){first, end}, rect.columns);
        row += end - first;
    }
}

static void run_rects(void *argument, struct span rects, int slot)
{
    const struct run *run = argument;
    const struct gemm_f32 *plan = run->plan;
    const struct gemm_f32_scratch *parts = &plan->scratch;
    unsigned char *scratch = run->scratch + (size_t)slot * parts->bytes;
    struct gemm_f32_tiles own;
    struct gemm_task task = {
        .plan = plan,
        .tiles = gemm_f32_tiles_here(&plan->tiles, &own, run->parallel),
        .call = run->call,
        .a = (float *)(void *)scratch,
        .list = (const float **)(void *)(scratch + parts->list),
        .b = (float *)(void *)(scratch + parts->b),
        .stage = (float *)(void *)(scratch + parts->stage),
        .caller = scratch + parts->caller,
    };
    struct partition_rect all = {{0, run->grid.rows}, {0, run->grid.columns}};
    for (size_t i = rects.begin; i < rects.end; i++)
        run_rect(&task, run->grid.tasks > 1 ? partition_rect(&run->grid, (int)i) : all);
}

/* One task's grid needs no search. */
static struct partition_grid split_tiles(const struct gemm_f32 *plan, size_t rows, int pieces)
{
    if (pieces == 1 || rows * plan->panels == 1)
        return (struct partition_grid){
            .rows = rows, .columns = plan->panels, .bands = 1, .tasks = 1};
    /* A tile does k × 24 multiply-accumulates; packing a row of tiles stores k × 8 values. */
    double k = (double)max_size(plan->shape.k, 1);
    struct partition_costs costs = {
        .tile = 24 * k, .row = 12 * k, .column = plan->shape.b_packed ? 0 : 16 * k};
    return partition_grid(rows, plan->panels, pieces, &costs);
}

void gemm_f32_run(const struct gemm_f32 *plan, const struct gemm_f32_call *call,
                  const struct parallel *parallel, int threads, void *scratch)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t rows = shape->batch * plan->row_tiles;
    if (rows == 0 || plan->panels == 0)
        return;
    int pieces = parallel_pieces(parallel, threads);
    struct run run = {plan, call, split_tiles(plan, rows, pieces), scratch, parallel};
    parallel_for_tiles(parallel, (size_t)run.grid.tasks, threads, run_rects, &run);
}
