/* The blocked f32 matrix multiplication: blocks, tasks, tiles. */
#include "src/gemm/gemm_f32.h"

#include <math.h>

#include "src/core/checked.h"
#include "src/weights/layout.h"

_Static_assert((int)LAYOUT_PANEL == (int)GEMM_F32_NR, "the layout's panels are the kernels'");

enum {
    SCRATCH_UNIT = 128, /* bytes: parts of the scratchpad do not share cache lines */
    MAX_BLOCK_TILES = 64,
    MAX_BLOCK_PANELS = 80,
    MIN_BLOCK_K = 64,
    MAX_BLOCK_K = 512,
};

/* ---- plan ---- */

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

/* Blocks as equal as possible, of at most max each. */
static size_t even_block(size_t count, size_t max)
{
    return count == SIZE_MAX ? max : div_up(max_size(count, 1), div_up(max_size(count, 1), max));
}

/* A tile's panels of A and B take five eighths of the L1 cache; a block of A half of the L2 cache.
 * Every block is at most as large as that of a problem whose sizes are not known. */
static void choose_blocks(struct gemm_f32 *plan, const struct cpu *cpu)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t tile_bytes = (GEMM_F32_MR + GEMM_F32_NR) * sizeof(float);
    size_t k = min_size(max_size(cpu->l1_bytes * 5 / 8 / tile_bytes, MIN_BLOCK_K), MAX_BLOCK_K);
    plan->block_k = even_block(shape->k, k);
    size_t row_bytes = GEMM_F32_MR * k * sizeof(float);
    size_t tiles = min_size(max_size(cpu->l2_bytes / 2 / row_bytes, 1), MAX_BLOCK_TILES);
    plan->block_tiles = even_block(plan->row_tiles, tiles);
    bool whole_rows = shape->b_packed && shape->output != GEMM_STAGED && plan->panels != SIZE_MAX;
    plan->block_panels =
        whole_rows ? max_size(plan->panels, 1) : even_block(plan->panels, MAX_BLOCK_PANELS);
    plan->block_columns = plan->block_panels * LAYOUT_PANEL;
}

/* ---- scratchpad: for each task a block of A, a block of B, staged sums, the caller's part ---- */

static size_t floats(size_t count)
{
    return round_up(count * sizeof(float), SCRATCH_UNIT);
}

static void divide_scratch(struct gemm_f32 *plan)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    struct gemm_f32_scratch *parts = &plan->scratch;
    size_t rows = plan->block_tiles * GEMM_F32_MR;
    parts->b = floats(rows * plan->block_k);
    parts->stage = parts->b + (shape->b_packed ? 0 : floats(plan->block_columns * plan->block_k));
    parts->caller =
        parts->stage + (shape->output == GEMM_STAGED ? floats(rows * plan->block_columns) : 0);
    parts->bytes = parts->caller + round_up(shape->task_scratch_bytes, SCRATCH_UNIT);
}

size_t gemm_f32_scratch_bytes(const struct gemm_f32 *plan, int threads)
{
    return plan->scratch.bytes * (size_t)threads;
}

void gemm_f32_plan(struct gemm_f32 *plan, const struct gemm_f32_shape *shape, const struct cpu *cpu)
{
    *plan = (struct gemm_f32){.shape = *shape};
    plan->row_tiles = shape->m == SIZE_MAX ? SIZE_MAX : div_up(shape->m, GEMM_F32_MR);
    plan->panels = shape->n == SIZE_MAX ? SIZE_MAX : layout_panel_count(shape->n);
    choose_blocks(plan, cpu);
    divide_scratch(plan);
    plan->pack = pack_f32_find(cpu->features)->pack;
    gemm_f32_tiles_init(&plan->tiles, cpu, shape->columns);
    plan->kernel = gemm_f32_find_for(cpu, GEMM_F32_MR, GEMM_F32_NR, shape->columns)->name;
}

/* ---- one task ---- */

struct task {
    const struct gemm_f32 *plan;
    const struct gemm_f32_tiles *tiles;
    const struct gemm_f32_call *call;
    float *a, *b, *stage;
    void *caller;
    size_t batch;
    struct gemm_f32_place place;
    size_t packed_panel, packed_k; /* which block b holds; SIZE_MAX: none */
};

/* One step of the loops: tiles × panels × a range of k. */
struct step {
    struct span tiles, panels, k;
    size_t row, rows, column, columns; /* the same in elements */
    size_t padded_column;              /* before the first panel, with padding */
};

static void pack_block_a(const struct task *task, const struct step *step)
{
    size_t depth = step->k.end - step->k.begin;
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++) {
        struct span rows = gemm_f32_row_tile(task->plan->shape.m, t);
        task->call->pack_a(task->call->context, task->caller, task->batch, rows.begin,
                           rows.end - rows.begin, step->k.begin, depth,
                           task->a + (rows.begin - step->row) * depth);
    }
}

/* Packs the step's panels of a plain B, unless they are there from the step before. */
static void pack_block_b(struct task *task, const struct step *step)
{
    if (task->packed_panel == step->panels.begin && task->packed_k == step->k.begin)
        return;
    size_t n = task->plan->shape.n, depth = step->k.end - step->k.begin;
    for (size_t p = step->panels.begin; p < step->panels.end; p++) {
        struct layout_panel panel = layout_panel(n, p);
        task->call->pack_b(task->call->context, task->batch, panel.first, panel.valid, panel.width,
                           step->k.begin, depth,
                           task->b + (layout_panel_offset(n, p) - step->padded_column) * depth);
    }
    task->packed_panel = step->panels.begin;
    task->packed_k = step->k.begin;
}

static const float *panel_of_b(const struct task *task, const struct step *step, size_t p,
                               size_t width)
{
    const struct gemm_f32_shape *shape = &task->plan->shape;
    size_t offset = layout_panel_offset(shape->n, p);
    return shape->b_packed
               ? task->place.b + offset * shape->k + step->k.begin * width
               : task->b + (offset - step->padded_column) * (step->k.end - step->k.begin);
}

/* Where the sums of a step go. */
static struct gemm_f32_block block_of_c(const struct task *task, const struct step *step)
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
static void run_panel(const struct task *task, const struct step *step,
                      const struct gemm_f32_block *block, size_t p)
{
    const struct gemm_f32 *plan = task->plan;
    const struct gemm_f32_shape *shape = &plan->shape;
    struct layout_panel panel = layout_panel(shape->n, p);
    size_t depth = step->k.end - step->k.begin;
    bool last = step->k.end == shape->k;
    struct gemm_f32_tile tile = {
        .k = depth,
        .b = panel_of_b(task, step, p, panel.width),
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
    for (size_t t = step->tiles.begin; t < step->tiles.end; t++) {
        struct span rows = gemm_f32_row_tile(shape->m, t);
        tile.m = rows.end - rows.begin;
        tile.a = task->a + (rows.begin - step->row) * depth;
        tile.c = c + (rows.begin - step->row) * block->row_stride;
        by_height[tile.m - 1](&tile);
    }
}

static void run_step(struct task *task, const struct step *step)
{
    const struct gemm_f32_shape *shape = &task->plan->shape;
    if (!shape->b_packed)
        pack_block_b(task, step);
    pack_block_a(task, step);
    struct gemm_f32_block block = block_of_c(task, step);
    for (size_t p = step->panels.begin; p < step->panels.end; p++)
        run_panel(task, step, &block, p);
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

static struct step make_step(const struct gemm_f32 *plan, struct span tiles, struct span panels,
                             struct span k)
{
    size_t m = plan->shape.m, n = plan->shape.n;
    struct step step = {.tiles = tiles, .panels = panels, .k = k};
    struct layout_panel last = layout_panel(n, panels.end - 1);
    step.row = gemm_f32_row_tile(m, tiles.begin).begin;
    step.rows = gemm_f32_row_tile(m, tiles.end - 1).end - step.row;
    step.column = layout_panel(n, panels.begin).first;
    step.columns = last.first + last.valid - step.column;
    step.padded_column = layout_panel_offset(n, panels.begin);
    return step;
}

/* The tiles and panels of one matrix that fall to a task. Sums that stay in the scratchpad must be
 * finished before the next block of rows begins; else a packed block of B is used for all rows. */
static void run_matrix(struct task *task, struct span tiles, struct span panels)
{
    const struct gemm_f32 *plan = task->plan;
    struct span all_k = {0, plan->shape.k};
    size_t row_blocks = block_count(tiles, plan->block_tiles);
    size_t k_blocks = max_size(block_count(all_k, plan->block_k), 1);
    bool k_inside = plan->shape.output == GEMM_STAGED;
    size_t inner = k_inside ? k_blocks : row_blocks, steps = row_blocks * k_blocks;
    task->packed_panel = SIZE_MAX;
    task->call->locate(task->call->context, task->batch, &task->place);
    for (size_t pb = 0; pb < block_count(panels, plan->block_panels); pb++) {
        for (size_t s = 0; s < steps; s++) {
            size_t outer_index = s / inner, inner_index = s % inner;
            struct step step = make_step(
                plan, block_span(tiles, plan->block_tiles, k_inside ? outer_index : inner_index),
                block_span(panels, plan->block_panels, pb),
                block_span(all_k, plan->block_k, k_inside ? inner_index : outer_index));
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

static void run_rect(struct task *task, struct partition_rect rect)
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
    struct task task = {
        .plan = plan,
        .tiles = gemm_f32_tiles_here(&plan->tiles, &own, run->parallel),
        .call = run->call,
        .a = (float *)(void *)scratch,
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

double gemm_f32_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                         bool b_packed)
{
    double per_cycle = 4.0 * fmax(cpu->core->fmla_per_cycle, 1);
    const double mr = GEMM_F32_MR,
                 nr = GEMM_F32_NR; /* clang: no enumeration among floating-point operands */
    double tiles = ceil(m / mr) * ceil(n / nr);
    double compute = ceil(m / mr) * mr * ceil(n / 4) * 4 * k / per_cycle;
    double packing = (m * k + (b_packed ? 0 : n * k)) / 2;
    return 200 + batch * (1.05 * compute + packing + 30 * tiles);
}
