/* Powers and their sum in plain C. */
#include "kernels/elementwise/f32/exp_sum.h"

#include <math.h>

enum { LANES = 16 };

static float run(size_t n, const float *x, float max, float *out)
{
    float sums[LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        out[i] = expf(x[i] - max);
        sums[i % LANES] += out[i];
    }
    for (size_t lanes = LANES / 2; lanes > 0; lanes /= 2)
        for (size_t i = 0; i < lanes; i++)
            sums[i] += sums[i + lanes];
    return sums[0];
}

const struct exp_sum_f32_kernel exp_sum_f32_ref = {"exp_sum_f32_ref", 0, run};
