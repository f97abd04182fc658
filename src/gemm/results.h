/* Blocks of sums become results in memory by the kernels of kernels/gemm/finish.h: what is left to
 * be said is which scales, zero points and bias belong to rows and to columns. */
#ifndef SRC_GEMM_RESULTS_H
#define SRC_GEMM_RESULTS_H

#include <stdlib.h>

#include "kernels/gemm/finish.h"
#include "src/gemm/gemm.h"
#include "src/primitive/problem.h"

enum { RESULT_COLUMNS = 256, RESULT_ROWS = 512 };

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
    bool has_row_scales, has_scales, has_offsets; /* of columns */
    struct gemm_finish whole;                     /* a clamp, dst's scale and zero point */

    /* For sums that become results while they are in registers: all rows' factor, and whether the
     * bits of such sums are those of floats, see struct gemm_finish. */
    int32_t factor;
    bool are_floats;
};

void gemm_results_run(const struct gemm_results *results, const struct gemm_block *block);

/* Has the problem one scale, or zero point, of a tensor, or none? index: of its quantization. */
bool gemm_results_are_common(const struct problem *problem, int index);

/* Can the plan's sums become results while they are in registers, if all rows have the same factor?
 * One row is better finished for all panels of a step together. */
bool gemm_results_suit(const struct gemm_plan *plan);

/* Are sums of k products of s8, less a zero point of the first factors, at most 2^22 in size? */
static inline bool gemm_results_are_small(size_t k, int32_t zero_point)
{
    return (uint64_t)k * 128 * (uint64_t)(128 + llabs((long long)zero_point)) <= UINT64_C(1) << 22;
}

/* The kernel for a problem's results, or NULL if it has more to do than such a kernel does: sums
 * are s32, or f32. */
gemm_finish_fn *gemm_results_kernel(const struct problem *problem, bool integers,
                                    const struct cpu *cpu);

/* The clamp of post-operations, and dst's scale and zero point. */
struct gemm_finish gemm_results_whole(const struct execution *execution);

#endif
