/* The definition of folds. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/fold.h"

#include <math.h>

enum { LANES = 16 };

/* What a value x becomes part of the result y as. */
typedef float step_fn(float y, float x, float about);

/* Lanes meet in halves: 0 and 8, 1 and 9, …; then 0 and 4, and so on. */
INLINE float fold(size_t n, const float *x, float about, float neutral, step_fn *step,
                  step_fn *together)
{
    float lanes[LANES];
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = neutral;
    for (size_t i = 0; i < n; i++)
        lanes[i % LANES] = step(lanes[i % LANES], x[i], about);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] = together(lanes[i], lanes[i + half], about);
    return lanes[0];
}

static float add(float y, float x, float about)
{
    (void)about;
    return y + x;
}

static float add_square(float y, float x, float about)
{
    return fmaf(x - about, x - about, y);
}

static float multiply(float y, float x, float about)
{
    (void)about;
    return y * x;
}

static float greater(float y, float x, float about)
{
    (void)about;
    return y > x || isnan(y) ? y : x;
}

static float smaller(float y, float x, float about)
{
    (void)about;
    return y < x || isnan(y) ? y : x;
}

static float sum_ref(size_t n, const float *x, float about)
{
    return fold(n, x, about, 0, add, add);
}

static float squares_ref(size_t n, const float *x, float about)
{
    return fold(n, x, about, 0, add_square, add);
}

static float product_ref(size_t n, const float *x, float about)
{
    return fold(n, x, about, 1, multiply, multiply);
}

static float max_ref(size_t n, const float *x, float about)
{
    return fold(n, x, about, -INFINITY, greater, greater);
}

static float min_ref(size_t n, const float *x, float about)
{
    return fold(n, x, about, INFINITY, smaller, smaller);
}

const struct fold_f32_kernel fold_f32_ref[FOLD_F32_COUNT] = {
    [FOLD_F32_SUM] = {"fold_f32_sum_ref", 0, sum_ref},
    [FOLD_F32_SQUARES] = {"fold_f32_squares_ref", 0, squares_ref},
    [FOLD_F32_PRODUCT] = {"fold_f32_product_ref", 0, product_ref},
    [FOLD_F32_MAX] = {"fold_f32_max_ref", 0, max_ref},
    [FOLD_F32_MIN] = {"fold_f32_min_ref", 0, min_ref},
};
