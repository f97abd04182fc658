/* The tables of folds and of sums of powers, fastest first. */
#include "kernels/elementwise/f32/fold.h"

const struct fold_f32_kernel *const fold_f32_kernels[] = {
#if !NEO_PORTABLE
    fold_f32_neon,
#endif
    fold_f32_ref,
};
const size_t fold_f32_kernel_count = sizeof fold_f32_kernels / sizeof fold_f32_kernels[0];

const struct exp_sum_f32_kernel *const exp_sum_f32_kernels[] = {
#if !NEO_PORTABLE
    &exp_sum_f32_neon,
#endif
    &exp_sum_f32_ref,
};
const size_t exp_sum_f32_kernel_count = sizeof exp_sum_f32_kernels / sizeof exp_sum_f32_kernels[0];

const struct fold_f32_kernel *fold_f32_find(uint32_t features, enum fold_f32_alg alg)
{
    size_t i = 0;
    while (fold_f32_kernels[i][alg].needs & ~features)
        i++;
    return &fold_f32_kernels[i][alg];
}

const struct exp_sum_f32_kernel *exp_sum_f32_find(uint32_t features)
{
    size_t i = 0;
    while (exp_sum_f32_kernels[i]->needs & ~features)
        i++;
    return exp_sum_f32_kernels[i];
}
