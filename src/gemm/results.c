/* Results of blocks of sums, some columns and some rows at a time. */
#include "src/gemm/results.h"

#include "src/core/checked.h"
#include "src/gemm/reciprocal.h"
#include "src/primitive/post_ops.h"
#include "src/primitive/quantization.h"
#include "src/tensor/element.h"

static void run_columns(const struct gemm_results *results, const struct gemm_block *block,
                        size_t first, size_t count)
{
    struct result_columns columns;
    struct result_rows rows;
    bool is_shifted = block->a_sums || block->b_sums;
    results->columns(results->context, block, first, count, &columns);
    for (size_t row = 0; row < block->rows; row += RESULT_ROWS) {
        struct gemm_finish part = results->whole;
        part.m = min_size(RESULT_ROWS, block->rows - row);
        part.n = count;
        if (is_shifted || results->has_row_scales)
            results->rows(results->context, block, row, part.m, &rows);
        part.sums = block->values + row * block->row_stride + first;
        part.row = block->row_stride;
        part.rows = is_shifted ? rows.factors : NULL;
        part.zeros = is_shifted ? columns.zeros : NULL;
        part.row_scales = results->has_row_scales ? rows.scales : NULL;
        part.scales = results->has_scales ? columns.scales : NULL;
        part.offsets = results->has_offsets ? columns.offsets : NULL;
        part.dst = results->dst(results->context, block, block->row + row, block->column + first);
        part.dst_row = results->dst_row;
        results->run(&part);
    }
}

void gemm_results_run(const struct gemm_results *results, const struct gemm_block *block)
{
    for (size_t first = 0; first < block->columns; first += RESULT_COLUMNS)
        run_columns(results, block, first, min_size(RESULT_COLUMNS, block->columns - first));
}

bool gemm_results_are_common(const struct problem *problem, int index)
{
    const struct quantization *all = problem->attributes.quantizations;
    return !index || !all[index - 1].mask;
}

gemm_finish_fn *gemm_results_kernel(const struct problem *problem, bool integers,
                                    const struct cpu *cpu)
{
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    bool is_clamp = problem->attributes.post_op_count == 0 || fusion.complete;
    if (!is_clamp || fusion.reads_dst || !gemm_results_are_common(problem, problem->scales[DST]) ||
        !gemm_results_are_common(problem, problem->zero_points[DST]))
        return NULL;
    return gemm_finish_find(cpu->features, integers ? ELEMENT_S32 : ELEMENT_F32,
                            element_of(problem->tensors[DST].data_type));
}

struct gemm_finish gemm_results_whole(const struct execution *execution)
{
    static const neo_dim origin[NEO_MAX_NDIMS];
    const struct problem *problem = execution->problem;
    struct post_ops_fusion fusion = post_ops_fusion(problem);
    struct gemm_finish whole = {
        .is_clamped = problem->attributes.post_op_count > 0,
        .low = fusion.low,
        .high = fusion.high,
        .divisor = quantization_scale(execution, DST, origin),
        .zero = -0.0f, /* which changes nothing */
    };
    whole.to = element_of(problem->tensors[DST].data_type);
    if (problem->zero_points[DST])
        whole.zero = (float)quantization_zero_point(execution, DST, origin);
    bool is_byte = element_bytes(whole.to) == 1;
    bool adds = problem->zero_points[DST] && !(is_byte && whole.zero == 0);
    whole.is_requantized = adds || whole.divisor != 1;
    if (whole.is_requantized && is_byte) {
        struct gemm_reciprocal both = gemm_reciprocal_of(whole.divisor);
        whole.reciprocal = both.most, whole.rest = both.rest;
    }
    return whole;
}
