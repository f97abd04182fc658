/* Rounding to bf16 without its instructions. */
#ifndef KERNELS_ELEMENTWISE_BF16_NEON_H
#define KERNELS_ELEMENTWISE_BF16_NEON_H

#include <arm_neon.h>

/* To the nearest with ties to even, as an addition of integers; a NaN becomes quiet instead. */
static inline uint16x4_t round_bf16(float32x4_t x)
{
    uint32x4_t bits = vreinterpretq_u32_f32(x), one = vdupq_n_u32(1);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), one);
    uint32x4_t rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), rounded, quiet), 16);
}

#endif
