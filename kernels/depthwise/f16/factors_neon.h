/* Factors of depthwise convolutions that are f16 in registers: lines of src and weights, which
 * arrange() rounds, of 8 channels each. */
#ifndef KERNELS_DEPTHWISE_F16_FACTORS_NEON_H
#define KERNELS_DEPTHWISE_F16_FACTORS_NEON_H

#include "kernels/depthwise/floats_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(uint16_t);
}

INLINE factors load_8(const void *line)
{
    return vreinterpretq_f16_u16(vld1q_u16(line));
}

/* As arrange() left them. */
INLINE factors load_weights(const float *tap, size_t channel)
{
    return load_8((const uint16_t *)(const void *)tap + channel);
}

INLINE void store_rounded(uint16_t *to, const float *from)
{
    float16x4_t low = vcvt_f16_f32(vld1q_f32(from));
    vst1q_u16(to, vreinterpretq_u16_f16(vcvt_high_f16_f32(low, vld1q_f32(from + 4))));
}

/* Weights of a tap become f16, where the first of them were. */
static void arrange(size_t count, int8_t *weights)
{
    float *tap = (float *)(void *)weights;
    for (; count > 0; count--, tap += DEPTHWISE_BLOCK) {
        store_rounded((uint16_t *)(void *)tap, tap);
        store_rounded((uint16_t *)(void *)tap + 8, tap + 8);
    }
}

#endif
