/* Depthwise convolution of f32 by weights of other types, or with scales. */
#include "kernels/depthwise/floats_f32_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(float);
}

INLINE eight load_8(const void *line)
{
    return load_start(line);
}

INLINE void store_8(void *to, eight values)
{
    store_sums(to, values);
}

const struct depthwise_taps_kernel depthwise_f32_neon[DEPTHWISE_FLOAT_KERNELS] =
    F32_KERNELS(f32, ELEMENT_F32);
