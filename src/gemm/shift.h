/* Sums of products of integers, less what their zero points ask for. */
#ifndef SRC_GEMM_SHIFT_H
#define SRC_GEMM_SHIFT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/elementwise/element.h"

/* For one row of A with zero point a_zero, and columns j of B with b_zeros[j], which are those of
 * the elements in panels: the sum over p < k of a(p) * b(p), and those of a(p) and of b(p). */
struct gemm_shift {
    size_t k;
    int32_t a_zero, a_sum;
    const int32_t *b_zeros, *b_sums; /* NULL: all are 0; the sums then do not count */
};

/* sums[j] becomes the sum of (a(p) - a_zero) * (b(p) - b_zeros[j]), modulo 2^32. */
void gemm_shift_sums(const struct gemm_shift *shift, size_t count, int32_t *sums);

/* The zero point in a panel of s8 of what has `zero_point` in memory: u8 is there less 128. */
static inline int32_t gemm_shift_zero(enum element stored, int32_t zero_point)
{
    return (int32_t)((uint32_t)zero_point - (stored == ELEMENT_U8 ? 128 : 0));
}

#endif
