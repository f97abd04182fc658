/* Depthwise convolution of f16 with sums of f16, which become f32 when they are complete: a
 * register has 8 channels. 8 pixels, 3 columns, stride 1: a kernel row takes 10 lines, 24 FMLA and
 * 3 loads of weights.
 *
 * Of 3x3 with stride 1 two rows of pixels have two of three lines in common, and all weights stay
 * in registers: 4 pixels of both take 24 lines and 72 FMLA. */
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

/* ---- two rows of pixels ---- */

enum { PAIR_PIXELS = 4, TAPS = 3 };

struct pair {
    eight upper[PAIR_PIXELS], lower[PAIR_PIXELS];
    factors weights[TAPS][TAPS];
};

/* A line of src, number x of row r. */
INLINE void add_line(struct pair *pair, int pixels, int r, int x, factors line)
{
#pragma GCC unroll 8
    for (int i = 0; i < pixels; i++) {
        if (x < i || x >= i + TAPS)
            continue;
        if (r < TAPS)
            pair->upper[i] = multiply_add(pair->upper[i], line, pair->weights[r][x - i]);
        if (r > 0)
            pair->lower[i] = multiply_add(pair->lower[i], line, pair->weights[r - 1][x - i]);
    }
}

INLINE void run_pair_tile(const struct depthwise_taps *taps, const struct tile *tile, int pixels,
                          struct pair *pair)
{
    begin_sums(taps, tile, pixels, pair->upper);
    begin_sums(taps, tile, pixels, pair->lower);
#pragma GCC unroll 4
    for (int r = 0; r < TAPS + 1; r++)
#pragma GCC unroll 8
        for (int x = 0; x < pixels + TAPS - 1; x++)
            add_line(pair, pixels, r, x,
                     load_line(tile->lines + (size_t)r * taps->list + x, tile->offset));
    finish_tile(taps, tile, pixels, 0, pair->upper);
    finish_tile(taps, tile, pixels, taps->below, pair->lower);
}

INLINE void run_pair_tiles(const struct depthwise_taps *taps, size_t pixels)
{
    struct pair pair;
    for (size_t channel = 0; channel < DEPTHWISE_BLOCK; channel += CHANNELS) {
#pragma GCC unroll 9
        for (int k = 0; k < TAPS * TAPS; k++)
            pair.weights[k / TAPS][k % TAPS] = load_weights(
                (const float *)taps->weights + (ptrdiff_t)k * DEPTHWISE_BLOCK, channel);
        for (size_t i = 0; i < taps->pixels; i += pixels) {
            struct tile tile = tile_at(taps, channel, i, pixels);
            run_pair_tile(taps, &tile, (int)pixels, &pair);
        }
    }
}

static void run_pair(const struct depthwise_taps *taps)
{
    if (taps->pixels >= PAIR_PIXELS)
        run_pair_tiles(taps, PAIR_PIXELS);
    else
        run_pair_tiles(taps, 1);
}

const struct depthwise_taps_kernel depthwise_f16_fp16[DEPTHWISE_FLOAT_KERNELS] =
    FLOAT_KERNELS(f16, fp16, CPU_FP16, ELEMENT_F16, ELEMENT_F16, ELEMENT_F16, arrange, run_pair);
