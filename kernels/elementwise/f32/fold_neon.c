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

#define STEP(name, result)                                                   \
    static float32x4_t name(float32x4_t y, float32x4_t x, float32x4_t about) \
    {                                                                        \
        (void)about;                                                         \
        return result;                                                       \
    }

STEP(add, vaddq_f32(y, x))
STEP(add_square, vfmaq_f32(y, vsubq_f32(x, about), vsubq_f32(x, about)))
STEP(multiply, vmulq_f32(y, x))
STEP(greater, vmaxq_f32(y, x))
STEP(smaller, vminq_f32(y, x))

#define FOLD(name, neutral, filler, step, together)                \
    static float run_##name(size_t n, const float *x, float about) \
    {                                                              \
        return fold(n, x, about, neutral, filler, step, together); \
    }

FOLD(sum, 0, 0, add, add)
FOLD(squares, 0, about, add_square, add)
FOLD(product, 1, 1, multiply, multiply)
FOLD(max, -INFINITY, -INFINITY, greater, greater)
FOLD(min, INFINITY, INFINITY, smaller, smaller)

#define ROW(number, name) [FOLD_F32_##number] = {"fold_f32_" #name "_neon", CPU_NEON, run_##name},
const struct fold_f32_kernel fold_f32_neon[FOLD_F32_COUNT] = {FOLD_F32_FUNCTIONS(ROW)};
#undef ROW
