/* Depthwise convolution of f16 with sums of f32: FCVTL, then FMLA. */
#include "kernels/depthwise/floats_f32_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(uint16_t);
}

INLINE eight load_8(const void *line)
{
    float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(line));
    return (eight){vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)};
}

INLINE void store_8(void *to, eight values)
{
    store_f16(to, values);
}

const struct depthwise_taps_kernel depthwise_f16_neon[DEPTHWISE_FLOAT_KERNELS] =
    F32_KERNELS(f16, ELEMENT_F16);
