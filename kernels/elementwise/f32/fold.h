/* One value of a line: sums, products and extremes, and the sum of powers, which softmax needs. */
#ifndef KERNELS_ELEMENTWISE_F32_FOLD_H
#define KERNELS_ELEMENTWISE_F32_FOLD_H

#include "kernels/asm/list.h"

/* FUNCTION(name in the enumeration, name in the kernels'), in the order of the tables. */
/* clang-format off */
#define FOLD_F32_FUNCTIONS(FUNCTION) \
    FUNCTION(SUM, sum) \
    FUNCTION(SQUARES, squares) /* the sum of (x - about)^2 */ \
    FUNCTION(PRODUCT, product) \
    FUNCTION(MAX, max) /* NaN if any is */ \
    FUNCTION(MIN, min)
/* clang-format on */

#define NUMBER(number, name) FOLD_F32_##number,
enum fold_f32_alg { FOLD_F32_FUNCTIONS(NUMBER) FOLD_F32_COUNT };
#undef NUMBER

/* Of x[0] … x[n - 1], n > 0. Sixteen partial results, of every sixteenth value each, are put
 * together in one order, so the result depends on n and the values alone, and the error of a sum
 * grows with n / 16. */
typedef float fold_f32_fn(size_t n, const float *x, float about);

/* out[i] = exp(x[i] - max) for i < n, and returns their sum, of sixteen partial ones as a fold's.
 * No x[i] is above max. Powers that would be below the normal numbers may be 0; NaN, and the
 * difference of equal infinities, give NaN. out may be x. */
typedef float exp_sum_f32_fn(size_t n, const float *x, float max, float *out);

KERNEL_TABLES(fold_f32, FOLD_F32_COUNT);
KERNEL_LIST(exp_sum_f32);

#endif
