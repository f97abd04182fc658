/* Depthwise convolution of f16 by f16 with sums of f32: FMLAL multiplies without conversions. A
 * register has 8 channels of a line, two have their sums. 8 pixels, 3 columns, stride 1: a kernel
 * row takes 10 lines, 48 FMLAL and 3 loads of weights. */
#include "kernels/depthwise/eight_f32_neon.h"

enum { MOST_PIXELS = 8 };
typedef float16x8_t factors;

#include "kernels/depthwise/f16/factors_neon.h"

INLINE eight multiply_add(eight sums, factors line, factors weights)
{
    return (eight){vfmlalq_low_f16(sums.low, line, weights),
                   vfmlalq_high_f16(sums.high, line, weights)};
}

INLINE void store_8(void *to, eight values)
{
    store_f16(to, values);
}

const struct depthwise_taps_kernel depthwise_f16_fhm[DEPTHWISE_FLOAT_KERNELS] =
    FLOAT_KERNELS(f16, fhm, CPU_FHM, ELEMENT_F16, ELEMENT_F16, ELEMENT_F32);
