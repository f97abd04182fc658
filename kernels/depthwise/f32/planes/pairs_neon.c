/* Depthwise 3x3 and 5x5 convolution of planes (nchw) in place with stride 2: bands of rows for the
 * assembly of kernels/depthwise/f32/planes/pairs_bands_neon.h. What these cannot do is done on
 * copies of the rows, by kernels/depthwise/f32/planes/copied_neon.c, in the same order of sums. */
#include "kernels/depthwise/f32/planes/planes.h"

enum { LANES = 4, STRIDE = 2 };

/* Bands are high where rows are a multiple of that, and of 3x3 none below is padding. */
static size_t height_of_bands(const struct dwconv_f32_task *task, const struct planes_gap *gap)
{
    int is_high = (task->kw == 5 || !gap->below) && task->out_rows % PLANES_HIGHEST_BAND == 0;
    return is_high ? PLANES_HIGHEST_BAND : PLANES_BAND_ROWS;
}

static size_t count_bands(size_t rows, size_t height)
{
    return (rows + height - 1) / height;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    return planes_scratch_bytes(task, count_bands(task->out_rows, PLANES_BAND_ROWS) + 2);
}

/* Columns of the image from the first one that a pair of columns of the kernel begins with for
 * output 0: column 0 if half a kernel of padding is before the image; 3x3 may also begin in it. */
static size_t count_columns(const struct dwconv_f32_task *task)
{
    ptrdiff_t half = (ptrdiff_t)task->kw / 2, first = task->first + half;
    int suits = first == 0 || (task->kw == 3 && first > 0 && first < (ptrdiff_t)task->columns);
    return suits ? task->columns - (size_t)first : 0;
}

static int ends_even(const struct dwconv_f32_task *task)
{
    return count_columns(task) == STRIDE * task->out_cols - 1;
}

/* 5x5: two columns behind the last output's; 3x3: as many as there are, or one less than outputs
 * want. A tile may not be the first and special at the right edge. */
static int suits_width(const struct dwconv_f32_task *task)
{
    size_t columns = count_columns(task), wanted = STRIDE * task->out_cols;
    if (task->kw == 3 && columns >= wanted)
        return task->out_cols >= LANES;
    return task->out_cols > LANES && (task->kw == 3 ? ends_even(task) : columns == wanted);
}

/* None has padding above as well as below, which is one row. 0: there are too few rows for that, or
 * there is more padding. */
static int list_bands(struct dwconv_f32_planes_tile *band, const struct dwconv_f32_task *task,
                      const struct planes_gap *gap)
{
    size_t bands = count_bands(task->out_rows, height_of_bands(task, gap));
    if (bands == 1 && gap->above && gap->below)
        bands = 2;
    if (gap->below > 1 || !planes_has_bands(task->out_rows, PLANES_BAND_ROWS, bands))
        return 0;
    planes_list_bands(band, task, gap, PLANES_BAND_ROWS, bands);
    return 1;
}

/* All vectors but the last one are whole; of 5x5, and where a row ends in half a pair, it is always
 * a special one. */
static void list_columns(struct dwconv_f32_planes *job, const struct dwconv_f32_task *task)
{
    ptrdiff_t half = (ptrdiff_t)task->kw / 2;
    job->left = task->first < 0;
    job->ends_even = (size_t)ends_even(task);
    job->src += job->left ? 0 : task->first + half;
    size_t width = task->out_cols, is_special = task->kw == 5 || job->ends_even;
    size_t whole = (width - is_special) / LANES * LANES;
    ptrdiff_t back = whole < width ? (ptrdiff_t)(width - LANES) - (ptrdiff_t)whole : 0;
    job->vectors = whole / LANES - job->left;
    job->last_dst = back * (ptrdiff_t)sizeof(float);
    job->last_src = STRIDE * job->last_dst;
}

/* Does the assembly need no list of bands for these planes? They are one block of it; of 3x3 only
 * where rows follow one another. */
static int are_whole(const struct dwconv_f32_task *task, const struct planes_gap *gap)
{
    size_t rows = task->out_rows, half = task->kw / 2;
    if (rows != task->out_cols || gap->above != half || gap->below != half - 1 ||
        task->first >= 0 || ends_even(task))
        return 0;
    if (task->kw == 5)
        return rows == 7;
    return (rows == 7 || rows == 14) && task->rows[2] - task->rows[1] == (ptrdiff_t)(STRIDE * rows);
}

static void run(const struct dwconv_f32_task *task)
{
    float limits[8];
    struct planes_gap gap;
    if (!suits_width(task) || !planes_find_gap(&gap, task) ||
        !list_bands(task->scratch, task, &gap)) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    struct dwconv_f32_planes job = planes_job(task, gap.above, limits);
    list_columns(&job, task);
    job.tiles = are_whole(task, &gap) ? NULL : task->scratch;
    (task->kw == 3 ? dwconv_f32_planes_pairs_3x3 : dwconv_f32_planes_pairs_5x5)(&job);
}

static int does(const struct dwconv_f32_task *task)
{
    return planes_does_square(task, STRIDE) && (task->kh == 3 || task->kh == 5);
}

const struct dwconv_f32_kernel dwconv_f32_planes_pairs_neon = {
    .name = "dwconv_f32_planes_pairs_neon",
    .needs = CPU_NEON,
    .in_pairs = 1,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
