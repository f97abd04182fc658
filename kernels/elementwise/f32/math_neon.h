/* exp, log, the tail of the normal distribution and pow on four f32 values, and variants of them
 * near 0.
 *
 * Polynomials are minimax fits of the error that is named, rounded to f32. The largest errors of
 * what is built on them are stated and checked in tests/kernels/eltwise_f32.c. */
#ifndef KERNELS_ELEMENTWISE_F32_MATH_NEON_H
#define KERNELS_ELEMENTWISE_F32_MATH_NEON_H

#include <arm_neon.h>
#include <math.h>
#include <stddef.h>

#include "kernels/asm/inline.h"

static inline float32x4_t splat(float value)
{
    return vdupq_n_f32(value);
}

/* c[0] + c[1] x + … + c[degree] x^degree; degree is a constant after inlining. */
INLINE float32x4_t polynomial(float32x4_t x, const float *c, size_t degree)
{
    float32x4_t sum = splat(c[degree]);
#pragma GCC unroll 10
    for (size_t i = degree; i > 0; i--)
        sum = vfmaq_f32(splat(c[i - 1]), sum, x);
    return sum;
}

/* 1.5 * 2^23 + 127: what is added to it is rounded to an integer, which the last bits have with the
 * bias of an exponent. */
#define ROUNDER 0x1.8000fep23f

/* x = n log(2) + r with |r| <= log(2) / 2. log(2) in two parts: n times the first is exact. n is
 * returned with ROUNDER added. */
static inline float32x4_t reduce_exp(float32x4_t x, float32x4_t *rounded)
{
    *rounded = vfmaq_f32(splat(ROUNDER), x, splat(1.44269504f));
    float32x4_t n = vsubq_f32(*rounded, splat(ROUNDER));
    float32x4_t r = vfmsq_f32(x, n, splat(0x1.62e4p-1f));
    return vfmsq_f32(r, n, splat(0x1.7f7d1cp-20f));
}

/* exp(r) - 1 on the reduced range: r + r r q(r); q's error is 4e-9 of exp(r). Pairs of terms do not
 * wait for each other. */
static inline float32x4_t expm1_reduced(float32x4_t r)
{
    float32x4_t square = vmulq_f32(r, r);
    float32x4_t low = vfmaq_f32(splat(0.49999994f), r, splat(0.166665211f));
    float32x4_t high = vfmaq_f32(splat(0.041668389f), r, splat(0.00836874545f));
    high = vfmaq_f32(high, square, splat(0.00138145441f));
    return vfmaq_f32(r, square, vfmaq_f32(low, square, high));
}

/* 2^n for an integer -126 <= n <= 127 with ROUNDER added. */
static inline float32x4_t power_of_rounded(float32x4_t rounded)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(rounded), 23));
}

/* 2^n for an integer -126 <= n <= 127. */
static inline float32x4_t power_of_two(int32x4_t n)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

/* What math_exp_near() serves. */
#define EXP_NEAR 87

/* math_exp(x), the same bits, for |x| <= EXP_NEAR; other x give anything. */
static inline float32x4_t math_exp_near(float32x4_t x)
{
    float32x4_t rounded, p = vaddq_f32(expm1_reduced(reduce_exp(x, &rounded)), splat(1));
    return vmulq_f32(p, power_of_rounded(rounded));
}

/* For x <= 0: where the result would be below the normal numbers it is 0. */
static inline float32x4_t math_exp_below(float32x4_t x)
{
    uint32x4_t is_far = vcltq_f32(x, splat(-87.33654f)); /* of 2^-126 */
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(math_exp_near(x)), is_far));
}

/* In two factors, since 2^n alone may be no normal number where the result is one or is denormal.
 * Beyond the bounds the result is 0 or infinity. */
static inline float32x4_t math_exp(float32x4_t x)
{
    float32x4_t rounded;
    x = vminq_f32(vmaxq_f32(x, splat(-104)), splat(89));
    float32x4_t p = vaddq_f32(expm1_reduced(reduce_exp(x, &rounded)), splat(1));
    int32x4_t whole =
        vsubq_s32(vreinterpretq_s32_f32(rounded), vreinterpretq_s32_f32(splat(ROUNDER)));
    int32x4_t half = vshrq_n_s32(whole, 1);
    return vmulq_f32(vmulq_f32(p, power_of_two(half)), power_of_two(vsubq_s32(whole, half)));
}

/* exp(x) - 1 for x <= 0, to a relative error also near 0. Below -20 it is -1. */
static inline float32x4_t math_expm1_negative(float32x4_t x)
{
    float32x4_t rounded;
    x = vmaxq_f32(x, splat(-20));
    float32x4_t p = expm1_reduced(reduce_exp(x, &rounded));
    float32x4_t scale = power_of_rounded(rounded);
    return vfmaq_f32(vsubq_f32(scale, splat(1)), p, scale);
}

/* log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]: f - f f / 2 + f f f r(f), error 3e-9 of it; plus
 * n log(2), by the two parts from the smallest term on. */
static inline float32x4_t log_reduced(float32x4_t f, float32x4_t n)
{
    static const float r[] = {0.333333135f,  -0.250000089f, 0.200021192f,
                              -0.166679963f, 0.142195523f,  -0.1240559f,
                              0.118881628f,  -0.116756506f, 0.0674663782f};
    float32x4_t square = vmulq_f32(f, f);
    float32x4_t rest = vmulq_f32(vmulq_f32(square, f), polynomial(f, r, 8));
    rest = vfmaq_f32(rest, n, splat(0x1.7f7d1cp-20f));
    rest = vfmsq_f32(rest, square, splat(0.5f));
    return vaddq_f32(vfmaq_f32(rest, n, splat(0x1.62e4p-1f)), f);
}

/* x = 2^n (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for normal x > 0. */
static inline float32x4_t reduce_log(float32x4_t x, float32x4_t *n)
{
    const int32x4_t sqrt_half = vdupq_n_s32(0x3f3504f3);
    int32x4_t above = vsubq_s32(vreinterpretq_s32_f32(x), sqrt_half);
    int32x4_t exponent = vshrq_n_s32(above, 23);
    int32x4_t significand = vsubq_s32(vreinterpretq_s32_f32(x), vshlq_n_s32(exponent, 23));
    *n = vcvtq_f32_s32(exponent);
    return vsubq_f32(vreinterpretq_f32_s32(significand), splat(1));
}

static inline float32x4_t math_log(float32x4_t x)
{
    uint32x4_t is_small = vcltq_f32(x, splat(0x1p-126f));
    float32x4_t n, f = reduce_log(vbslq_f32(is_small, vmulq_n_f32(x, 0x1p25f), x), &n);
    n = vsubq_f32(n, vbslq_f32(is_small, splat(25), splat(0)));
    float32x4_t y = log_reduced(f, n);
    y = vbslq_f32(vceqq_f32(x, splat(INFINITY)), x, y);
    y = vbslq_f32(vceqzq_f32(x), splat(-INFINITY), y);
    /* true for NaN too */
    return vbslq_f32(vcgeq_f32(x, splat(0)), y, splat(NAN));
}

/* log(1 + e) for 0 <= e <= 1, to a relative error also near 0. 1 + e is halved above sqrt(2). */
static inline float32x4_t math_log1p_unit(float32x4_t e)
{
    uint32x4_t is_high = vcgtq_f32(e, splat(0.414213562f));
    float32x4_t halved = vmulq_n_f32(vsubq_f32(e, splat(1)), 0.5f);
    return log_reduced(vbslq_f32(is_high, halved, e), vbslq_f32(is_high, splat(1), splat(0)));
}

/* Four times the same. Volatile, it is loaded each time that something is added to it: a
 * multiply-add changes what it adds to, and a copy of a register takes a place among products. */
typedef const volatile float32x4_t loaded_constant;
/* clang-format off */
#define FOUR_TIMES(x) {x, x, x, x}
/* clang-format on */

/* c[0] + … + c[7] x^7 in pairs of terms, which do not wait for each other. */
static inline float32x4_t polynomial_7(float32x4_t x, loaded_constant even[4], const float odd[4])
{
    float32x4_t x2 = vmulq_f32(x, x), x4 = vmulq_f32(x2, x2), pair[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        pair[i] = vfmaq_f32(even[i], x, splat(odd[i]));
    float32x4_t low = vfmaq_f32(pair[0], x2, pair[1]), high = vfmaq_f32(pair[2], x2, pair[3]);
    return vfmaq_f32(low, x4, high);
}

/* From here on the normal distribution's tail is 0 as it is computed: the eighth power below is
 * infinite. */
#define TAIL_END 40

/* x (1 - erf(x / sqrt(2))) / 2 for 0 <= x <= TAIL_END: x times what a normally distributed value is
 * above x with, which is the eighth power of 1 / (c + x q(x)). Its error is 4.3e-8 by the
 * polynomial, and at most 2e-7 with all that is rounded. */
static inline float32x4_t math_tail_times(float32x4_t x)
{
    static loaded_constant even[] = {FOUR_TIMES(0.10875348f), FOUR_TIMES(0.00932634342f),
                                     FOUR_TIMES(9.39785896e-05f), FOUR_TIMES(-1.99837141e-05f)};
    static const float odd[] = {0.048864767f, 0.00111473142f, 0.000115881965f, 3.32528361e-06f};
    static loaded_constant start = FOUR_TIMES(1.09050822f);
    float32x4_t root = vfmaq_f32(start, x, polynomial_7(x, even, odd));
    float32x4_t square = vmulq_f32(root, root), fourth = vmulq_f32(square, square);
    return vdivq_f32(x, vmulq_f32(fourth, fourth));
}

/* 2^(b log2(x)) for two normal x > 0, in f64: an error of log2(x) counts b log2(x) times, so f32
 * is not enough. log2(m) = 2 / log(2) (s + s^3 / 3 + …), s = (m - 1) / (m + 1), |s| < 0.172: the
 * first term left out is 3e-14. 2^f by its series for |f| <= 1/2: 2e-13. */
static inline float64x2_t pow_wide(float64x2_t x, float64x2_t b)
{
    static const double log2_terms[] = {
        0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2,
        0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2, 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3};
    static const double exp2_terms[] = {
        0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0c0p-5,
        0x1.3b2ab6fba4e77p-7,  0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17,
        0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24};
    const int64x2_t sqrt_half = vdupq_n_s64(0x3fe6a09e667f3bcd);
    const float64x2_t one = vdupq_n_f64(1);
    int64x2_t bits = vreinterpretq_s64_f64(x);
    int64x2_t exponent = vshrq_n_s64(vsubq_s64(bits, sqrt_half), 52);
    float64x2_t m = vreinterpretq_f64_s64(vsubq_s64(bits, vshlq_n_s64(exponent, 52)));
    float64x2_t s = vdivq_f64(vsubq_f64(m, one), vaddq_f64(m, one)), s2 = vmulq_f64(s, s);
    float64x2_t sum = vdupq_n_f64(log2_terms[7]);
#pragma GCC unroll 7
    for (size_t i = 7; i > 0; i--)
        sum = vfmaq_f64(vdupq_n_f64(log2_terms[i - 1]), sum, s2);
    float64x2_t log2_x = vfmaq_f64(vcvtq_f64_s64(exponent), sum, s);
    /* beyond these bounds the f32 result is 0 or infinity */
    float64x2_t y = vmulq_f64(log2_x, b);
    y = vminq_f64(vmaxq_f64(y, vdupq_n_f64(-200)), vdupq_n_f64(200));
    float64x2_t n = vrndnq_f64(y), f = vsubq_f64(y, n);
    sum = vdupq_n_f64(exp2_terms[9]);
#pragma GCC unroll 9
    for (size_t i = 9; i > 0; i--)
        sum = vfmaq_f64(vdupq_n_f64(exp2_terms[i - 1]), sum, f);
    int64x2_t shifted = vshlq_n_s64(vcvtq_s64_f64(n), 52);
    return vreinterpretq_f64_s64(vaddq_s64(vreinterpretq_s64_f64(sum), shifted));
}

/* C's powf(). |x|^b, negative for a negative x and an odd b, NaN for another b that is no integer;
 * zeros, infinities and NaN are rare: those go by elements, the others of their vector do not. */
static inline float32x4_t math_pow(float32x4_t x, float32x4_t b)
{
    float32x4_t size = vabsq_f32(x);
    float64x2_t low = pow_wide(vcvt_f64_f32(vget_low_f32(size)), vcvt_f64_f32(vget_low_f32(b)));
    float64x2_t high = pow_wide(vcvt_high_f64_f32(size), vcvt_high_f64_f32(b));
    float32x4_t y = vcvt_high_f32_f64(vcvt_f32_f64(low), high);

    uint32x4_t is_negative = vcltzq_f32(x), is_whole = vceqq_f32(vrndnq_f32(b), b);
    /* saturates for a large b, which is even */
    uint32x4_t parity = vreinterpretq_u32_s32(vcvtq_s32_f32(b));
    parity = vandq_u32(parity, vcaltq_f32(b, splat(0x1p24f)));
    uint32x4_t sign = vandq_u32(vshlq_n_u32(parity, 31), is_negative);
    y = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(y), sign));
    y = vbslq_f32(vbicq_u32(is_negative, is_whole), splat(NAN), y);

    uint32x4_t is_plain = vandq_u32(vcaltq_f32(x, splat(INFINITY)), vcaltq_f32(b, splat(INFINITY)));
    is_plain = vandq_u32(is_plain, vcagtq_f32(x, splat(0)));
    if (vminvq_u32(is_plain) != 0)
        return y;
    float values[4], exponents[4], results[4];
    vst1q_f32(values, x);
    vst1q_f32(exponents, b);
    for (size_t i = 0; i < 4; i++)
        results[i] = powf(values[i], exponents[i]);
    return vbslq_f32(is_plain, y, vld1q_f32(results));
}

#endif
