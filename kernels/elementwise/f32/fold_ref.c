/* The definition of folds. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/fold.h"

#include <math.h>

enum { LANES = 16 };

/* What a value x becomes part of the result y as. */
typedef float step_fn(float y, float x, float about);

/* Lanes meet in halves: 0 and 8, 1 and 9, …; then 0 and 4, and so on. */
INLINE float meet(float lanes[LANES], float about, step_fn *together)
{
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] = together(lanes[i], lanes[i + half], about);
    return lanes[0];
}

INLINE float fold(size_t n, const float *x, float about, float neutral, step_fn *step,
                  step_fn *together)
{
    float lanes[LANES];
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = neutral;
    for (size_t i = 0; i < n; i++)
        lanes[i % LANES] = step(lanes[i % LANES], x[i], about);
    return meet(lanes, about, together);
}

#define STEP(name, result)                           \
    static float name(float y, float x, float about) \
    {                                                \
        (void)about;                                 \
        return result;                               \
    }

STEP(add, y + x)
STEP(add_square, fmaf(x - about, x - about, y))
STEP(multiply, y *x)
STEP(greater, y > x || isnan(y) ? y : x)
STEP(smaller, y < x || isnan(y) ? y : x)

#define FOLD(name, neutral, step, together)                        \
    static float run_##name(size_t n, const float *x, float about) \
    {                                                              \
        return fold(n, x, about, neutral, step, together);         \
    }

FOLD(sum, 0, add, add)
FOLD(squares, 0, add_square, add)
FOLD(product, 1, multiply, multiply)
FOLD(max, -INFINITY, greater, greater)
FOLD(min, INFINITY, smaller, smaller)

#define ROW(number, name) [FOLD_F32_##number] = {"fold_f32_" #name "_ref", 0, run_##name},
const struct fold_f32_kernel fold_f32_ref[FOLD_F32_COUNT] = {FOLD_F32_FUNCTIONS(ROW)};
#undef ROW

static float run_exp_sum(size_t n, const float *x, float max, float *out)
{
    float lanes[LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        out[i] = expf(x[i] - max);
        lanes[i % LANES] += out[i];
    }
    return meet(lanes, 0, add);
}

const struct exp_sum_f32_kernel exp_sum_f32_ref = {"exp_sum_f32_ref", 0, run_exp_sum};
