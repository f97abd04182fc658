/* The blocked f32 matrix multiplication: blocks, the scratchpad. */
#include <math.h>

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/gemm/gemm.h"
#include "src/gemm/rows.h"
#include "src/gemm/ways.h"
#include "src/tensor/typed_layout.h"

_Static_assert((int)LAYOUT_PANEL == (int)GEMM_F32_NR, "the layout's panels are the kernels'");

enum {
    SCRATCH_UNIT = 128, /* bytes: parts of the scratchpad do not share cache lines */
    MAX_BLOCK_TILES = 64,
    MOST_GROUP = 16, /* of k, of any type */
    MAX_LISTED_TILES = 256,
    MAX_BLOCK_PANELS = 80,
    CHUNK_PRODUCTS = 160000, /* at least */
};

/* Listed tiles are as equal as they can be. */
static void choose_tall(struct gemm_plan *plan)
{
    size_t m = plan->shape.m, tiles = max_size(plan->row_tiles, 1);
    plan->tall = div_up(m, tiles);
    plan->tall_tiles = tiles - (tiles * plan->tall - m);
}

/* Whole tiles of every height, at least one. */
static size_t choose_run_rows(const struct gemm_plan *plan, const struct cpu *cpu)
{
    enum { UNIT = 48 };
    size_t values = cpu->l1_bytes / sizeof(float) * 3 / 4 / max_size(plan->shape.k, 1);
    size_t rows = values > GEMM_F32_NR ? values - GEMM_F32_NR : 0;
    return max_size(rows / UNIT, 1) * UNIT;
}

/* Do all panels come together? They may be none but the two that few columns end in. */
static bool is_one_group(const struct gemm_plan *plan)
{
    bool are_full = plan->full_panels == plan->panels;
    return are_full ? plan->panels <= plan->group_panels
                    : plan->full_panels == 0 && plan->panels <= 2;
}

/* Where all panels stay in the L1 cache, but come in groups for their widths, rows of A and C stay
 * there too while one group after the other comes for them. Each takes some sixty cycles, or twice
 * as many where instructions issue in order. */
static size_t choose_chunk(const struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    size_t values = cpu->l1_bytes / sizeof(float) * 7 / 8, all = SIZE_MAX / 2;
    size_t n = plan->block_columns, k = plan->block_k;
    size_t least = cpu->core->in_order ? 2 * CHUNK_PRODUCTS : CHUNK_PRODUCTS;
    if (plan->regular_panels || is_one_group(plan) || n > values || k * n >= values)
        return all;
    size_t row = shape->a_values ? min_size(shape->a_values / shape->m, k) : k;
    size_t used = k * n + shape->a_shared;
    size_t tiles = used < values ? (values - used) / (plan->tile_rows * (row + n)) : 0;
    return tiles * plan->tile_rows * k * n >= least ? tiles : all;
}

/* Lists of many tiles would take turns in the L1 cache with what they are for: where all panels
 * stay there, fewer tiles are listed at a time. Each time takes some 400 cycles. */
static size_t choose_lap(const struct gemm_plan *plan, const struct cpu *cpu)
{
    enum { PART = 16 /* of the cache */, LAP_PRODUCTS = 300000 /* at least */ };
    const struct gemm_shape *shape = &plan->shape;
    size_t n = min_size(plan->block_columns, shape->n), k = plan->block_k, all = SIZE_MAX / 2;
    if (!plan->listed || plan->copies || shape->a_is_regular || shape->segment >= k || n == 0 ||
        n >= all || k * n * sizeof(float) > cpu->l1_bytes / 2)
        return all;
    size_t bytes = k / shape->segment * GEMM_F32_LIST * sizeof(float *);
    size_t least = cpu->core->in_order ? 2 * LAP_PRODUCTS : LAP_PRODUCTS;
    if (plan->block_tiles * bytes <= cpu->l1_bytes / 4)
        return all;
    return max_size(cpu->l1_bytes / PART / bytes, least / (plan->tile_rows * k * n) + 1);
}

/* Of a type: as many as have room where there would be so many tiles of k values, and their sums of
 * all columns that a block may have. */
static size_t more_tiles(const struct gemm_plan *plan, size_t tiles, size_t k)
{
    size_t panels = gemm_even_block(plan->panels, MAX_BLOCK_PANELS);
    size_t by_sums = tiles * MAX_BLOCK_PANELS / max_size(panels, 1);
    size_t by_rows = tiles * k / max_size(round_up(plan->block_k, MOST_GROUP), 1);
    return min_size(max_size(min_size(by_sums, by_rows), tiles), MAX_BLOCK_TILES);
}

/* A block of A takes half of the L2 cache. If that is all rows, only as much of a plain B is packed
 * at a time as stays in the L1 cache until they have used it; but rows that are copied would be
 * copied for each part of B. Every block is at most as large as that of a problem whose sizes are
 * not known. Returns the cost of the order of blocks, or 0. */
static double choose_order(struct gemm_plan *plan, const struct cpu *cpu, size_t k)
{
    const struct gemm_shape *shape = &plan->shape;
    bool short_rows = plan->listed && shape->output != GEMM_STAGED && !gemm_is_unknown(shape);
    size_t row_bytes = plan->tile_rows * (short_rows ? plan->block_k : k) * sizeof(float);
    size_t most_tiles = short_rows ? MAX_LISTED_TILES : MAX_BLOCK_TILES;
    size_t tiles = min_size(max_size(cpu->l2_bytes / 2 / row_bytes, 1), most_tiles);
    if (shape->type && !gemm_is_unknown(shape))
        tiles = more_tiles(plan, tiles, k);
    plan->block_tiles = gemm_even_block(plan->row_tiles, tiles);
    bool whole_rows = shape->b_packed && shape->output != GEMM_STAGED && plan->panels != SIZE_MAX;
    size_t most_panels = MAX_BLOCK_PANELS;
    bool one_block = plan->block_tiles == plan->row_tiles && !plan->copies;
    if (short_rows && !shape->b_packed && one_block)
        most_panels = min_size(plan->group_panels, most_panels);
    plan->block_panels =
        whole_rows ? max_size(plan->panels, 1) : gemm_even_block(plan->panels, most_panels);
    plan->k_inside = shape->output == GEMM_STAGED;
    return whole_rows && short_rows ? gemm_choose_order(plan, cpu) : 0;
}

/* Blocks of k that suit the L1 cache must not move many more lines behind the L2 cache. Returns the
 * cost of the order of blocks. */
static double choose_known_blocks(struct gemm_plan *plan, const struct cpu *cpu, size_t k)
{
    gemm_set_block_k(plan, k);
    gemm_choose_group(plan, cpu);
    struct gemm_plan other = *plan;
    double cost = choose_order(plan, cpu, k);
    gemm_choose_l1(&other, cpu, k);
    double other_cost = choose_order(&other, cpu, k);
    if (other_cost > cost * core_costs(cpu->core)->blocks.other)
        return cost;
    *plan = other;
    return other_cost;
}

/* The same, of rows in place or of their copies, where these make the L1 cache move fewer lines. */
static void choose_known(struct gemm_plan *plan, const struct cpu *cpu, size_t k)
{
    const struct gemm_shape *shape = &plan->shape;
    struct gemm_plan other = *plan;
    double cost = choose_known_blocks(plan, cpu, k);
    size_t columns = gemm_copied_columns(shape->a_stride, cpu);
    if (shape->segment != shape->k || shape->n < columns)
        return;
    other.copies = true;
    other.copied_columns = columns / 2; /* of a part, or of a block, of that many */
    const struct blocks_costs *costs = &core_costs(cpu->core)->blocks;
    bool moves_more = choose_known_blocks(&other, cpu, k) > cost * costs->copies_move;
    if (!moves_more && gemm_l1_cost(&other, cpu) < gemm_l1_cost(plan, cpu) * costs->copies_gain)
        *plan = other;
}

static void choose_blocks(struct gemm_plan *plan, const struct cpu *cpu)
{
    if (gemm_knows_l1(plan, cpu))
        choose_known(plan, cpu, gemm_most_k(plan, cpu));
    else
        choose_order(plan, cpu, gemm_choose_block_k(plan, cpu));
    plan->block_columns = plan->block_panels * plan->panel_columns;
    gemm_plan_fetching(plan, cpu);
    if (!gemm_is_unknown(&plan->shape))
        gemm_plan_regular(plan);
    plan->chunk_tiles = choose_chunk(plan, cpu);
    plan->lap_tiles = choose_lap(plan, cpu);
}

/* ---- scratchpad: for each task a block of A, a block of B, staged sums, the caller's part ---- */

static size_t floats(size_t count)
{
    return round_up(count * sizeof(float), SCRATCH_UNIT);
}

/* The lists of a block of rows; of one whose sizes are not known, too. */
static size_t list_bytes(const struct gemm_plan *plan)
{
    size_t segment = plan->shape.segment, each = GEMM_F32_LIST * sizeof(float *);
    if (!segment)
        return 0;
    size_t tiles = gemm_is_unknown(&plan->shape) ? MAX_LISTED_TILES : plan->block_tiles;
    return tiles * each * (segment < plan->block_k ? plan->block_k / segment : 1);
}

/* Of a block of rows that are copied, whatever their number turns out to be: it has half of the L2
 * cache, or the most tiles that there are. */
static size_t most_copied(const struct gemm_plan *plan, const struct cpu *cpu)
{
    size_t most = MAX_LISTED_TILES * plan->tile_rows * GEMM_MAX_BLOCK_K * sizeof(float);
    bool may_be_copied = plan->listed && gemm_is_unknown(&plan->shape);
    return may_be_copied ? min_size(round_up(cpu->l2_bytes / 2, SCRATCH_UNIT), most) : 0;
}

/* Does every thread read rows in place, whatever core it runs on? Then none of them packs any. */
static bool always_lists(const struct gemm_plan *plan, const struct cpu *cpu)
{
    return plan->listed && !plan->copies && !gemm_is_unknown(&plan->shape) &&
           (plan->has_tail || plan->shape.a_has_parts ||
            plan->tall <= gemm_f32_listed_lowest(cpu->features));
}

/* Packed lanes of a block of k. */
static size_t panel_bytes(const struct gemm_plan *plan, size_t lanes)
{
    const struct gemm_type *type = plan->shape.type;
    return type ? round_up(gemm_panel_bytes(type, lanes, plan->block_k), SCRATCH_UNIT)
                : floats(lanes * plan->block_k);
}

static void divide_scratch(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    struct gemm_scratch *parts = &plan->scratch;
    size_t rows = plan->block_tiles * plan->tile_rows;
    bool has_a = !plan->planes && !always_lists(plan, cpu);
    parts->list = has_a ? max_size(panel_bytes(plan, rows), most_copied(plan, cpu)) : 0;
    parts->runs = parts->list + round_up(list_bytes(plan), SCRATCH_UNIT);
    size_t run_bytes = shape->a_has_zeros ? plan->block_tiles * sizeof(struct gemm_run) : 0;
    parts->b = parts->runs + round_up(run_bytes, SCRATCH_UNIT);
    parts->stage = parts->b + (shape->b_packed ? 0 : panel_bytes(plan, plan->block_columns));
    parts->a_sums =
        parts->stage + (shape->output == GEMM_STAGED ? floats(rows * plan->block_columns) : 0);
    size_t most_rows = gemm_is_unknown(shape) ? MAX_BLOCK_TILES * plan->tile_rows : rows;
    parts->b_sums = parts->a_sums + (shape->a_summed ? floats(most_rows) : 0);
    parts->caller =
        parts->b_sums + (shape->b_summed && !shape->b_packed ? floats(plan->block_columns) : 0);
    parts->bytes = parts->caller + round_up(shape->task_scratch_bytes, SCRATCH_UNIT);
}

size_t gemm_scratch_bytes(const struct gemm_plan *plan, int threads)
{
    return plan->scratch.bytes * (size_t)threads;
}

static void choose_rows(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    bool unknown = gemm_is_unknown(shape);
    bool collide = unknown || gemm_rows_collide(shape->a_stride, cpu);
    bool low = plan->listed && collide && !unknown && gemm_lower_tiles_pay(cpu, (double)shape->n);
    plan->copies = plan->listed && collide && !low;
    plan->tile_rows = low ? GEMM_LOW_TILE : plan->listed ? plan->listed->height : GEMM_F32_MR;
    if (plan->has_tail)
        plan->tile_rows = min_size(plan->tile_rows, gemm_tail_height(shape->n));
}

/* Panels that one call packs for rows that are packed too: tiles of one vector have too few sums to
 * keep a core busy, and lists' kernels for the last columns do not read packed rows. */
static void choose_panels(struct gemm_plan *plan)
{
    const struct gemm_type *type = plan->shape.type;
    size_t n = plan->shape.n, unit = type ? typed_layout_unit(type) : 1;
    plan->panel_columns = unit * LAYOUT_PANEL;
    plan->wide_panels = !plan->shape.b_packed && !plan->listed && !plan->planes;
    if (n == SIZE_MAX) {
        plan->panels = SIZE_MAX;
        return;
    }
    size_t units = div_up(n, unit);
    plan->panels = plan->wide_panels ? layout_wide_panel_count(units) : layout_panel_count(units);
    plan->full_panels =
        plan->wide_panels ? layout_wide_full_panels(units) : layout_full_panels(units);
    plan->full_panels = min_size(plan->full_panels, n / plan->panel_columns);
}

static void plan_by(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    choose_rows(plan, cpu);
    plan->row_tiles = shape->m == SIZE_MAX ? SIZE_MAX : div_up(shape->m, plan->tile_rows);
    choose_panels(plan);
    if (shape->m != SIZE_MAX)
        choose_tall(plan);
    choose_blocks(plan, cpu);
    divide_scratch(plan, cpu);
}

static uint32_t clamp_of(const struct gemm_shape *shape)
{
    if (shape->output != GEMM_DIRECT)
        return 0;
    uint32_t low = shape->low > -INFINITY ? GEMM_F32_LOW : 0;
    return low | (shape->high < INFINITY ? GEMM_F32_HIGH : 0);
}

/* Is the last panel stored from copies? */
static bool lacks_columns(const struct gemm_plan *plan)
{
    const struct gemm_pass *last = &plan->passes[plan->pass_count - 1];
    return last->valid && last->width == 4;
}

/* What needs no more than the addresses of an execution. */
static void plan_steps(struct gemm_plan *plan)
{
    const struct gemm_shape *shape = &plan->shape;
    gemm_plan_whole(plan);
    if (plan->listed)
        gemm_plan_passes(plan);
    plan->is_short = plan->is_one_step && !shape->a_has_zeros && plan->pass_count &&
                     shape->b_packed && !plan->copies && shape->output == GEMM_DIRECT &&
                     !lacks_columns(plan) && plan->chunk_tiles >= plan->row_tiles &&
                     plan->lap_tiles >= plan->row_tiles && !plan->regular_panels && !plan->fetches;
}

void gemm_plan_init(struct gemm_plan *plan, const struct gemm_shape *shape, const struct cpu *cpu)
{
    *plan = (struct gemm_plan){.shape = *shape};
    if (shape->segment && (shape->n == SIZE_MAX || gemm_lists(cpu, (double)shape->n)))
        plan->listed = gemm_f32_listed_find(cpu->features, cpu->core->in_order);
    if (shape->columns && gemm_reads_planes(shape, cpu)) {
        plan->planes = gemm_f32_planes_find(cpu->features, cpu->core->in_order);
        plan->run_rows = choose_run_rows(plan, cpu);
    }
    plan->has_tail = plan->listed && shape->b_packed && !gemm_is_unknown(shape) &&
                     !shape->a_has_parts && layout_tail_columns(shape->n) &&
                     gemm_tail_pays(cpu, shape->m, shape->n, shape->k);
    plan_by(plan, cpu);
    if (plan->has_tail && gemm_k_blocks(plan) > 1) { /* its kernels do not accumulate */
        plan->has_tail = false;
        plan_by(plan, cpu);
    }
    if (plan->listed && gemm_is_unknown(shape)) { /* the scratchpad is enough for both ways */
        struct gemm_plan packed = {.shape = *shape};
        plan_by(&packed, cpu);
        plan->scratch.bytes = max_size(plan->scratch.bytes, packed.scratch.bytes);
    }
    gemm_tiles_init(&plan->tiles, cpu, shape->columns);
    plan->way = gemm_way_of(plan, &plan->tiles);
    plan->clamp = clamp_of(shape);
    if (!gemm_is_unknown(shape))
        plan_steps(plan);
    const struct gemm_kernel *typed = shape->type ? gemm_kernel_find(cpu, shape->type) : NULL;
    plan->run_typed = typed ? typed->run : NULL;
    plan->kernel = typed          ? typed->name
                   : plan->planes ? plan->planes->name
                   : plan->listed
                       ? plan->listed->name
                       : gemm_f32_find(cpu, GEMM_F32_MR, GEMM_F32_NR, shape->columns)->name;
}
