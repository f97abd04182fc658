/* The definition of the kernels for planes: one plain loop for all tiles. */
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/planes/planes.h"

#include <math.h>

void gemm_f32_planes_run_ref(const struct gemm_f32_planes *strip)
{
    size_t k = 4 * strip->rounds + strip->tail;
    float low = strip->clamp & GEMM_F32_PLANES_LOW ? strip->low : -INFINITY;
    float high = strip->clamp & GEMM_F32_PLANES_HIGH ? strip->high : INFINITY;
    for (size_t j = 0; j < strip->width; j++)
        for (size_t i = 0; i < strip->tiles * strip->height; i++) {
            float sum = 0;
            for (size_t p = 0; p < k; p++)
                sum = fmaf(strip->a[p * strip->a_step + i], strip->b[p * strip->width + j], sum);
            sum = strip->bias ? sum + strip->bias[j] : sum;
            strip->c[j * strip->ldc + i] = clamp(sum, low, high);
        }
}
