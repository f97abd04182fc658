/* Depthwise convolution of bf16 with sums of f32: what is shifted by 16 bits is an f32. */
#include "kernels/depthwise/floats_f32_neon.h"
#include "kernels/elementwise/bf16_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(uint16_t);
}

INLINE eight load_8(const void *line)
{
    uint16x8_t halves = vld1q_u16(line);
    return (eight){vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16)),
                   vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16))};
}

INLINE void store_8(void *to, eight values)
{
    vst1q_u16(to, vcombine_u16(round_bf16(values.low), round_bf16(values.high)));
}

const struct depthwise_taps_kernel depthwise_bf16_neon[DEPTHWISE_FLOAT_KERNELS] =
    F32_KERNELS(bf16, ELEMENT_BF16);
