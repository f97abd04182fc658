/* Factors of depthwise convolutions that are f16 in registers as in memory: lines of src and
 * weights, of 8 channels each. */
#ifndef KERNELS_DEPTHWISE_F16_FACTORS_NEON_H
#define KERNELS_DEPTHWISE_F16_FACTORS_NEON_H

typedef uint16_t weight;

#include "kernels/depthwise/floats_neon.h"

INLINE size_t element_size(void)
{
    return sizeof(uint16_t);
}

INLINE factors load_8(const void *line)
{
    return vreinterpretq_f16_u16(vld1q_u16(line));
}

INLINE factors load_weights(const weight *tap, size_t channel)
{
    return load_8(tap + channel);
}

#endif
