/* The definition of direct.h as loops, for either order of A and any place of B. */
#ifndef KERNELS_GEMM_F32_DIRECT_REF_H
#define KERNELS_GEMM_F32_DIRECT_REF_H

#include <math.h>

#include "kernels/gemm/f32/direct/direct.h"

/* What one call is given: A(i, p) is a[i * row + p * step]. */
struct strip {
    const struct gemm_f32_direct *shape;
    const float *a, *b, *bias;
    float *c;
    size_t row, step;
    size_t vectors, group; /* of columns; of those that follow each other in B */
};

/* Of a row of A, from `a` on, by column j of B. */
typedef float strip_sum(const struct strip *strip, const float *a, size_t j);

static inline const float *row_of_b(const struct strip *strip, size_t p, size_t g)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t whole = 4 * shape->rounds;
    if (shape->b_tail && p >= whole)
        return shape->b_tail + (p - whole) * shape->tail_ldb;
    return strip->b + p * shape->ldb + g * shape->gap;
}

static inline float sum_in_order(const struct strip *strip, const float *a, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t width = 4 * strip->group;
    float sum = 0;
    for (size_t p = 0; p < 4 * shape->rounds + shape->tail; p++) {
        float x = a[p * strip->step];
        float y = row_of_b(strip, p, j / width)[j % width];
        sum = p ? fmaf(x, y, sum) : x * y;
    }
    return sum;
}

/* Four sums in turn, of a column whose values are so far apart; the first steps are `before` turns.
 */
static inline float sum_in_turn(const float *a, const float *column, size_t stride, size_t before,
                                size_t steps)
{
    float parts[4] = {0};
    for (size_t p = 0; p < steps; p++) {
        float *part = &parts[p < before ? p : (p - before) % 4];
        *part = fmaf(a[p], column[p * stride], *part);
    }
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
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

static inline size_t columns_of(const struct strip *strip)
{
    return 4 * (strip->vectors - 1) + strip->shape->lanes;
}

static inline void run_strip_ref(const struct strip *strip, size_t rows, strip_sum *sum)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns_of(strip); j++)
            strip->c[i * strip->shape->ldc + j] =
                finish_sum(strip, sum(strip, strip->a + i * strip->row, j), i, j);
}

#endif
