/* Depthwise 3x3 and 5x5 convolution of planes (nchw) in place with stride 2: bands of rows for the
 * assembly of kernels/depthwise/f32/planes/in_pairs_neon.S and, of 3x3 on cores that issue in
 * order, kernels/depthwise/f32/planes/stride_2_a55_neon.S. What these cannot do is done on copies
 * of the rows, by kernels/depthwise/f32/planes/copied_neon.c, in the same order of sums. */
#include "kernels/depthwise/f32/planes/planes.h"

enum { LANES = 4, STRIDE = 2 };

/* ---- bands ---- */

static size_t count_bands(size_t rows, size_t height)
{
    return (rows + height - 1) / height;
}

/* What of a band is padding, which is the first one or the last one. */
static size_t padding_of(const struct planes_gap *gap, int is_first, int is_last)
{
    if (is_last && gap->below)
        return PLANES_BOTTOM;
    return is_first && gap->above ? PLANES_TOP : PLANES_NONE;
}

/* As equal as they can be, but not lower than `lowest`: then the last one overlaps the one before.
 * And what ends the list. */
static void fill_bands(struct dwconv_f32_planes_tile *band, const struct dwconv_f32_task *task,
                       const struct planes_gap *gap, size_t lowest, size_t count)
{
    for (size_t i = 0, y = 0, rows; i < count; i++, band++, y += rows) {
        rows = (task->out_rows - y + count - i - 1) / (count - i);
        rows = rows < lowest ? lowest : rows;
        y = y + rows > task->out_rows ? task->out_rows - rows : y;
        size_t row = i == 0 ? 0 : y * task->stride_h - gap->above; /* that exists */
        *band = (struct dwconv_f32_planes_tile){
            .src = (size_t)((ptrdiff_t)row * gap->row),
            .dst = y * task->dst_row * sizeof(float),
            .body = PLANES_BAND(rows, padding_of(gap, i == 0, i + 1 == count)),
        };
    }
    band->body = PLANES_BANDS;
}

/* Of `height` rows, but not fewer than `lowest`. None has padding above as well as below, which is
 * one row; of two, each leaves a row to the other, where there may be padding that only that one
 * knows. 0: there are too few rows for that, or there is more padding. */
static int list_bands(struct dwconv_f32_planes_tile *band, const struct dwconv_f32_task *task,
                      const struct planes_gap *gap, size_t lowest, size_t height)
{
    size_t bands = count_bands(task->out_rows, height);
    if (bands == 1 && gap->above && gap->below)
        bands = 2;
    if (gap->below > 1 || task->out_rows < lowest + (size_t)(bands > 1))
        return 0;
    fill_bands(band, task, gap, lowest, bands);
    return 1;
}

/* Of two bands more than there are of the lowest: one has padding above as well as below, one ends
 * the list. */
static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    return planes_scratch_bytes(task, count_bands(task->out_rows, PLANES_BAND_ROWS) + 2);
}

/* ---- columns ---- */

/* Vectors of a row behind `left` ones at its edge, whole but for the last one; where that is
 * special it is always one more. */
static void list_columns(struct dwconv_f32_planes *job, size_t width, size_t left, int is_special)
{
    size_t whole = (width - (size_t)is_special) / LANES * LANES;
    ptrdiff_t back = whole < width ? (ptrdiff_t)(width - LANES) - (ptrdiff_t)whole : 0;
    job->vectors = whole / LANES - left;
    job->last_dst = back * (ptrdiff_t)sizeof(float);
    job->last_src = STRIDE * job->last_dst;
}

/* ---- in pairs ---- */

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

/* Does the assembly need no list of bands for these planes? They are one block of it. */
static int are_whole(const struct dwconv_f32_task *task, const struct planes_gap *gap)
{
    size_t rows = task->out_rows, half = task->kw / 2;
    return rows == task->out_cols && (rows == 7 || (rows == 14 && task->kw == 3)) &&
           gap->above == half && gap->below == half - 1 && task->first < 0 && !ends_even(task);
}

static void run(const struct dwconv_f32_task *task)
{
    float limits[8];
    struct planes_gap gap;
    size_t height = task->out_rows % PLANES_HIGHEST_BAND ? PLANES_BAND_ROWS : PLANES_HIGHEST_BAND;
    if (!suits_width(task) || !planes_find_gap(&gap, task) ||
        !list_bands(task->scratch, task, &gap, PLANES_BAND_ROWS, height)) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    struct dwconv_f32_planes job = planes_job(task, &gap, limits);
    job.left = task->first < 0;
    job.ends_even = (size_t)ends_even(task);
    job.src += job.left ? 0 : task->first + (ptrdiff_t)task->kw / 2;
    list_columns(&job, task->out_cols, job.left, task->kw == 5 || job.ends_even);
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

/* ---- in order ---- */

/* One column of padding before the image's, none behind; no row of padding, or one above. One more
 * vector than the whole ones reads four columns before its own; beside one that is alone nothing
 * would go on. */
static int suits_in_order(const struct dwconv_f32_task *task)
{
    size_t width = task->out_cols;
    return task->first == -1 && task->columns >= STRIDE * width && width >= LANES + 2;
}

static void run_in_order(const struct dwconv_f32_task *task)
{
    float limits[8];
    struct planes_gap gap;
    if (!suits_in_order(task) || !planes_find_gap(&gap, task) || gap.below ||
        !list_bands(task->scratch, task, &gap, PLANES_LOWEST_BAND, PLANES_BAND_ROWS)) {
        dwconv_f32_planes_copied_neon.run(task);
        return;
    }
    struct dwconv_f32_planes job = planes_job(task, &gap, limits);
    list_columns(&job, task->out_cols, 0, 0);
    job.tiles = task->scratch;
    dwconv_f32_planes_stride_2_a55(&job);
}

static int does_in_order(const struct dwconv_f32_task *task)
{
    return planes_does_square(task, STRIDE) && task->kh == 3;
}

const struct dwconv_f32_kernel dwconv_f32_planes_stride_2_a55_neon = {
    .name = "dwconv_f32_planes_stride_2_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does_in_order,
    .scratch_bytes = scratch_bytes,
    .run = run_in_order,
};
