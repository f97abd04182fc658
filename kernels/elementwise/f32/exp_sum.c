/* The kernels for powers and their sum, fastest first. */
#include "kernels/elementwise/f32/exp_sum.h"

const struct exp_sum_f32_kernel *const exp_sum_f32_kernels[] = {
#if !NEO_PORTABLE
    &exp_sum_f32_neon,
#endif
    &exp_sum_f32_ref,
};
const size_t exp_sum_f32_kernel_count = sizeof exp_sum_f32_kernels / sizeof exp_sum_f32_kernels[0];

const struct exp_sum_f32_kernel *exp_sum_f32_find(uint32_t features)
{
    size_t i = 0;
    while (exp_sum_f32_kernels[i]->needs & ~features)
        i++;
    return exp_sum_f32_kernels[i];
}
