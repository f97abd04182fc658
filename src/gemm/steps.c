/* The blocked f32 matrix multiplication: its tiles of rows, and its steps. */
#include "src/core/checked.h"
#include "src/gemm/step.h"

struct span gemm_row_tile(size_t m, size_t index)
{
    size_t tiles = div_up(m, GEMM_F32_MR), rest = m % GEMM_F32_MR;
    bool shared = tiles >= 2 && rest >= 1 && rest <= 3;
    size_t begin = index * GEMM_F32_MR;
    if (!shared || index + 2 < tiles)
        return (struct span){begin, min_size(begin + GEMM_F32_MR, m)};
    size_t pair = (tiles - 2) * GEMM_F32_MR, half = pair + div_up(GEMM_F32_MR + rest, 2);
    return index + 2 == tiles ? (struct span){pair, half} : (struct span){half, m};
}

static struct span listed_tile(const struct gemm_plan *plan, size_t t)
{
    size_t begin = t * plan->tall - (t > plan->tall_tiles ? t - plan->tall_tiles : 0);
    return (struct span){begin, begin + plan->tall - (t >= plan->tall_tiles)};
}

struct span gemm_plan_tile(const struct gemm_plan *plan, size_t t)
{
    return plan->listed ? listed_tile(plan, t) : gemm_row_tile(plan->shape.m, t);
}

static struct span block_span(struct span whole, size_t block, size_t index)
{
    size_t begin = whole.begin + index * block;
    return (struct span){begin, min_size(begin + block, whole.end)};
}

/* Number index of the blocks of k. */
static struct span k_span(const struct gemm_plan *plan, size_t index)
{
    size_t unit = plan->k_unit, count = max_size(div_up(unit, plan->block_k), 1);
    size_t first = index / count * unit;
    return block_span((struct span){first, first + unit}, plan->block_k, index % count);
}

size_t gemm_k_blocks(const struct gemm_plan *plan)
{
    size_t unit = plan->k_unit;
    return unit ? plan->shape.k / unit * div_up(unit, plan->block_k) : 1;
}

struct gemm_step gemm_step_at(const struct gemm_plan *plan, struct span tiles, struct span panels,
                              const struct gemm_step_number *number)
{
    struct gemm_step step = {.tiles = block_span(tiles, plan->block_tiles, number->tiles),
                             .panels = block_span(panels, plan->block_panels, number->panels),
                             .k = k_span(plan, number->k)};
    size_t depth = step.k.end - step.k.begin;
    struct layout_panel last = gemm_plan_panel(plan, step.panels.end - 1);
    step.row = gemm_plan_tile(plan, step.tiles.begin).begin;
    step.rows = gemm_plan_tile(plan, step.tiles.end - 1).end - step.row;
    step.column = gemm_plan_panel(plan, step.panels.begin).first;
    step.columns = last.first + last.valid - step.column;
    step.depth = min_size(depth, plan->shape.segment);
    step.segments = step.depth ? depth / step.depth : 1;
    return step;
}

void gemm_plan_whole(struct gemm_plan *plan)
{
    struct span tiles = {0, plan->row_tiles}, panels = {0, plan->panels};
    plan->is_one_step = tiles.end && panels.end && gemm_k_blocks(plan) == 1 &&
                        tiles.end <= plan->block_tiles && panels.end <= plan->block_panels;
    if (plan->is_one_step)
        plan->whole = gemm_step_at(plan, tiles, panels, &(struct gemm_step_number){0});
}
