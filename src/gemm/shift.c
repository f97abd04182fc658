/* Zero points of sums of products of integers. */
#include "src/gemm/shift.h"

void gemm_shift_sums(const struct gemm_shift *shift, size_t count, int32_t *sums)
{
    uint32_t a_zero = (uint32_t)shift->a_zero, k = (uint32_t)shift->k;
    uint32_t of_b_zero = k * a_zero - (uint32_t)shift->a_sum;
    for (size_t j = 0; shift->b_sums && j < count; j++)
        sums[j] = (int32_t)((uint32_t)sums[j] - a_zero * (uint32_t)shift->b_sums[j]);
    for (size_t j = 0; shift->b_zeros && j < count; j++)
        sums[j] = (int32_t)((uint32_t)sums[j] + of_b_zero * (uint32_t)shift->b_zeros[j]);
}
