/* Depthwise convolution of floats with sums of f32. 4 pixels, 3 columns, stride 1: a kernel row
 * takes 6 lines, of two instructions and conversion each, 24 FMLA and 6 loads of weights; all of it
 * fits into registers at once, as compilers like to have it.
 *
 * A file says how a line becomes f32, and back: load_8(), store_8(), and how large its elements
 * are. */
#include <arm_neon.h>

enum { MOST_PIXELS = 4 };

typedef struct {
    float32x4_t low, high;
} eight;

#include "kernels/depthwise/floats_neon.h"

INLINE eight load_start(const float *start)
{
    return (eight){vld1q_f32(start), vld1q_f32(start + 4)};
}

INLINE eight load_weights(const float *tap, size_t channel)
{
    return load_start(tap + channel);
}

INLINE eight multiply_add(eight sums, eight line, eight weights)
{
    return (eight){vfmaq_f32(sums.low, line.low, weights.low),
                   vfmaq_f32(sums.high, line.high, weights.high)};
}

INLINE void store_sums(float *to, eight sums)
{
    vst1q_f32(to, sums.low);
    vst1q_f32(to + 4, sums.high);
}

INLINE eight add_offsets(eight sums, const float *offsets)
{
    return (eight){vaddq_f32(sums.low, vld1q_f32(offsets)),
                   vaddq_f32(sums.high, vld1q_f32(offsets + 4))};
}

INLINE float32x4_t clamp_4(float32x4_t values, float low, float high)
{
    return vminq_f32(vmaxq_f32(values, vdupq_n_f32(low)), vdupq_n_f32(high));
}

INLINE eight clamp(eight sums, float low, float high)
{
    return (eight){clamp_4(sums.low, low, high), clamp_4(sums.high, low, high)};
}

#define F32_KERNELS(type, element) FLOAT_KERNELS(type, neon, CPU_NEON, element, ELEMENT_F32, NULL)
