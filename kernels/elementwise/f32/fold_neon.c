/* Folds: four vectors of partial results, so that four steps are under way at once. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/fold.h"

#include <arm_neon.h>
#include <math.h>

enum { VECTORS = 4, LANES = 4 * VECTORS };

typedef float32x4_t step_fn(float32x4_t y, float32x4_t x, float32x4_t about);

/* The last values, which are fewer than LANES, go to a copy; filler, which leaves a partial result
 * as it is, fills it up. */
INLINE float fold(size_t n, const float *x, float about, float neutral, float filler, step_fn *step,
                  step_fn *together)
{
    float32x4_t y[VECTORS], center = vdupq_n_f32(about);
    float rest[LANES];
    size_t i = 0;
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        y[v] = vdupq_n_f32(neutral);
    for (; i + LANES <= n; i += LANES)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            y[v] = step(y[v], vld1q_f32(x + i + 4 * v), center);
    if (i < n) {
        for (size_t r = 0; r < LANES; r++)
            rest[r] = i + r < n ? x[i + r] : filler;
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            y[v] = step(y[v], vld1q_f32(rest + 4 * v), center);
    }
    float32x4_t low = together(y[0], y[2], center), high = together(y[1], y[3], center);
    low = together(low, high, center);
    low = together(low, vextq_f32(low, low, 2), center);
    return vgetq_lane_f32(together(low, vextq_f32(low, low, 1), center), 0);
}

static float32x4_t add(float32x4_t y, float32x4_t x, float32x4_t about)
{
    (void)about;
    return vaddq_f32(y, x);
}

static float32x4_t add_square(float32x4_t y, float32x4_t x, float32x4_t about)
{
    float32x4_t difference = vsubq_f32(x, about);
    return vfmaq_f32(y, difference, difference);
}

static float32x4_t multiply(float32x4_t y, float32x4_t x, float32x4_t about)
{
    (void)about;
    return vmulq_f32(y, x);
}

static float32x4_t greater(float32x4_t y, float32x4_t x, float32x4_t about)
{
    (void)about;
    return vmaxq_f32(y, x);
}

static float32x4_t smaller(float32x4_t y, float32x4_t x, float32x4_t about)
{
    (void)about;
    return vminq_f32(y, x);
}

static float sum_neon(size_t n, const float *x, float about)
{
    return fold(n, x, about, 0, 0, add, add);
}

static float squares_neon(size_t n, const float *x, float about)
{
    return fold(n, x, about, 0, about, add_square, add);
}

static float product_neon(size_t n, const float *x, float about)
{
    return fold(n, x, about, 1, 1, multiply, multiply);
}

static float max_neon(size_t n, const float *x, float about)
{
    return fold(n, x, about, -INFINITY, -INFINITY, greater, greater);
}

static float min_neon(size_t n, const float *x, float about)
{
    return fold(n, x, about, INFINITY, INFINITY, smaller, smaller);
}

const struct fold_f32_kernel fold_f32_neon[FOLD_F32_COUNT] = {
    [FOLD_F32_SUM] = {"fold_f32_sum_neon", CPU_NEON, sum_neon},
    [FOLD_F32_SQUARES] = {"fold_f32_squares_neon", CPU_NEON, squares_neon},
    [FOLD_F32_PRODUCT] = {"fold_f32_product_neon", CPU_NEON, product_neon},
    [FOLD_F32_MAX] = {"fold_f32_max_neon", CPU_NEON, max_neon},
    [FOLD_F32_MIN] = {"fold_f32_min_neon", CPU_NEON, min_neon},
};
