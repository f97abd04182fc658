/* The definition of the kernels for planes: one plain loop for all tiles. */
#include "kernels/gemm/f32/planes/planes.h"

#include <math.h>

static float clamp(const struct gemm_f32_planes *strip, float x)
{
    if ((strip->clamp & GEMM_F32_PLANES_LOW) && x < strip->low) /* false for NaN, which stays */
        return strip->low;
    return (strip->clamp & GEMM_F32_PLANES_HIGH) && x > strip->high ? strip->high : x;
}

static void run(const struct gemm_f32_planes *strip)
{
    size_t k = 4 * strip->rounds + strip->tail;
    for (size_t j = 0; j < strip->width; j++)
        for (size_t i = 0; i < strip->tiles * strip->height; i++) {
            float sum = 0;
            for (size_t p = 0; p < k; p++)
                sum = fmaf(strip->a[p * strip->a_step + i], strip->b[p * strip->width + j], sum);
            sum = strip->bias ? sum + strip->bias[j] : sum;
            strip->c[j * strip->ldc + i] = clamp(strip, sum);
        }
}

const struct gemm_f32_planes_kernels gemm_f32_planes_ref = {
    "gemm_f32_planes_ref", 0, 0, {{16, run, run}, {12, run, run}, {8, run, run}}};
