/* Products of floats by weights in blocks with scales, where attributes permit that rows of src are
 * quantised: selection, plan, bands of rows. */
#include "src/matmul/blocks/blocks.h"

#include "arch/costs.h"
#include "src/core/checked.h"
#include "src/tensor/block_layout.h"
#include "src/tensor/element.h"

enum { FEW_ROWS = 8 }; /* fewer are no whole tile */

static const char *blocks_refuse(const struct algorithm *self, const struct problem *problem,
                                 const struct cpu *cpu)
{
    struct gemm_blocks blocks;
    (void)self, (void)cpu;
    if (!block_layout_read(&blocks, &problem->tensors[WEIGHTS]))
        return "the weights are not in blocks with scales";
    if (problem->attributes.dynamic_src != NEO_S8)
        return "the attributes do not permit that src is quantised";
    if (problem->scales[SRC] || problem->zero_points[SRC])
        return "src has scales or zero points";
    return element_is_integer(element_of(problem->tensors[SRC].data_type)) ? "src is of integers"
                                                                           : NULL;
}

static double size_or(neo_dim dim)
{
    return dim == NEO_RUNTIME_DIM ? 256 : (double)dim;
}

static size_t rows_of(const struct matmul_shape *shape)
{
    bool known = shape->batch != NEO_RUNTIME_DIM && shape->m != NEO_RUNTIME_DIM;
    return known ? (size_t)(shape->batch * shape->m) : SIZE_MAX;
}

/* SDOT takes weights of s8 as they are; for the others each block of them is written again in their
 * groups, which takes longer than a few rows' products. */
static const struct gemm_type *choose_type(const struct gemm_blocks *blocks, size_t rows,
                                           const struct cpu *cpu)
{
    const struct gemm_type *dot = &gemm_types[GEMM_S8_DOT];
    bool has_dot = gemm_kernel_find(cpu, dot)->needs;
    if (has_dot && blocks->weight == ELEMENT_S8 && rows < FEW_ROWS)
        return dot;
    return gemm_type_choose(cpu, ELEMENT_S8, ELEMENT_S32);
}

/* Rows are read twice and written twice, and each block ends with three operations a vector. */
static double blocks_estimate(const struct algorithm *self, const struct problem *problem,
                              const struct cpu *cpu)
{
    struct matmul_shape shape = matmul_shape(problem);
    struct gemm_blocks blocks = {0};
    (void)self;
    block_layout_read(&blocks, &problem->tensors[WEIGHTS]);
    const struct gemm_type *type = choose_type(&blocks, rows_of(&shape), cpu);
    double m = size_or(shape.batch) * size_or(shape.m), n = size_or(shape.n), k = size_or(shape.k);
    double products = m * n * k / (double)type->products;
    double ends = blocks.block ? 3 * m * n * k / (double)blocks.block / 4 : 0;
    double each = core_costs(cpu->core)->lines.block_product;
    return 2000 + (each * products + ends) / (double)cpu->core->macs[type->kind] + m * k + m * n;
}

/* Weights as they are take half the loads, but a product of 4 steps at a time, and tiles of few
 * rows, whose sums pass through memory at the end of each block if a kernel does not keep them: the
 * shortest are not worth it. */
static gemm_s4_fn *choose_s4(const struct matmul_blocks *mine, const struct cpu *cpu)
{
    enum { SHORT = 32 };
    bool is_wider =
        mine->type->kind == MAC_SMMLA && mine->rows >= FEW_ROWS && mine->blocks.block >= SHORT;
    bool has_kernel = mine->blocks.weight == ELEMENT_S4 && mine->k && cpu->features & CPU_DOTPROD;
    return has_kernel && !is_wider ? gemm_s4_find(cpu->features, mine->blocks.scale) : NULL;
}

static bool is_plain(const struct problem *problem, const struct matmul_shape *shape)
{
    const neo_memory_desc *dst = &problem->tensors[DST];
    return dst->data_type == NEO_F32 && shape->batch == 1 && !problem->tensors[BIAS].ndims &&
           !problem->attributes.post_op_count && !problem->attributes.quantization_count &&
           matmul_is_contiguous(dst, dst->ndims - 1);
}

static void place_scratch(struct matmul_blocks *mine)
{
    enum { LINE = 64 };
    mine->starts = round_up(mine->band * mine->depth, LINE);
    mine->scales = mine->starts + round_up(mine->band * mine->count * sizeof(int32_t), LINE);
    mine->tasks = mine->scales + round_up(mine->band * sizeof(float), LINE);
    size_t all =
        mine->sums_all_blocks ? GEMM_BLOCKS_NR * (mine->depth + mine->count * sizeof(float)) : 0;
    mine->task_bytes = round_up(max_size(BLOCKS_MR * mine->depth, blocks_room_bytes() + all), LINE);
}

static void blocks_plan(void *plan, const struct problem *problem, const struct cpu *cpu)
{
    struct matmul_blocks *mine = plan;
    struct matmul_shape shape = matmul_shape(problem);
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    block_layout_read(&mine->blocks, weights);
    mine->rows = rows_of(&shape);
    mine->is_plain = is_plain(problem, &shape);
    mine->band = min_size(mine->rows, BLOCKS_BAND);
    mine->k = (size_t)weights->dims[weights->ndims - 2];
    mine->n = (size_t)weights->dims[weights->ndims - 1];
    mine->count = gemm_blocks_count(&mine->blocks, mine->k);
    mine->depth = mine->count * mine->blocks.block;
    mine->type = choose_type(&mine->blocks, mine->rows, cpu);
    mine->s8 = gemm_kernel_find(cpu, mine->type);
    mine->as_they_are = choose_s4(mine, cpu);
    mine->mr = mine->as_they_are ? GEMM_S4_MR : BLOCKS_MR;
    mine->kernel = gemm_blocks_find(cpu->features);
    mine->sums_all_blocks =
        mine->kernel->multiply && !mine->as_they_are && mine->type->group == GEMM_BLOCKS_GROUP;
    mine->quantize = quantize_find(cpu->features, ELEMENT_S8);
    mine->pack = pack_panel_find(cpu->features, ELEMENT_S8, ELEMENT_S8,
                                 mine->as_they_are ? 4 : mine->type->group);
    place_scratch(mine);
}

static size_t blocks_scratch_bytes(const void *plan, int threads)
{
    const struct matmul_blocks *mine = plan;
    return mine->tasks + (size_t)threads * mine->task_bytes;
}

static const char *blocks_kernel(const void *plan)
{
    const struct matmul_blocks *mine = plan;
    return mine->as_they_are ? "gemm_s4" : mine->s8->name;
}

static void blocks_run(const void *plan, const struct execution *execution)
{
    const struct matmul_blocks *mine = plan;
    char *scratch = execution->scratch;
    struct blocks_band band = {
        .plan = mine,
        .execution = execution,
        .a = (int8_t *)scratch,
        .starts = (int32_t *)(void *)(scratch + mine->starts),
        .row_scales = (float *)(void *)(scratch + mine->scales),
        .tasks = scratch + mine->tasks,
    };
    for (; band.first < mine->rows; band.first += band.rows) {
        band.rows = min_size(mine->band, mine->rows - band.first);
        parallel_for_tiles(execution->parallel, div_up(band.rows, mine->mr), execution->threads,
                           blocks_quantize_tiles, &band);
        parallel_for_tiles(execution->parallel, div_up(mine->n, GEMM_BLOCKS_NR), execution->threads,
                           blocks_multiply_panels, &band);
    }
}

const struct algorithm matmul_blocks = {
    .name = "blocks",
    .types = matmul_types,
    .quantizes = true,
    .refuse = blocks_refuse,
    .choose = matmul_choose_plain,
    .estimate = blocks_estimate,
    .plan = blocks_plan,
    .plan_bytes = sizeof(struct matmul_blocks),
    .scratch_bytes = blocks_scratch_bytes,
    .kernel = blocks_kernel,
    .run = blocks_run,
};
