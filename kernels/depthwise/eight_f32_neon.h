/* Sums of f32 of 8 channels, in two registers. */
#ifndef KERNELS_DEPTHWISE_EIGHT_F32_NEON_H
#define KERNELS_DEPTHWISE_EIGHT_F32_NEON_H

#include <arm_neon.h>

#include "kernels/asm/inline.h"

typedef struct {
    float32x4_t low, high;
} eight;

INLINE eight load_start(const float *start)
{
    return (eight){vld1q_f32(start), vld1q_f32(start + 4)};
}

INLINE void store_sums(float *to, eight sums)
{
    vst1q_f32(to, sums.low);
    vst1q_f32(to + 4, sums.high);
}

INLINE eight add_offsets(eight sums, const float *offsets)
{
    return (eight){vaddq_f32(sums.low, vld1q_f32(offsets)),
                   vaddq_f32(sums.high, vld1q_f32(offsets + 4))};
}

INLINE float32x4_t clamp_4(float32x4_t values, float low, float high)
{
    return vminq_f32(vmaxq_f32(values, vdupq_n_f32(low)), vdupq_n_f32(high));
}

INLINE eight clamp(eight sums, float low, float high)
{
    return (eight){clamp_4(sums.low, low, high), clamp_4(sums.high, low, high)};
}

INLINE void store_f16(uint16_t *to, eight values)
{
    float16x4_t low = vcvt_f16_f32(values.low);
    vst1q_u16(to, vreinterpretq_u16_f16(vcvt_high_f16_f32(low, values.high)));
}

#endif
