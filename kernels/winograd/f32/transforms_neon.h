/* Winograd's transforms of one row or column, of four channels: to the products, and back.
 *
 * A standard transform of 8 values takes 24 instructions to the products and 20 back: points come
 * in pairs ±p, whose rows share an even and an odd part. */
#ifndef KERNELS_WINOGRAD_F32_TRANSFORMS_NEON_H
#define KERNELS_WINOGRAD_F32_TRANSFORMS_NEON_H

#include <arm_neon.h>

#include "kernels/asm/inline.h"
#include "kernels/winograd/f32/winograd.h"

/* a + b c */
INLINE float32x4_t add(float32x4_t a, float32x4_t b, float c)
{
    return vfmaq_n_f32(a, b, c);
}

/* ---- to the products ---- */

INLINE void forward_4(float32x4_t *out, const float32x4_t *d)
{
    out[0] = vsubq_f32(d[3], d[1]);
    out[1] = vsubq_f32(d[2], d[0]);
    out[2] = vaddq_f32(d[2], d[1]);
    out[3] = vsubq_f32(d[2], d[1]);
}

INLINE void forward_5(float32x4_t *out, const float32x4_t *d)
{
    out[0] = add(vsubq_f32(d[4], d[2]), vsubq_f32(d[1], d[3]), 2);
    out[1] = add(vsubq_f32(d[3], d[1]), vsubq_f32(d[0], d[2]), 2);
    out[2] = add(vsubq_f32(d[3], d[2]), d[1], -2);
    out[3] = add(add(d[3], d[2], -3), d[1], 2);
    out[4] = vsubq_f32(d[3], d[1]);
}

INLINE void forward_6(float32x4_t *out, const float32x4_t *d)
{
    float32x4_t even = vsubq_f32(d[4], d[2]), odd = vsubq_f32(d[3], d[1]);
    out[0] = add(vsubq_f32(d[5], d[3]), odd, -4);
    out[1] = add(even, vsubq_f32(d[2], d[0]), -4);
    float32x4_t even_1 = add(d[4], d[2], -4), odd_1 = add(d[3], d[1], -4);
    out[2] = vaddq_f32(even_1, odd_1);
    out[3] = vsubq_f32(even_1, odd_1);
    odd = vaddq_f32(odd, odd);
    out[4] = vaddq_f32(even, odd);
    out[5] = vsubq_f32(even, odd);
}

/* The points ±2 have the even part d6 - 5/4 d4 + 1/4 d2, ±1/2 have d6 - 5 d4 + 4 d2, so a
 * difference apart from a multiple of another; twice and half the odd parts are so too. */
INLINE void forward_8(float32x4_t *out, const float32x4_t *d)
{
    float32x4_t even = vsubq_f32(d[6], d[4]), even_low = vsubq_f32(d[2], d[4]);
    float32x4_t odd = vsubq_f32(d[5], d[3]), odd_low = vsubq_f32(d[1], d[3]);
    out[0] = add(vsubq_f32(d[7], d[1]), odd, -5.25F);
    out[1] = add(vsubq_f32(d[6], d[0]), even_low, 5.25F);
    float32x4_t even_1 = add(vaddq_f32(d[6], d[2]), d[4], -4.25F);
    float32x4_t odd_1 = add(vaddq_f32(d[5], d[1]), d[3], -4.25F);
    out[2] = vaddq_f32(even_1, odd_1);
    out[3] = vsubq_f32(even_1, odd_1);
    float32x4_t even_2 = add(even, even_low, 0.25F), even_half = add(even, even_low, 4);
    float32x4_t odd_2 = add(vmulq_n_f32(odd, 2), odd_low, 0.5F);
    float32x4_t odd_half = add(vmulq_n_f32(odd, 0.5F), odd_low, 2);
    out[4] = vaddq_f32(even_2, odd_2);
    out[5] = vsubq_f32(even_2, odd_2);
    out[6] = vaddq_f32(even_half, odd_half);
    out[7] = vsubq_f32(even_half, odd_half);
}

/* ---- and back ---- */

INLINE void backward_4(float32x4_t *out, const float32x4_t *x)
{
    out[0] = vaddq_f32(x[1], vaddq_f32(x[2], x[3]));
    out[1] = vaddq_f32(x[0], vsubq_f32(x[2], x[3]));
}

INLINE void backward_5(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum = vaddq_f32(x[2], x[3]), difference = vsubq_f32(x[2], x[3]);
    out[0] = vaddq_f32(vaddq_f32(x[1], sum), x[4]);
    out[1] = add(difference, x[4], 2);
    out[2] = vaddq_f32(x[0], add(sum, x[4], 4));
}

INLINE void backward_6(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum_1 = vaddq_f32(x[2], x[3]), difference_1 = vsubq_f32(x[2], x[3]);
    float32x4_t sum_2 = vaddq_f32(x[4], x[5]), difference_2 = vsubq_f32(x[4], x[5]);
    out[0] = vaddq_f32(x[1], vaddq_f32(sum_1, sum_2));
    out[3] = add(vaddq_f32(x[0], difference_1), difference_2, 8);
    out[1] = add(difference_1, difference_2, 2);
    out[2] = add(sum_1, sum_2, 4);
}

INLINE void backward_8(float32x4_t *out, const float32x4_t *x)
{
    float32x4_t sum_1 = vaddq_f32(x[2], x[3]), difference_1 = vsubq_f32(x[2], x[3]);
    float32x4_t sum_2 = vaddq_f32(x[4], x[5]), difference_2 = vsubq_f32(x[4], x[5]);
    float32x4_t sum_h = vaddq_f32(x[6], x[7]), difference_h = vsubq_f32(x[6], x[7]);
    out[0] = vaddq_f32(vaddq_f32(x[1], sum_1), vaddq_f32(sum_2, sum_h));
    out[5] = add(add(vaddq_f32(x[0], difference_1), difference_2, 32), difference_h, 0.03125F);
    out[1] = add(add(difference_1, difference_2, 2), difference_h, 0.5F);
    out[2] = add(add(sum_1, sum_2, 4), sum_h, 0.25F);
    out[3] = add(add(difference_1, difference_2, 8), difference_h, 0.125F);
    out[4] = add(add(sum_1, sum_2, 16), sum_h, 0.0625F);
}

/* ---- by size ---- */

/* n is a constant. The rows of a matrix that is not standard are multiples of those of the one that
 * is, whose first coefficient is 1, but in the row for infinity, which is always standard. */
INLINE void forward(const struct winograd_f32_matrix *matrix, size_t n, int standard,
                    float32x4_t *out, const float32x4_t *in)
{
    if (n == 8)
        forward_8(out, in);
    else if (n == 6)
        forward_6(out, in);
    else if (n == 5)
        forward_5(out, in);
    else if (n == 4)
        forward_4(out, in);
    else
        out[0] = in[0];
    if (standard)
        return;
#pragma GCC unroll 8
    for (size_t i = 1; i < n; i++)
        out[i] = vmulq_n_f32(out[i], matrix->values[i * n + n - 2]);
}

/* m results; those of three taps have the others, too, and infinity at the last of them. */
INLINE void backward(size_t n, size_t m, float32x4_t *out, const float32x4_t *in)
{
    if (n == 8)
        backward_8(out, in);
    else if (n == 6)
        backward_6(out, in);
    else if (n == 5)
        backward_5(out, in);
    else if (n == 4)
        backward_4(out, in);
    else
        out[0] = in[0];
    if (n > 1 && m < n - 2)
        out[m - 1] = vaddq_f32(out[m - 1], in[0]);
}

#endif
