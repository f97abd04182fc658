/* Depthwise convolution of floats with sums of f32. 4 pixels, 3 columns, stride 1: a kernel row
 * takes 6 lines, of two instructions and conversion each, 24 FMLA and 6 loads of weights; all of it
 * fits into registers at once, as compilers like to have it.
 *
 * A file says how a line becomes f32, and back: load_8(), store_8(), and how large its elements
 * are. */
#include "kernels/depthwise/eight_f32_neon.h"

enum { MOST_PIXELS = 4 };
typedef eight factors;
typedef float weight;

#include "kernels/depthwise/floats_neon.h"

INLINE factors load_weights(const weight *tap, size_t channel)
{
    return load_start(tap + channel);
}

INLINE eight multiply_add(eight sums, factors line, factors weights)
{
    return (eight){vfmaq_f32(sums.low, line.low, weights.low),
                   vfmaq_f32(sums.high, line.high, weights.high)};
}

#define F32_KERNELS(type, element) \
    FLOAT_KERNELS(type, neon, CPU_NEON, element, ELEMENT_F32, ELEMENT_F32)
