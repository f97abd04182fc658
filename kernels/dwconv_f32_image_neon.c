/* Depthwise 3x3 of images no larger than the kernel: their jobs for the assembly of
 * kernels/dwconv_f32_image_tiles_neon.S. */
#include "kernels/dwconv_f32_image.h"

#include <math.h>

#include "kernels/dwconv_f32_image_offsets.h"

enum { TAPS = 3, LANES = 4 };

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

/* So many groups of channels, from c on. */
static void run_groups(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                       size_t groups, size_t group)
{
    static const float none[2 * LANES];
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    size_t height = task->out_rows, width = task->out_cols;
    size_t tap = task->weights_tap, first_row = height == 1, first_column = width == 1;
    size_t taps = height == 1 ? 1 : TAPS; /* of a column of the kernel */
    struct dwconv_f32_image job = {
        .column = task->column * sizeof(float),
        .weights = task->weights + (first_row * TAPS + first_column) * tap + c,
        .weights_row = TAPS * tap * sizeof(float),
        .weights_back = tap * sizeof(float) - taps * TAPS * tap * sizeof(float),
        .bias = task->bias ? task->bias + c : none,
        .bias_step = task->bias ? group * sizeof(float) : 0,
        .dst = task->dst + c,
        .dst_row = task->dst_row * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .groups = groups,
        .clamp = low > -INFINITY || high < INFINITY ? clamp : NULL,
    };
    for (size_t y = 0; y < height; y++)
        job.rows[y] = rows[y + 1] + c;
    dwconv_f32_image_functions[height - 1][width - 1](&job);
}

/* What is left of the channels overlaps those before. */
int dwconv_f32_image_run(const struct dwconv_f32_task *task, const float *const *rows, int in_order)
{
    int is_small = task->out_rows * task->out_cols <= IMAGE_FEW_PIXELS;
    size_t group = is_small ? 2 * LANES : LANES;
    if (in_order == IN_ORDER_WIDE && !is_small) /* which waits for sums */
        return 0;
    if (task->channels < group || !is_image(task, rows))
        return 0;
    run_groups(task, rows, 0, task->channels / group, group);
    if (task->channels % group)
        run_groups(task, rows, task->channels - group, 1, group);
    return 1;
}
