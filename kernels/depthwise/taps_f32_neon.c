/* Depthwise convolution of f32 by weights of other types, or with scales. */
#include "kernels/depthwise/floats_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(float);
}

INLINE void load_8(const void *line, float32x4_t *out)
{
    const float *values = line;
    out[0] = vld1q_f32(values);
    out[1] = vld1q_f32(values + 4);
}

const struct depthwise_taps_kernel depthwise_f32_neon[DEPTHWISE_FLOAT_KERNELS] =
    FLOAT_KERNELS(f32, ELEMENT_F32);
