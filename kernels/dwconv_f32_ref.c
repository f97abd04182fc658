/* The definition of depthwise convolution. */
#include "kernels/clamp_f32_ref.h"
#include "kernels/dwconv_f32.h"

#include <math.h>

static float element(const struct dwconv_f32_task *task, size_t y, size_t x, size_t c)
{
    float sum = task->bias ? task->bias[c] : 0.0f;
    for (size_t kx = 0; kx < task->kw; kx++)
        for (size_t ky = 0; ky < task->kh; ky++) {
            const float *row = task->rows[y * task->stride_h + ky * task->dilation_h];
            ptrdiff_t at = task->first + (ptrdiff_t)(x * task->stride_w + kx * task->dilation_w);
            if (row && at >= 0 && (size_t)at < task->columns)
                sum = fmaf(row[(size_t)at * task->column + c / task->multiplier * task->src_plane],
                           task->weights[(ky * task->kw + kx) * task->weights_tap + c], sum);
        }
    return clamp(sum, task->low, task->high);
}

static void run(const struct dwconv_f32_task *task)
{
    for (size_t y = 0; y < task->out_rows; y++)
        for (size_t x = 0; x < task->out_cols; x++)
            for (size_t c = 0; c < task->channels; c++)
                task->dst[y * task->dst_row + x * task->dst_column + c * task->dst_plane] =
                    element(task, y, x, c);
}

const struct dwconv_f32_kernel dwconv_f32_ref = {.name = "dwconv_f32_ref", .run = run};
