/* Powers of a line and their sum: what softmax needs. */
#ifndef KERNELS_ELEMENTWISE_F32_EXP_SUM_H
#define KERNELS_ELEMENTWISE_F32_EXP_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

/* out[i] = exp(x[i] - max) for i < n, and returns their sum, of sixteen partial ones as a fold's
 * (fold.h). No x[i] is above max. Powers that would be below the normal numbers may be 0; NaN,
 * and the difference of equal infinities, give NaN. out may be x. */
typedef float exp_sum_f32_fn(size_t n, const float *x, float max, float *out);

struct exp_sum_f32_kernel {
    const char *name;
    uint32_t needs;
    exp_sum_f32_fn *run;
};
extern const struct exp_sum_f32_kernel exp_sum_f32_ref, exp_sum_f32_neon;

/* Fastest first; the last needs nothing. */
extern const struct exp_sum_f32_kernel *const exp_sum_f32_kernels[];
extern const size_t exp_sum_f32_kernel_count;

/* The fastest kernel that the features allow; never NULL. */
const struct exp_sum_f32_kernel *exp_sum_f32_find(uint32_t features);

#endif
