/* Rounding to bf16 without its instructions. */
#ifndef KERNELS_ELEMENTWISE_BF16_NEON_H
#define KERNELS_ELEMENTWISE_BF16_NEON_H

#include <arm_neon.h>

/* To the nearest with ties to even, as an addition of integers: of 0x7fff, and of the last bit that
 * is kept, which two shifts bring to where it is added. A NaN becomes quiet instead. */
static inline uint16x4_t round_bf16(float32x4_t x)
{
    uint32x4_t bits = vreinterpretq_u32_f32(x), odd_first = vshlq_n_u32(bits, 15);
    uint32x4_t rounded = vsraq_n_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd_first, 31);
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), rounded, quiet), 16);
}

#endif
