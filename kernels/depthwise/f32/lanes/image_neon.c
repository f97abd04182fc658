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

/* Behind those of kernels with tiles. */
static float *copies_of(const struct dwconv_f32_task *task)
{
    return (float *)task->scratch + TAPS * TAPS * task->channels;
}

void dwconv_f32_image_copy_weights(const struct dwconv_f32_task *task)
{
    float *copy = copies_of(task);
    for (size_t c = 0; c + GROUP <= task->channels; c += GROUP)
        for (size_t x = 0; x < TAPS; x++)
            for (size_t y = 0; y < TAPS; y++, copy += GROUP)
                memcpy(copy, task->weights + (y * TAPS + x) * task->weights_tap + c,
                       GROUP * sizeof *copy);
}

/* Where only they make two vectors of channels fit. */
static int has_copies(const struct dwconv_f32_task *task)
{
    return task->copies_weights && task->out_rows * task->out_cols > IMAGE_FEW_PIXELS;
}

static dwconv_f32_image_fn *find_function(size_t height, size_t width, int copied)
{
    if (copied) /* 2x3, 3x2, 3x3 */
        return dwconv_f32_image_copied_functions[2 * (height - 2) + width - 3];
    return dwconv_f32_image_functions[height - 1][width - 1];
}

int dwconv_f32_image_run(const struct dwconv_f32_task *task, const float *const *rows)
{
    static const float none[GROUP];
    float limits[8];
    size_t height = task->out_rows, width = task->out_cols;
    int copied = has_copies(task);
    size_t group = copied || height * width <= IMAGE_FEW_PIXELS ? GROUP : LANES;
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
    if (copied)
        job.weights = copies_of(task);
    memcpy(job.rows, rows + 1, height * sizeof *rows);
    find_function(height, width, copied)(&job);
    return 1;
}
