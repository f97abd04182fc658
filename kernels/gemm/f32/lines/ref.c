/* Products of lines as lines.h defines them. */
#include <math.h>

#include "kernels/gemm/f32/lines/lines.h"

static float sum(const struct gemm_f32_lines *lines, const float *a, const float *b)
{
    float value = a[0] * b[0];
    for (ptrdiff_t p = 1; p < (ptrdiff_t)lines->k; p++)
        value = fmaf(a[p * lines->a_step], b[p * lines->b_step], value);
    return value;
}

static void run(const struct gemm_f32_lines *lines)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)lines->m; i++)
        for (ptrdiff_t j = 0; j < (ptrdiff_t)lines->n; j++)
            for (size_t x = 0; x < lines->count; x++)
                lines->c[i * lines->c_row + j * lines->c_column + (ptrdiff_t)x] =
                    sum(lines, lines->a + i * lines->a_row + x,
                        lines->b + j * lines->b_column + (lines->b_is_shared ? 0 : x));
}

const struct gemm_f32_lines_kernel gemm_f32_lines_ref = {"gemm_f32_lines_ref", 0, run};
