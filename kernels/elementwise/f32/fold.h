/* One value of a line: sums, products and extremes, and the sum of powers, which softmax needs. */
#ifndef KERNELS_ELEMENTWISE_F32_FOLD_H
#define KERNELS_ELEMENTWISE_F32_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

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

struct fold_f32_kernel {
    const char *name;
    uint32_t needs;
    fold_f32_fn *run;
};

/* out[i] = exp(x[i] - max) for i < n, and returns their sum, of sixteen partial ones as a fold's.
 * No x[i] is above max. Powers that would be below the normal numbers may be 0; NaN, and the
 * difference of equal infinities, give NaN. out may be x. */
typedef float exp_sum_f32_fn(size_t n, const float *x, float max, float *out);

struct exp_sum_f32_kernel {
    const char *name;
    uint32_t needs;
    exp_sum_f32_fn *run;
};

/* Indexed by algorithm. */
extern const struct fold_f32_kernel fold_f32_ref[FOLD_F32_COUNT], fold_f32_neon[FOLD_F32_COUNT];
extern const struct exp_sum_f32_kernel exp_sum_f32_ref, exp_sum_f32_neon;

/* Fastest first; the last needs nothing. */
extern const struct fold_f32_kernel *const fold_f32_kernels[];
extern const size_t fold_f32_kernel_count; /* of tables */
extern const struct exp_sum_f32_kernel *const exp_sum_f32_kernels[];
extern const size_t exp_sum_f32_kernel_count;

/* The fastest kernel that the features allow; never NULL. */
const struct fold_f32_kernel *fold_f32_find(uint32_t features, enum fold_f32_alg alg);
const struct exp_sum_f32_kernel *exp_sum_f32_find(uint32_t features);

#endif
