/* The blocked f32 matrix multiplication: blocks, tasks, tiles. */
#include "src/gemm/gemm_f32.h"

#include <math.h>

#include "src/core/checked.h"
#include "src/gemm/step.h"
#include "src/weights/layout.h"

_Static_assert((int)LAYOUT_PANEL == (int)GEMM_F32_NR, "the layout's panels are the kernels'");

enum {
    SCRATCH_UNIT = 128, /* bytes: parts of the scratchpad do not share cache lines */
    MAX_BLOCK_TILES = 64,
    MAX_LISTED_TILES = 256,
    MAX_BLOCK_PANELS = 80,
    MIN_BLOCK_K = 64,
    MAX_BLOCK_K = 512,
    BLOCK_K_UNIT = 8, /* two rounds of the kernels */
    FEW_K = 256,
    IN_ORDER_BLOCK_K = 256, /* what most_k() finds for cores that issue in order, about */
    FEW_COLUMNS = 64,
    L1_WAYS = 4,
    CHUNK_PRODUCTS = 160000, /* at least */
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

/* Listed tiles are as equal as they can be. */
static void choose_tall(struct gemm_f32 *plan)
{
    size_t m = plan->shape.m, tiles = max_size(plan->row_tiles, 1);
    plan->tall = div_up(m, tiles);
    plan->tall_tiles = tiles - (tiles * plan->tall - m);
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

/* Blocks as equal as possible, of at most max each. */
static size_t even_block(size_t count, size_t max)
{
    return count == SIZE_MAX ? max : div_up(max_size(count, 1), div_up(max_size(count, 1), max));
}

/* The most values of k that a block has. Packed rows: a tile's panels of A and B take five eighths
 * of the L1 cache. Listed rows: a tile's rows and two panels of B take three quarters; but where
 * that leaves few values, one panel does for them, too. */
static size_t most_k(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    size_t values = cpu->l1_bytes / sizeof(float);
    size_t most = values * 5 / 8 / (GEMM_F32_MR + GEMM_F32_NR);
    if (plan->listed)
        most = max_size(values * 3 / 4 / (GEMM_F32_LISTED_HEIGHT + 2 * GEMM_F32_NR),
                        min_size(most, FEW_K));
    return min_size(max_size(most, MIN_BLOCK_K), MAX_BLOCK_K) / BLOCK_K_UNIT * BLOCK_K_UNIT;
}

/* Blocks of k are a part of a segment or some segments. */
static void choose_block_k(struct gemm_f32 *plan, size_t most)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t segment = plan->listed ? shape->segment : shape->k;
    plan->k_unit = shape->k;
    if (segment == shape->k || segment > most) {
        size_t block = even_block(segment, most);
        plan->k_unit = segment;
        plan->block_k = plan->listed ? round_up(block, BLOCK_K_UNIT) : block;
    } else {
        plan->block_k = even_block(shape->k / segment, most / segment) * segment;
    }
}

/* Rows whose addresses differ by a multiple of a large power of two share few places in the L1
 * cache. More than two of them in one place would drive each other and B out. */
static bool rows_collide(size_t a_stride, const struct cpu *cpu)
{
    size_t bytes = a_stride * sizeof(float), way = cpu->l1_bytes / L1_WAYS;
    size_t apart = min_size(bytes & (~bytes + 1), way);
    return apart && 2 * (way / apart) < GEMM_F32_LISTED_HEIGHT;
}

static bool is_unknown(const struct gemm_f32_shape *shape)
{
    return shape->m == SIZE_MAX || shape->n == SIZE_MAX || shape->k == SIZE_MAX ||
           shape->a_stride == SIZE_MAX;
}

/* Can columns of A be read in place? All of k must be one block, and few rows fall into two tiles.
 * Columns whose addresses differ by a multiple of a large power of two share few places in the L1
 * cache; more of them in one place than it holds would drive each other out before the next panel.
 */
static bool reads_planes(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    enum { FEW = 32 }; /* one of so many */
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t bytes = shape->a_column * sizeof(float), way = cpu->l1_bytes / L1_WAYS;
    size_t apart = bytes & (~bytes + 1), places = way / max_size(min_size(apart, way), 1);
    if (!bytes || !shape->columns || is_unknown(shape) || shape->m < GEMM_F32_PLANES_LOWEST)
        return false;
    size_t twice = round_up(shape->m, GEMM_F32_PLANES_LOWEST) - shape->m;
    return twice * FEW <= shape->m && shape->k <= min_size(most_k(plan, cpu), places * L1_WAYS);
}

/* Whole tiles of every height, at least one. */
static size_t choose_run_rows(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    enum { UNIT = 48 };
    size_t values = cpu->l1_bytes / sizeof(float) * 3 / 4 / max_size(plan->shape.k, 1);
    size_t rows = values > GEMM_F32_NR ? values - GEMM_F32_NR : 0;
    return max_size(rows / UNIT, 1) * UNIT;
}

/* How many full panels a tile's rows are used for before the next tile comes: with them, a block of
 * rows fills three quarters of the L1 cache. */
static size_t choose_group(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    size_t values = cpu->l1_bytes / sizeof(float) * 3 / 4;
    size_t rows = GEMM_F32_LISTED_HEIGHT * plan->block_k;
    return values > rows ? max_size((values - rows) / (GEMM_F32_NR * max_size(plan->block_k, 1)), 1)
                         : 1;
}

/* Do all panels come together? They may be none but the two that few columns end in. */
static bool is_one_group(const struct gemm_f32 *plan)
{
    bool are_full = plan->full_panels == plan->panels;
    return are_full ? plan->panels <= plan->group_panels
                    : plan->full_panels == 0 && plan->panels <= 2;
}

/* Where all panels stay in the L1 cache, but come in groups for their widths, rows of A and C stay
 * there too while one group after the other comes for them. Each takes some sixty cycles. */
static size_t choose_chunk(const struct gemm_f32 *plan, const struct cpu *cpu)
{
    size_t values = cpu->l1_bytes / sizeof(float) * 7 / 8, all = SIZE_MAX / 2;
    size_t n = plan->block_columns, k = plan->block_k;
    if (is_one_group(plan) || n > values || k * n >= values)
        return all;
    size_t tiles = (values - k * n) / (plan->tile_rows * (k + n));
    return tiles * plan->tile_rows * k * n >= CHUNK_PRODUCTS ? tiles : all;
}

/* A block of A takes half of the L2 cache. If that is all rows, only as much of a plain B is packed
 * at a time as stays in the L1 cache until they have used it; but rows that are copied would be
 * copied for each part of B. Every block is at most as large as that of a problem whose sizes are
 * not known. */
static void choose_blocks(struct gemm_f32 *plan, const struct cpu *cpu)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    size_t k = most_k(plan, cpu);
    choose_block_k(plan, k);
    bool short_rows = plan->listed && shape->output != GEMM_STAGED && !is_unknown(shape);
    size_t row_bytes = plan->tile_rows * (short_rows ? plan->block_k : k) * sizeof(float);
    size_t most_tiles = short_rows ? MAX_LISTED_TILES : MAX_BLOCK_TILES;
    size_t tiles = min_size(max_size(cpu->l2_bytes / 2 / row_bytes, 1), most_tiles);
    plan->block_tiles = even_block(plan->row_tiles, tiles);
    bool whole_rows = shape->b_packed && shape->output != GEMM_STAGED && plan->panels != SIZE_MAX;
    plan->group_panels = choose_group(plan, cpu);
    size_t most_panels = MAX_BLOCK_PANELS;
    bool one_block = plan->block_tiles == plan->row_tiles && !plan->copies;
    if (short_rows && !shape->b_packed && one_block)
        most_panels = min_size(plan->group_panels, most_panels);
    plan->block_panels =
        whole_rows ? max_size(plan->panels, 1) : even_block(plan->panels, most_panels);
    plan->k_inside = shape->output == GEMM_STAGED;
    if (whole_rows && short_rows)
        gemm_f32_choose_order(plan, cpu);
    plan->block_columns = plan->block_panels * LAYOUT_PANEL;
    plan->chunk_tiles = choose_chunk(plan, cpu);
}

/* ---- scratchpad: for each task a block of A, a block of B, staged sums, the caller's part ---- */

static size_t floats(size_t count)
{
    return round_up(count * sizeof(float), SCRATCH_UNIT);
}

/* The lists of a block of rows; of one whose sizes are not known, too. */
static size_t list_bytes(const struct gemm_f32 *plan)
{
    size_t segment = plan->shape.segment, each = GEMM_F32_LIST * sizeof(float *);
    if (!segment)
        return 0;
    return plan->block_tiles * each * (segment < plan->block_k ? plan->block_k / segment : 1);
}

static void divide_scratch(struct gemm_f32 *plan)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    struct gemm_f32_scratch *parts = &plan->scratch;
    size_t rows = plan->block_tiles * plan->tile_rows;
    parts->list = plan->planes ? 0 : floats(rows * plan->block_k);
    parts->b = parts->list + round_up(list_bytes(plan), SCRATCH_UNIT);
    parts->stage = parts->b + (shape->b_packed ? 0 : floats(plan->block_columns * plan->block_k));
    parts->caller =
        parts->stage + (shape->output == GEMM_STAGED ? floats(rows * plan->block_columns) : 0);
    parts->bytes = parts->caller + round_up(shape->task_scratch_bytes, SCRATCH_UNIT);
}

size_t gemm_f32_scratch_bytes(const struct gemm_f32 *plan, int threads)
{
    return plan->scratch.bytes * (size_t)threads;
}

bool gemm_f32_lists(const struct cpu *cpu, double n)
{
    return cpu->core->in_order != IN_ORDER_NARROW || n <= (double)FEW_COLUMNS / 2;
}

/* Rows that would drive each other out of the L1 cache are copied. Where columns are few that costs
 * more than lower tiles do, of so many rows as one place of the cache has room for. */
static bool lower_tiles_pay(const struct cpu *cpu, double n)
{
    return cpu->core->in_order && n <= (double)FEW_COLUMNS;
}

static void choose_rows(struct gemm_f32 *plan, const struct cpu *cpu)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    bool unknown = is_unknown(shape), collide = unknown || rows_collide(shape->a_stride, cpu);
    bool low = plan->listed && collide && !unknown && lower_tiles_pay(cpu, (double)shape->n);
    plan->copies = plan->listed && collide && !low;
    plan->tile_rows = low ? L1_WAYS : plan->listed ? plan->listed->height : GEMM_F32_MR;
}

static void plan_by(struct gemm_f32 *plan, const struct cpu *cpu)
{
    const struct gemm_f32_shape *shape = &plan->shape;
    choose_rows(plan, cpu);
    plan->row_tiles = shape->m == SIZE_MAX ? SIZE_MAX : div_up(shape->m, plan->tile_rows);
    plan->panels = shape->n == SIZE_MAX ? SIZE_MAX : layout_panel_count(shape->n);
    if (shape->m != SIZE_MAX)
        choose_tall(plan);
    plan->full_panels = shape->n == SIZE_MAX ? 0 : layout_full_panels(shape->n);
    choose_blocks(plan, cpu);
    divide_scratch(plan);
}

void gemm_f32_plan(struct gemm_f32 *plan, const struct gemm_f32_shape *shape, const struct cpu *cpu)
{
    *plan = (struct gemm_f32){.shape = *shape};
    if (shape->segment && (shape->n == SIZE_MAX || gemm_f32_lists(cpu, (double)shape->n)))
        plan->listed = gemm_f32_listed_find(cpu->features, cpu->core->in_order);
    if (reads_planes(plan, cpu)) {
        plan->planes = gemm_f32_planes_find(cpu->features, cpu->core->in_order);
        plan->run_rows = choose_run_rows(plan, cpu);
    }
    plan_by(plan, cpu);
    if (plan->listed && is_unknown(shape)) { /* the scratchpad is enough for both ways */
        struct gemm_f32 packed = {.shape = *shape};
        plan_by(&packed, cpu);
        plan->scratch.bytes = max_size(plan->scratch.bytes, packed.scratch.bytes);
    }
    plan->pack = pack_f32_find(cpu->features)->pack;
    gemm_f32_tiles_init(&plan->tiles, cpu, shape->columns);
    plan->kernel = plan->planes ? plan->planes->name
                   : plan->listed
                       ? plan->listed->name
                       : gemm_f32_find_for(cpu, GEMM_F32_MR, GEMM_F32_NR, shape->columns)->name;
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

/* Cycles of a tile for one step of k: multiply-adds, the chain of a sum, loads; and the
 * instructions around them, which matter less. */
static double step_cycles(const struct core *core, double height, double vectors)
{
    double loads = (height / 4 + vectors) / fmax(core->loads_per_cycle, 1);
    double sums = fmax(height * vectors / fmax(core->fmla_per_cycle, 1), core->fmla_latency);
    if (core->in_order == IN_ORDER_NARROW) /* vectors of B take two loads and an insertion */
        return fmax(sums, (height * vectors + height / 2 + 3 * vectors + 2) / 2) + 0.2;
    if (core->in_order) /* what loads and counts takes its place among them */
        return fmax(sums, (height * vectors + height / 4 + vectors + 0.75) / 3) + 0.4;
    return fmax(sums, loads) + 0.06 * (height / 4 + vectors / 4 + 0.25);
}

/* The same for one to three columns, whose sums are not a vector each. */
static double narrow_cycles(const struct core *core, double height, double columns)
{
    double sums = (height + 4 + height * columns) / 4 / fmax(core->fmla_per_cycle, 1);
    double waits = core->in_order ? 3.5 : 1; /* what is loaded is needed soon after */
    return fmax(sums, core->fmla_latency / 4.0) * waits;
}

/* The panels of a tile's columns, one step of k. n is not that of a layout if sizes are unknown. */
static double panels_cycles(const struct core *core, double height, double full, double rest)
{
    double twelve = step_cycles(core, height, 3), eight = step_cycles(core, height, 2);
    if (rest == 0)
        return full * twelve;
    if (rest <= 4 && full > 0) /* two panels of 8 */
        return (full - 1) * twelve + 2 * eight;
    if (rest < 4)
        return narrow_cycles(core, height, rest);
    return full * twelve + step_cycles(core, height, ceil(rest / 4));
}

/* For each tile its rounds, then its stores; what has few rounds begins with sums of zero. */
static double listed_cycles(const struct cpu *cpu, double m, double n, double k)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    double most = gemm_f32_listed_find(cpu->features, cpu->core->in_order)->height;
    double tiles = ceil(m / most), height = m / tiles;
    double full = floor(n / nr), rest = n - full * nr, panels = full + (rest > 0);
    double begin = k < 8 ? 1.5 : 0.5;
    double around = panels * 3 + begin * height * n / 4;
    if (cpu->core->in_order) {
        double blocks = ceil(k / (double)IN_ORDER_BLOCK_K);
        around = blocks * (panels * (blocks > 1 ? 60 : 30) + height * n / 4);
    }
    double rounds = k * panels_cycles(cpu->core, height, full, rest);
    return 300 + panels * 15 + tiles * (6 + rounds + around);
}

static double packed_cycles(const struct cpu *cpu, double m, double n, double k)
{
    double per_cycle = 4.0 * fmax(cpu->core->fmla_per_cycle, 1);
    const double mr = GEMM_F32_MR, nr = GEMM_F32_NR; /* clang wants them to be double */
    double tiles = ceil(m / mr) * ceil(n / nr);
    double compute = ceil(m / mr) * mr * ceil(n / 4) * 4 * k / per_cycle;
    return 1.05 * compute + m * k / 2 + 30 * tiles;
}

/* Of plain rows of B: a load and a store for each vector, and what comes around a panel, which
 * matters where k is small. */
static double pack_cycles(const struct core *core, double n, double k)
{
    const double nr = GEMM_F32_NR; /* clang wants a double */
    return n * k / 4 + (core->in_order ? 0 : 60 * ceil(n / nr));
}

double gemm_f32_estimate(const struct cpu *cpu, double batch, double m, double n, double k,
                         bool b_packed, bool a_listed, size_t a_stride)
{
    bool listed = a_listed && gemm_f32_lists(cpu, n) && m > 0;
    double cycles = listed ? listed_cycles(cpu, m, n, k) : packed_cycles(cpu, m, n, k);
    if (listed && rows_collide(a_stride, cpu) && !lower_tiles_pay(cpu, n)) /* they are copied */
        cycles += m * k / 2;
    return 500 + batch * (cycles + (b_packed ? 0 : pack_cycles(cpu->core, n, k)));
}
