/* Depthwise convolution of f16 with sums of f16, which become f32 when they are complete: a
 * register has 8 channels. 8 pixels, 3 columns, stride 1: a kernel row takes 10 lines, 24 FMLA and
 * 3 loads of weights. */
#include <arm_neon.h>

enum { MOST_PIXELS = 8 };
typedef float16x8_t eight, factors;

#include "kernels/depthwise/f16/factors_neon.h"

INLINE eight load_start(const float *start)
{
    return vcvt_high_f16_f32(vcvt_f16_f32(vld1q_f32(start)), vld1q_f32(start + 4));
}

INLINE eight multiply_add(eight sums, factors line, factors weights)
{
    return vfmaq_f16(sums, line, weights);
}

INLINE void store_sums(float *to, eight sums)
{
    vst1q_f32(to, vcvt_f32_f16(vget_low_f16(sums)));
    vst1q_f32(to + 4, vcvt_high_f32_f16(sums));
}

/* As f32. */
INLINE eight add_offsets(eight sums, const float *offsets)
{
    float32x4_t low = vaddq_f32(vcvt_f32_f16(vget_low_f16(sums)), vld1q_f32(offsets));
    float32x4_t high = vaddq_f32(vcvt_high_f32_f16(sums), vld1q_f32(offsets + 4));
    return vcvt_high_f16_f32(vcvt_f16_f32(low), high);
}

/* Of rounded values by rounded limits, which is the same as to round what is clamped. */
INLINE eight clamp(eight sums, float low, float high)
{
    float16x4_t of_low = vcvt_f16_f32(vdupq_n_f32(low)), of_high = vcvt_f16_f32(vdupq_n_f32(high));
    return vminq_f16(vmaxq_f16(sums, vcombine_f16(of_low, of_low)), vcombine_f16(of_high, of_high));
}

INLINE void store_8(void *to, eight values)
{
    vst1q_u16(to, vreinterpretq_u16_f16(values));
}

/* In slide_fp16.S: 3x3. */
depthwise_taps_fn depthwise_f16_3s1_pair, depthwise_f16_3s1_slide, depthwise_f16_3s2_slide;

static void run_3s1_of_any_rows(const struct depthwise_taps *taps)
{
    if (taps->groups == 3)
        depthwise_f16_3s1_slide(taps);
    else
        run_3s1(taps);
}

static void run_3s2_of_any_rows(const struct depthwise_taps *taps)
{
    if (taps->groups == 3)
        depthwise_f16_3s2_slide(taps);
    else
        run_3s2(taps);
}

/* clang-format off */
#define F16_ROW(name, way, columns, stride, pair, rows) \
    ROW("f16_" name "_fp16", CPU_FP16, ELEMENT_F16, ELEMENT_F16, ELEMENT_F16, way, columns, stride, pair, rows)
/* clang-format on */
const struct depthwise_taps_kernel depthwise_f16_fp16[DEPTHWISE_FLOAT_KERNELS] = {
    F16_ROW("3s1", 3s1_of_any_rows, 3, 1, depthwise_f16_3s1_pair, 3),
    F16_ROW("3s2", 3s2_of_any_rows, 3, 2, NULL, 3),
    F16_ROW("5s1", 5s1, 5, 1, NULL, 0),
    F16_ROW("5s2", 5s2, 5, 2, NULL, 0),
    F16_ROW("any", any, 0, 0, NULL, 0),
};
