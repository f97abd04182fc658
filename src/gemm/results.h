/* Blocks of sums become results in memory by the kernels of kernels/gemm/finish.h: what is left to
 * be said is which scales, zero points and bias belong to rows and to columns. */
#ifndef SRC_GEMM_RESULTS_H
#define SRC_GEMM_RESULTS_H

#include "kernels/gemm/finish.h"
#include "src/gemm/gemm.h"
#include "src/primitive/problem.h"

enum { RESULT_COLUMNS = 256, RESULT_ROWS = 64 };

/* What results of some columns need, whatever their row is. */
struct result_columns {
    float scales[RESULT_COLUMNS], offsets[RESULT_COLUMNS];
    int32_t zeros[RESULT_COLUMNS];
};

/* What results of some rows need, whatever their column is; columns' zeros are multiplied by
 * factors. */
struct result_rows {
    int32_t factors[RESULT_ROWS];
    float scales[RESULT_ROWS];
};

/* Part of a block: rows or columns [first, first + count) of it. */
struct gemm_results {
    const void *context;
    gemm_finish_fn *run;
    void (*columns)(const void *context, const struct gemm_block *block, size_t first, size_t count,
                    struct result_columns *out);
    void (*rows)(const void *context, const struct gemm_block *block, size_t first, size_t count,
                 struct result_rows *out);
    void *(*dst)(const void *context, const struct gemm_block *block, size_t row, size_t column);
    size_t dst_row; /* elements from row to row of results, which are contiguous */
    bool has_row_scales;
    struct gemm_finish whole; /* a clamp, dst's scale and zero point */
};

void gemm_results_run(const struct gemm_results *results, const struct gemm_block *block);

/* The kernel for a problem's results, or NULL if it has more to do than such a kernel does: sums
 * are s32, or f32. */
gemm_finish_fn *gemm_results_kernel(const struct problem *problem, bool integers,
                                    const struct cpu *cpu);

/* The clamp of post-operations, and dst's scale and zero point. */
struct gemm_finish gemm_results_whole(const struct execution *execution);

#endif
