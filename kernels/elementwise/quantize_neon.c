/* Quantizes lines for NEON, sixteen values at a time: two loads, four products, four conversions,
 * six narrowings, two additions of the zero point, one store, two for the sum. */
#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/elementwise/quantize.h"

enum { AT_ONCE = 16 };

/* Two pairs of extremes, so that one does not wait for the other. */
static void range(size_t n, const float *src, float out[2])
{
    float32x4_t low[2] = {vdupq_n_f32(out[0]), vdupq_n_f32(out[0])};
    float32x4_t high[2] = {vdupq_n_f32(out[1]), vdupq_n_f32(out[1])};
    size_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE)
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++) {
            float32x4_t values = vld1q_f32(src + i + 4 * v);
            low[v % 2] = vminnmq_f32(low[v % 2], values);
            high[v % 2] = vmaxnmq_f32(high[v % 2], values);
        }
    for (; i < n; i++) {
        float32x4_t value = vdupq_n_f32(src[i]);
        low[0] = vminnmq_f32(low[0], value);
        high[0] = vmaxnmq_f32(high[0], value);
    }
    out[0] = vminnmvq_f32(vminnmq_f32(low[0], low[1]));
    out[1] = vmaxnmvq_f32(vmaxnmq_f32(high[0], high[1]));
}

/* Rounded and saturated to s16, beyond which there is nothing that zero would bring back. */
INLINE int16x8_t eight(const float *src, float32x4_t scale, int divides)
{
    float32x4_t low = vld1q_f32(src), high = vld1q_f32(src + 4);
    low = divides ? vdivq_f32(low, scale) : vmulq_f32(low, scale);
    high = divides ? vdivq_f32(high, scale) : vmulq_f32(high, scale);
    return vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(low)), vcvtnq_s32_f32(high));
}

INLINE uint8x16_t sixteen(const float *src, const struct quantize_line *line, int has_sign,
                          int divides)
{
    float32x4_t scale = vdupq_n_f32(line->scale);
    int16x8_t zero = vdupq_n_s16((int16_t)line->zero);
    int16x8_t low = vqaddq_s16(eight(src, scale, divides), zero);
    int16x8_t high = vqaddq_s16(eight(src + 8, scale, divides), zero);
    if (has_sign)
        return vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(low), high));
    return vqmovun_high_s16(vqmovun_s16(low), high);
}

INLINE int32x4_t add_bytes(int32x4_t sum, uint8x16_t bytes, int has_sign)
{
    if (has_sign)
        return vpadalq_s16(sum, vpaddlq_s8(vreinterpretq_s8_u8(bytes)));
    return vreinterpretq_s32_u32(vpadalq_u16(vreinterpretq_u32_s32(sum), vpaddlq_u8(bytes)));
}

INLINE void quantize(struct quantize_line *line, int has_sign, int divides)
{
    const struct quantize_line own = *line; /* stores of bytes do not change it */
    uint8_t *dst = own.dst;
    int32x4_t sum = vdupq_n_s32(0);
    size_t i = 0;
    for (; i + AT_ONCE <= own.n; i += AT_ONCE) {
        uint8x16_t bytes = sixteen(own.src + i, &own, has_sign, divides);
        vst1q_u8(dst + i, bytes);
        sum = add_bytes(sum, bytes, has_sign);
    }
    line->sum = vaddvq_s32(sum);
    if (i == own.n)
        return;
    float rest[AT_ONCE] = {0};
    uint8_t bytes[AT_ONCE];
    memcpy(rest, own.src + i, (own.n - i) * sizeof *rest);
    vst1q_u8(bytes, sixteen(rest, &own, has_sign, divides));
    for (; i < own.n; i++) {
        dst[i] = bytes[i % AT_ONCE];
        line->sum += has_sign ? (int8_t)dst[i] : dst[i];
    }
}

#define KERNEL(name, has_sign, divides)          \
    static void name(struct quantize_line *line) \
    {                                            \
        quantize(line, has_sign, divides);       \
    }
KERNEL(multiply_s8, 1, 0)
KERNEL(divide_s8, 1, 1)
KERNEL(multiply_u8, 0, 0)
KERNEL(divide_u8, 0, 1)
#undef KERNEL

const struct quantize_kernel quantize_neon[QUANTIZE_TYPES] = {
    {"quantize_s8_neon", CPU_NEON, ELEMENT_S8, range, multiply_s8, divide_s8},
    {"quantize_u8_neon", CPU_NEON, ELEMENT_U8, range, multiply_u8, divide_u8},
};
