/* Powers and their sum, four vectors at a time. */
#include "kernels/elementwise/f32/fold.h"
#include "kernels/elementwise/f32/math_neon.h"

enum { VECTORS = 4, LANES = 4 * VECTORS };

INLINE void step(const float *x, float32x4_t max, float *out, float32x4_t sums[VECTORS])
{
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
        float32x4_t power = math_exp_below(vsubq_f32(vld1q_f32(x + 4 * v), max));
        sums[v] = vaddq_f32(sums[v], power);
        vst1q_f32(out + 4 * v, power);
    }
}

/* The last values go to a copy that is filled up with what has powers of 0. */
static void step_part(size_t n, const float *x, float32x4_t max, float *out,
                      float32x4_t sums[VECTORS])
{
    float part[LANES];
    for (size_t i = 0; i < LANES; i++)
        part[i] = i < n ? x[i] : -INFINITY;
    step(part, max, part, sums);
    for (size_t i = 0; i < n; i++)
        out[i] = part[i];
}

static float run(size_t n, const float *x, float max, float *out)
{
    float32x4_t sums[VECTORS] = {splat(0), splat(0), splat(0), splat(0)}, center = splat(max);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        step(x + i, center, out + i, sums);
    if (i < n)
        step_part(n - i, x + i, center, out + i, sums);
    float32x4_t low = vaddq_f32(sums[0], sums[2]), high = vaddq_f32(sums[1], sums[3]);
    low = vaddq_f32(low, high);
    low = vaddq_f32(low, vextq_f32(low, low, 2));
    return vgetq_lane_f32(vaddq_f32(low, vextq_f32(low, low, 1)), 0);
}

const struct exp_sum_f32_kernel exp_sum_f32_neon = {"exp_sum_f32_neon", CPU_NEON, run};
