/* Dot products as dot_f32.h defines them. */
#include <math.h>

#include "kernels/dot_f32.h"

static void run(const float *rows, size_t stride, const float *x, size_t k, size_t count,
                float *out)
{
    for (size_t i = 0; i < count; i++) {
        float sums[4] = {0};
        for (size_t p = 0; p < k; p++)
            sums[p % 4] = fmaf(rows[i * stride + p], x[p], sums[p % 4]);
        out[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

const struct dot_f32_kernel dot_f32_ref = {"dot_f32_ref", 0, run};
