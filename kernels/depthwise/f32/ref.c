/* The definition of depthwise convolution. */
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/elementwise/f32/clamp_ref.h"

#include <math.h>

struct output {
    size_t y, x, c;
};

struct tap {
    size_t z, y, x;
};

/* The product at a tap is added to the sum, unless the tap lies in the padding. */
static float add_tap(const struct dwconv_f32_task *task, struct output output, struct tap tap,
                     float sum)
{
    size_t y = output.y * task->stride_h + tap.y * task->dilation_h;
    const float *row = task->rows[tap.z * task->rows_plane + y];
    ptrdiff_t at = task->first + (ptrdiff_t)(output.x * task->stride_w + tap.x * task->dilation_w);
    if (!row || at < 0 || (size_t)at >= task->columns)
        return sum;
    size_t plane = output.c / task->multiplier * task->src_plane;
    size_t weights = ((tap.z * task->kh + tap.y) * task->kw + tap.x) * task->weights_tap;
    return fmaf(row[(size_t)at * task->column + plane], task->weights[weights + output.c], sum);
}

static float add_column(const struct dwconv_f32_task *task, struct output output, size_t kx,
                        float sum)
{
    for (size_t kz = 0; kz < task->kd; kz++)
        for (size_t ky = 0; ky < task->kh; ky++)
            sum = add_tap(task, output, (struct tap){kz, ky, kx}, sum);
    return sum;
}

static float by_columns(const struct dwconv_f32_task *task, struct output output, float sum)
{
    for (size_t kx = 0; kx < task->kw; kx++)
        sum = add_column(task, output, kx, sum);
    return sum;
}

static float in_pairs(const struct dwconv_f32_task *task, struct output output, float even)
{
    size_t begin = task->kw / 2 % 2, single = begin ? 0 : task->kw - 1;
    float odd = 0.0f;
    for (size_t kx = begin; kx < begin + task->kw - 1; kx += 2) {
        even = add_column(task, output, kx, even);
        odd = add_column(task, output, kx + 1, odd);
    }
    return add_column(task, output, single, even + odd);
}

static float element(const struct dwconv_f32_task *task, struct output output)
{
    float bias = task->bias ? task->bias[output.c] : 0.0f;
    float sum = (task->in_pairs ? in_pairs : by_columns)(task, output, bias);
    return clamp(sum, task->low, task->high);
}

static void run(const struct dwconv_f32_task *task)
{
    for (size_t y = 0; y < task->out_rows; y++)
        for (size_t x = 0; x < task->out_cols; x++)
            for (size_t c = 0; c < task->channels; c++)
                task->dst[y * task->dst_row + x * task->dst_column + c * task->dst_plane] =
                    element(task, (struct output){y, x, c});
}

const struct dwconv_f32_kernel dwconv_f32_ref = {.name = "dwconv_f32_ref", .run = run};
