/* Depthwise 3x3 of images no larger than the kernel: their jobs for the assembly of
 * kernels/depthwise/f32/lanes/image_tiles_neon.S. */
#include "kernels/depthwise/f32/lanes/image.h"

#include <string.h>

#include "kernels/depthwise/f32/lanes/image_offsets.h"

enum { TAPS = 3, LANES = 4, GROUP = 2 * LANES };

/* Has it one row and one column of padding on each side? */
static int is_image(const struct dwconv_f32_task *task, const float *const *rows)
{
    size_t height = task->out_rows, width = task->out_cols;
    if (height > IMAGE_MOST || width > IMAGE_MOST || task->stride_h != 1 || task->stride_w != 1 ||
        task->first != -1 || task->columns != width || rows[0] || rows[height + 1])
        return 0;
    for (size_t y = 1; y <= height; y++)
        if (!rows[y])
            return 0;
    return 1;
}

int dwconv_f32_image_run(const struct dwconv_f32_task *task, const float *const *rows)
{
    static const float none[GROUP];
    float limits[8];
    size_t height = task->out_rows, width = task->out_cols;
    size_t group = height * width <= IMAGE_FEW_PIXELS ? GROUP : LANES;
    if (!task->whole_images || task->channels % group || !is_image(task, rows))
        return 0;
    size_t tap = task->weights_tap, first_row = height == 1, first_column = width == 1;
    size_t taps = height == 1 ? 1 : TAPS; /* of a column of the kernel */
    struct dwconv_f32_image job = {
        .column = task->column * sizeof(float),
        .weights = task->weights + (first_row * TAPS + first_column) * tap,
        .weights_row = TAPS * tap * sizeof(float),
        .weights_back = tap * sizeof(float) - taps * TAPS * tap * sizeof(float),
        .bias = task->bias ? task->bias : none,
        .bias_step = task->bias ? group * sizeof(float) : 0,
        .dst = task->dst,
        .dst_row = task->dst_row * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .groups = task->channels / group,
        .clamp = dwconv_f32_limits(task, limits),
    };
    memcpy(job.rows, rows + 1, height * sizeof *rows);
    dwconv_f32_image_functions[height - 1][width - 1](&job);
    return 1;
}
