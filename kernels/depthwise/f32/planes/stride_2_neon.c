/* Depthwise 3x3 convolution of planes (nchw) in place with stride 2, for cores that issue in order:
 * bands of rows for the assembly of kernels/depthwise/f32/planes/stride_2_a55_neon.S. What it
 * cannot do is done on copies of the rows, by kernels/depthwise/f32/planes/copied_neon.c. */
#include "kernels/depthwise/f32/planes/planes.h"

enum { LANES = 4, STRIDE = 2, KERNEL = 3 };

static size_t count_bands(const struct dwconv_f32_task *task)
{
    return (task->out_rows + PLANES_BAND_ROWS - 1) / PLANES_BAND_ROWS;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    return planes_scratch_bytes(task, count_bands(task) + 1);
}

/* One column of padding before the image's, none behind. One more vector than the whole ones reads
 * four columns before its own; beside one that is alone nothing would go on. */
static int suits_width(const struct dwconv_f32_task *task)
{
    size_t width = task->out_cols;
    return task->first == -1 && task->columns >= STRIDE * width && width >= LANES + 2;
}

/* No row of padding, or one above. */
static int suits_rows(const struct dwconv_f32_task *task)
{
    size_t count = (task->out_rows - 1) * STRIDE + KERNEL;
    return planes_has_bands(task->out_rows, PLANES_LOWEST_BAND, count_bands(task)) &&
           planes_are_even(task, task->rows[0] ? 0 : 1, count);
}

static void run(const struct dwconv_f32_task *task)
{
    float limits[8];
    if (!suits_width(task) || !suits_rows(task)) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    size_t above = task->rows[0] ? 0 : 1, left = task->out_cols % LANES;
    struct dwconv_f32_planes job = planes_job(task, above, limits);
    ptrdiff_t back = left ? ((ptrdiff_t)left - LANES) * (ptrdiff_t)sizeof(float) : 0;
    job.vectors = task->out_cols / LANES;
    job.last_src = STRIDE * back;
    job.last_dst = back;
    job.tiles = task->scratch;
    planes_list_bands(task->scratch, task, &(struct planes_gap){above, 0}, PLANES_LOWEST_BAND,
                      count_bands(task));
    dwconv_f32_planes_stride_2_a55(&job);
}

static int does(const struct dwconv_f32_task *task)
{
    return planes_does_square(task, STRIDE) && task->kh == KERNEL;
}

const struct dwconv_f32_kernel dwconv_f32_planes_stride_2_a55_neon = {
    .name = "dwconv_f32_planes_stride_2_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
