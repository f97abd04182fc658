/* The definition of direct.h as loops, for either order of A. */
#ifndef KERNELS_GEMM_F32_DIRECT_REF_H
#define KERNELS_GEMM_F32_DIRECT_REF_H

#include <math.h>

#include "kernels/gemm/f32/direct/direct.h"

/* What one call is given. */
struct strip {
    const struct gemm_f32_direct *shape;
    const float *a, *b, *bias;
    float *c;
};

static inline const float *row_of_b(const struct strip *strip, size_t p, size_t g)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t whole = 4 * shape->rounds;
    if (shape->b_tail && p >= whole)
        return shape->b_tail + (p - whole) * shape->tail_ldb;
    return strip->b + p * shape->ldb + g * shape->gap;
}

/* A(i, p) is a[p * step]. */
static inline float sum_of(const struct strip *strip, const float *a, size_t step, size_t j,
                           size_t group)
{
    const struct gemm_f32_direct *shape = strip->shape;
    float sum = 0;
    for (size_t p = 0; p < 4 * shape->rounds + shape->tail; p++) {
        float x = a[p * step];
        float y = row_of_b(strip, p, j / (4 * group))[j % (4 * group)];
        sum = p ? fmaf(x, y, sum) : x * y;
    }
    return sum;
}

/* What goes to row i of C. */
static inline float finish_sum(const struct strip *strip, float sum, size_t i, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    if (shape->special & GEMM_F32_SPECIAL_ADDS)
        sum += strip->c[i * shape->ldc + j];
    if (strip->bias)
        sum += strip->bias[j];
    if (!shape->clamp)
        return sum;
    sum = sum < shape->low ? shape->low : sum;
    return sum > shape->high ? shape->high : sum;
}

/* A(i, p) is a[i * row + p * step]. */
static inline void run_strip_ref(const struct strip *strip, size_t row, size_t step, size_t rows,
                                 size_t vectors, size_t group)
{
    const struct gemm_f32_direct *shape = strip->shape;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < 4 * (vectors - 1) + shape->lanes; j++)
            strip->c[i * shape->ldc + j] =
                finish_sum(strip, sum_of(strip, strip->a + i * row, step, j, group), i, j);
}

#endif
