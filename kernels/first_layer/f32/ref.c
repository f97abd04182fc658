/* The definition of a convolution of a row of pixels. */
#include <math.h>

#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/first_layer/f32/rowconv.h"

static float element(const struct rowconv_f32_task *task, size_t i, size_t j)
{
    const float *const *row = task->rows;
    float sum = 0;
    for (size_t c = 0; c < task->channels; c++)
        for (size_t r = 0; r < task->kernel_rows; r++, row++)
            for (size_t t = 0; t < task->taps; t++) {
                size_t tap = (r * task->taps + t) * task->channels + c;
                sum = fmaf((*row)[task->from + i * task->stride + t],
                           task->weights[tap * task->width + j], sum);
            }
    return clamp(sum + (task->bias ? task->bias[j] : 0), task->low, task->high);
}

void rowconv_f32_ref(const struct rowconv_f32_task *task)
{
    for (size_t i = 0; i < task->tiles * ROWCONV_F32_PIXELS; i++)
        for (size_t j = 0; j < task->width; j++)
            task->dst[i * task->pixel + j * task->channel] = element(task, i, j);
}
