/* Eight elements of a type as two vectors of f32, and back. */
#ifndef KERNELS_ELEMENTWISE_EIGHT_NEON_H
#define KERNELS_ELEMENTWISE_EIGHT_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "kernels/elementwise/bf16_neon.h"

static inline float32x4x2_t widen_s16(int16x8_t x)
{
    return (float32x4x2_t){
        {vcvtq_f32_s32(vmovl_s16(vget_low_s16(x))), vcvtq_f32_s32(vmovl_high_s16(x))}};
}

/* Rounded, and saturated to s16: farther than any s8 or u8. */
static inline int16x8_t narrow_s16(float32x4x2_t x)
{
    int32x4_t low = vcvtnq_s32_f32(x.val[0]), high = vcvtnq_s32_f32(x.val[1]);
    return vqmovn_high_s32(vqmovn_s32(low), high);
}

/* Each byte's halves, its low one first. */
static inline uint8x8_t halves(const void *src)
{
    uint32_t four;
    memcpy(&four, src, sizeof four);
    uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(four));
    return vzip1_u8(vand_u8(bytes, vdup_n_u8(15)), vshr_n_u8(bytes, 4));
}

static inline float32x4x2_t load_8_f32(const void *src)
{
    const float *from = src;
    return (float32x4x2_t){{vld1q_f32(from), vld1q_f32(from + 4)}};
}

static inline float32x4x2_t load_8_f16(const void *src)
{
    float16x8_t x = vreinterpretq_f16_u16(vld1q_u16(src));
    return (float32x4x2_t){{vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)}};
}

static inline float32x4x2_t load_8_bf16(const void *src)
{
    uint16x8_t x = vld1q_u16(src);
    return (float32x4x2_t){{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)),
                            vreinterpretq_f32_u32(vshll_high_n_u16(x, 16))}};
}

static inline float32x4x2_t load_8_s32(const void *src)
{
    const int32_t *from = src;
    return (float32x4x2_t){{vcvtq_f32_s32(vld1q_s32(from)), vcvtq_f32_s32(vld1q_s32(from + 4))}};
}

static inline float32x4x2_t load_8_s8(const void *src)
{
    return widen_s16(vmovl_s8(vld1_s8(src)));
}

static inline float32x4x2_t load_8_u8(const void *src)
{
    return widen_s16(vreinterpretq_s16_u16(vmovl_u8(vld1_u8(src))));
}

static inline float32x4x2_t load_8_s4(const void *src)
{
    int8x8_t sign = vdup_n_s8(8), x = vreinterpret_s8_u8(halves(src));
    return widen_s16(vsubl_s8(veor_s8(x, sign), sign));
}

static inline float32x4x2_t load_8_u4(const void *src)
{
    return widen_s16(vreinterpretq_s16_u16(vmovl_u8(halves(src))));
}

static inline void store_8_f32(float32x4x2_t values, void *dst)
{
    float *to = dst;
    vst1q_f32(to, values.val[0]);
    vst1q_f32(to + 4, values.val[1]);
}

static inline void store_8_f16(float32x4x2_t values, void *dst)
{
    float16x8_t x = vcvt_high_f16_f32(vcvt_f16_f32(values.val[0]), values.val[1]);
    vst1q_u16(dst, vreinterpretq_u16_f16(x));
}

static inline void store_8_bf16(float32x4x2_t values, void *dst)
{
    vst1q_u16(dst, vcombine_u16(round_bf16(values.val[0]), round_bf16(values.val[1])));
}

static inline void store_8_s32(float32x4x2_t values, void *dst)
{
    int32_t *to = dst;
    vst1q_s32(to, vcvtnq_s32_f32(values.val[0]));
    vst1q_s32(to + 4, vcvtnq_s32_f32(values.val[1]));
}

static inline void store_8_s8(float32x4x2_t values, void *dst)
{
    vst1_s8(dst, vqmovn_s16(narrow_s16(values)));
}

static inline void store_8_u8(float32x4x2_t values, void *dst)
{
    vst1_u8(dst, vqmovun_s16(narrow_s16(values)));
}

#endif
