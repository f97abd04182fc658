/* Dot products as dot.h defines them. */
#include <math.h>

#include "kernels/dot/f32/dot.h"

static float one(const float *row, const float *x, size_t k)
{
    float sums[4] = {0};
    for (size_t p = 0; p < k; p++)
        sums[p % 4] = fmaf(row[p], x[p], sums[p % 4]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void run(const struct dot_f32 *dot, const float *rows, const float *x, float *out)
{
    for (size_t j = 0; j < dot->columns; j++)
        for (size_t i = 0; i < dot->count; i++) {
            float *to = out + i * dot->out_row + j * dot->out_column;
            float sum = one(rows + i * dot->stride, x + j * dot->x_stride, dot->k);
            *to = dot->adds ? sum + *to : sum;
        }
}

const struct dot_f32_kernel dot_f32_ref = {"dot_f32_ref", 0, 0, run};
