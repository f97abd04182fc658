/* Beginnings and ends of tiles, some columns at a time. */
#include "src/gemm/ways/ends.h"

#include <assert.h>

#include "src/core/checked.h"

bool gemm_results_suit(const struct gemm_plan *plan)
{
    const struct gemm_shape *shape = &plan->shape;
    bool knows_sums = shape->b_packed || gemm_k_blocks(plan) == 1;
    return shape->type && shape->m > 1 && !shape->a_summed && (!shape->b_summed || knows_sums);
}

void gemm_ends_init(struct gemm_ends *ends, const struct gemm_task *task,
                    const struct gemm_step *step, const struct gemm_block *block)
{
    const struct gemm_results *results = task->call->results;
    ends->results = results;
    ends->block = block;
    if (!results)
        return;
    ends->begins = step->k.begin == 0;
    ends->ends = step->k.end == task->plan->shape.k;
    ends->filled = (struct span){0, 0};
    ends->finish = results->whole;
    ends->finish.run = results->run;
    ends->finish.is_float = results->are_floats;
    ends->finish.dst_row = results->dst_row;
    ends->dst = results->dst(results->context, block, block->row, block->column);
    assert(block->rows <= RESULT_ROWS);
    if (ends->ends && results->has_row_scales)
        results->rows(results->context, block, 0, block->rows, &ends->rows);
}

static bool has_start(const struct gemm_ends *ends)
{
    return ends->begins && (ends->results->are_floats || ends->block->b_sums);
}

/* What sums of integers begin with. */
static void fill_start(struct gemm_ends *ends, size_t count)
{
    const struct gemm_results *results = ends->results;
    const uint32_t begin = results->are_floats ? GEMM_FLOAT_START : 0;
    const uint32_t factor = (uint32_t)results->factor;
    for (size_t j = 0; j < count; j++)
        ends->start[j] = (int32_t)begin;
    for (size_t j = 0; ends->block->b_sums && j < count; j++)
        ends->start[j] = (int32_t)(begin + factor * (uint32_t)ends->columns.zeros[j]);
}

/* From a column on as many as there is room for. */
static void fill(struct gemm_ends *ends, size_t column)
{
    const struct gemm_results *results = ends->results;
    size_t count = min_size(ends->block->columns - column, RESULT_COLUMNS);
    results->columns(results->context, ends->block, column, count, &ends->columns);
    if (has_start(ends))
        fill_start(ends, count);
    ends->filled = (struct span){column, column + RESULT_COLUMNS};
}

void gemm_ends_set(struct gemm_ends *ends, size_t row, size_t column, size_t width,
                   struct gemm_tile *tile)
{
    const struct gemm_results *results = ends->results;
    struct gemm_finish *finish = &ends->finish;
    if (!results || !(ends->begins || ends->ends))
        return;
    if (column < ends->filled.begin || column + width > ends->filled.end)
        fill(ends, column);
    size_t at = column - ends->filled.begin;
    if (has_start(ends))
        tile->start = ends->start + at;
    if (!ends->ends)
        return;
    finish->n = width;
    finish->scales = results->has_scales ? ends->columns.scales + at : NULL;
    finish->offsets = results->has_offsets ? ends->columns.offsets + at : NULL;
    finish->row_scales = results->has_row_scales ? ends->rows.scales + row : NULL;
    finish->dst = ends->dst + (row * results->dst_row + column) * element_bytes(finish->to);
    tile->end = finish;
}
