/* How rows of A are read, and how much of k at a time. */
#include "src/gemm/rows.h"

#include "src/core/checked.h"
#include "src/gemm/step.h"

enum {
    MIN_BLOCK_K = 64,
    BLOCK_K_UNIT = 8, /* two rounds of the kernels */
    FEW_K = 256,
    FEW_COLUMNS = 64,
    FEW_PANELS = 2 * GEMM_F32_NR, /* columns */
};

/* A row alone stays in the L1 cache while panels come by: blocks of k would only load and store its
 * sums more often. Those of f16 are less exact the more of k they have. */
static bool is_exact_row(const struct gemm_shape *shape)
{
    return shape->type && shape->m == 1 && shape->type->within != ELEMENT_F16;
}

/* Packed rows: a tile's panels of A and B take five eighths
 * of the L1 cache. Listed rows: a tile's rows and two panels of B take three quarters, which may be
 * narrow ones; but where that leaves few values, one panel does for them, too. */
size_t gemm_most_k(const struct gemm_plan *plan, const struct cpu *cpu)
{
    size_t bytes = plan->shape.type ? element_bytes(plan->shape.type->element) : sizeof(float);
    size_t values = cpu->l1_bytes / bytes;
    size_t most = values * 5 / 8 / (GEMM_F32_MR + GEMM_F32_NR);
    size_t rows = plan->tile_rows ? plan->tile_rows : GEMM_F32_LISTED_HEIGHT;
    size_t columns = min_size(max_size(plan->shape.n, 1), FEW_PANELS);
    if (plan->listed)
        most = max_size(values * 3 / 4 / (rows + columns), min_size(most, FEW_K));
    if (is_exact_row(&plan->shape))
        return max_size(values / 2, MIN_BLOCK_K) / BLOCK_K_UNIT * BLOCK_K_UNIT;
    size_t limit = GEMM_MAX_BLOCK_K * sizeof(float) / bytes;
    return min_size(max_size(most, MIN_BLOCK_K), limit) / BLOCK_K_UNIT * BLOCK_K_UNIT;
}

/* Blocks of k are a part of a segment or some segments; these, if segments have parts already. */
void gemm_set_block_k(struct gemm_plan *plan, size_t most)
{
    const struct gemm_shape *shape = &plan->shape;
    size_t segment = plan->listed ? shape->segment : shape->k;
    plan->k_unit = shape->k;
    if (shape->a_has_parts)
        most = max_size(most, segment);
    if (segment == shape->k || segment > most) {
        size_t block = gemm_even_block(segment, most);
        plan->k_unit = segment;
        plan->block_k = plan->listed  ? round_up(block, BLOCK_K_UNIT)
                        : shape->type ? round_up(block, shape->type->group)
                                      : block;
    } else {
        plan->block_k = gemm_even_block(shape->k / segment, most / segment) * segment;
    }
}

/* How many full panels a tile's rows are used for before the next tile comes: with them, a block of
 * rows fills three quarters of the L1 cache. */
static size_t group_that_stays(const struct cpu *cpu, size_t k)
{
    size_t values = cpu->l1_bytes / sizeof(float) * 3 / 4, rows = GEMM_F32_LISTED_HEIGHT * k;
    return values > rows ? max_size((values - rows) / (GEMM_F32_NR * max_size(k, 1)), 1) : 1;
}

/* The same for few columns, which leave room for more of k. */
static size_t most_whole_k(const struct cpu *cpu, size_t rows, size_t n)
{
    size_t values = cpu->l1_bytes / sizeof(float) * 7 / 8;
    return n <= FEW_PANELS ? min_size(values / (rows + n), GEMM_MAX_BLOCK_K) : 0;
}

/* Is k little more than a block has? Without blocks no sums are loaded. */
static bool may_be_whole(const struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    return plan->listed && !gemm_is_unknown(shape) && shape->k > plan->block_k &&
           shape->k <= most_whole_k(cpu, plan->tile_rows, shape->n);
}

size_t gemm_choose_block_k(struct gemm_plan *plan, const struct cpu *cpu)
{
    size_t most = gemm_most_k(plan, cpu);
    gemm_set_block_k(plan, most);
    if (may_be_whole(plan, cpu)) {
        most = plan->shape.k;
        gemm_set_block_k(plan, most);
    }
    plan->group_panels = group_that_stays(cpu, plan->block_k);
    return most;
}

size_t gemm_whole_k(const struct cpu *cpu, size_t rows, size_t n)
{
    const struct gemm_f32_listed_kernels *listed =
        gemm_f32_listed_find(cpu->features, cpu->core->in_order);
    const struct gemm_plan plan = {.shape = {.n = n}, .tile_rows = rows, .listed = listed};
    return max_size(gemm_most_k(&plan, cpu), most_whole_k(cpu, rows, n));
}

bool gemm_rows_collide(size_t a_stride, const struct cpu *cpu)
{
    size_t bytes = a_stride * sizeof(float), way = cpu->l1_bytes / CPU_L1_WAYS;
    size_t apart = min_size(power_of_two_in(bytes), way);
    return apart && 2 * (way / apart) < GEMM_F32_LISTED_HEIGHT;
}

size_t gemm_copied_columns(size_t a_stride, const struct cpu *cpu)
{
    enum { COLUMNS = 256, TILES = 2 };
    size_t bytes = a_stride * sizeof(float), way = cpu->l1_bytes / CPU_L1_WAYS;
    size_t apart = min_size(power_of_two_in(bytes), way);
    bool crowd = apart && way / apart * (CPU_L1_WAYS - 1) < (size_t)TILES * GEMM_F32_LISTED_HEIGHT;
    return crowd && !cpu->core->in_order ? COLUMNS * (size_t)cpu->core->fmla_per_cycle : SIZE_MAX;
}

bool gemm_lower_tiles_pay(const struct cpu *cpu, double n)
{
    return cpu->core->in_order && n <= (double)FEW_COLUMNS;
}

/* All of k must be one block, and few rows fall into two tiles, or are multiplied twice in less
 * time than packing takes, as for few columns of B. Columns whose addresses differ by a multiple of
 * a large power of two share few places in the L1 cache; more of them in one place than it holds
 * would drive each other out before the next panel.
 */
bool gemm_reads_planes(const struct gemm_shape *shape, const struct cpu *cpu)
{
    enum { FEW = 32, PACKING = 16 }; /* one of so many; multiply-adds for a value */
    const struct gemm_plan packed = {.shape = *shape};
    size_t bytes = shape->a_column * sizeof(float), way = cpu->l1_bytes / CPU_L1_WAYS;
    size_t apart = power_of_two_in(bytes), places = way / max_size(min_size(apart, way), 1);
    if (!bytes || !shape->columns || gemm_is_unknown(shape) || shape->m < GEMM_F32_PLANES_LOWEST)
        return false;
    size_t twice = round_up(shape->m, GEMM_F32_PLANES_LOWEST) - shape->m;
    bool is_little = twice * FEW <= shape->m || twice * shape->n <= PACKING * shape->m;
    return is_little && shape->k <= min_size(gemm_most_k(&packed, cpu), places * CPU_L1_WAYS);
}
