/* C = A B, f32, many products of a few rows, columns and steps side by side: each element stands
 * for a line, whose values belong to one product after the other. */
#ifndef KERNELS_GEMM_F32_LINES_LINES_H
#define KERNELS_GEMM_F32_LINES_LINES_H

#include "kernels/asm/list.h"

/* for i < m, j < n, x < count:
 *     c[i * c_row + j * c_column + x] =
 *         sum over p < k of a[i * a_row + p * a_step + x] * b[p * b_step + j * b_column + x]
 *
 * or, with b_is_shared, without that x in b. The sum begins with the product of step 0, and each
 * step is added by one rounding. All sizes are at least 1; nothing else is read or written. */
struct gemm_f32_lines {
    size_t m, n, k, count;
    const float *a, *b;
    float *c;
    ptrdiff_t a_row, a_step, b_step, b_column, c_row, c_column;
    int b_is_shared;
};
typedef void gemm_f32_lines_fn(const struct gemm_f32_lines *lines);

KERNEL_LIST(gemm_f32_lines);

#endif
