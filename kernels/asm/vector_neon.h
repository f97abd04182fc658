/* Parts of vectors, and 4x4 transposes: what NEON kernels need at their edges. */
#ifndef KERNELS_ASM_VECTOR_NEON_H
#define KERNELS_ASM_VECTOR_NEON_H

#include <arm_neon.h>
#include <stddef.h>

#include "kernels/asm/inline.h"

INLINE const float *at_byte(const float *from, size_t bytes)
{
    return (const float *)(const void *)((const char *)from + bytes);
}

INLINE float *to_byte(float *to, size_t bytes)
{
    return (float *)(void *)((char *)to + bytes);
}

/* A load for each time: where sums begin with the same vector, copies of it would take the pipes of
 * the products. */
INLINE float32x4_t load_anew(const float *from)
{
    return *(const volatile float32x4_t *)(const void *)from;
}

/* The first count elements, then zeros; reads no more. */
static inline float32x4_t load_part(const float *from, size_t count)
{
    if (count >= 4)
        return vld1q_f32(from);
    float32x4_t out = vdupq_n_f32(0);
    if (count & 2)
        out = vcombine_f32(vld1_f32(from), vdup_n_f32(0));
    if (count == 3)
        return vld1q_lane_f32(from + 2, out, 2);
    return count == 1 ? vld1q_lane_f32(from, out, 0) : out;
}

/* Writes the first count elements and no more. */
static inline void store_part(float *to, float32x4_t value, size_t count)
{
    if (count >= 4) {
        vst1q_f32(to, value);
        return;
    }
    if (count & 2) {
        vst1_f32(to, vget_low_f32(value));
        value = vcombine_f32(vget_high_f32(value), vdup_n_f32(0));
        to += 2;
    }
    if (count & 1)
        vst1q_lane_f32(to, value, 0);
}

/* count - done, or 0. */
static inline size_t left(size_t count, size_t done)
{
    return count > done ? count - done : 0;
}

static inline void transpose_4x4(float32x4_t rows[4])
{
    float32x4_t a = vzip1q_f32(rows[0], rows[2]), b = vzip2q_f32(rows[0], rows[2]);
    float32x4_t c = vzip1q_f32(rows[1], rows[3]), d = vzip2q_f32(rows[1], rows[3]);
    rows[0] = vzip1q_f32(a, c), rows[1] = vzip2q_f32(a, c);
    rows[2] = vzip1q_f32(b, d), rows[3] = vzip2q_f32(b, d);
}

/* acc + y * x[lane]; lane is a constant after inlining. */
INLINE float32x4_t fma_lane(float32x4_t acc, float32x4_t y, float32x4_t x, size_t lane)
{
    switch (lane) {
    case 0:
        return vfmaq_laneq_f32(acc, y, x, 0);
    case 1:
        return vfmaq_laneq_f32(acc, y, x, 1);
    case 2:
        return vfmaq_laneq_f32(acc, y, x, 2);
    default:
        return vfmaq_laneq_f32(acc, y, x, 3);
    }
}

#endif
