/* Depthwise 3x3 and 5x5 convolution of planes (nchw) in place with stride 2: bands of rows for the
 * assembly of kernels/dwconv_f32_planes_pairs_tiles_neon.S. What these cannot do is done on copies
 * of the rows, by kernels/dwconv_f32_pairs_neon.c, in the same order of sums. */
#include "kernels/dwconv_f32_pairs.h"
#include "kernels/dwconv_f32_planes.h"

enum { LANES = 4, STRIDE = 2 };

static size_t count_bands(const struct dwconv_f32_task *task)
{
    return (task->out_rows + PLANES_HIGHEST_BAND - 1) / PLANES_HIGHEST_BAND;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    size_t own = (count_bands(task) + 1) * sizeof(struct dwconv_f32_planes_tile);
    size_t copies = dwconv_f32_pairs_bytes(task);
    return own > copies ? own : copies;
}

/* Half a kernel of padding before the first column. 5x5: one column less behind the last one, and a
 * first tile that is not the last. */
static int suits_width(const struct dwconv_f32_task *task)
{
    size_t columns = STRIDE * task->out_cols;
    if (task->first != -(ptrdiff_t)(task->kw / 2))
        return 0;
    return task->kw == 3 ? task->out_cols >= LANES && task->columns >= columns
                         : task->out_cols > LANES && task->columns == columns;
}

/* Bands as equal as they can be. 0: one would have padding above as well as below. */
static int list_bands(struct dwconv_f32_planes_tile *band, const struct dwconv_f32_task *task,
                      const struct planes_gap *gap)
{
    size_t bands = count_bands(task);
    ptrdiff_t step = task->rows[gap->above + 1] - task->rows[gap->above];
    if (bands == 1 && gap->above && gap->below)
        return 0;
    for (size_t i = 0, y = 0, rows; i < bands; i++, band++, y += rows) {
        rows = (task->out_rows - y + bands - i - 1) / (bands - i);
        int top = i == 0 && gap->above, bottom = i + 1 == bands && gap->below;
        size_t row = top ? 0 : y * STRIDE - gap->above; /* that exists */
        *band = (struct dwconv_f32_planes_tile){
            .src = (size_t)((ptrdiff_t)row * step) * sizeof(float),
            .dst = y * task->dst_row * sizeof(float),
            .body = PLANES_BAND(rows, (top ? PLANES_TOP : 0u) | (bottom ? PLANES_BOTTOM : 0u)),
        };
    }
    band->body = PLANES_BANDS;
    return 1;
}

/* All vectors but the last one are whole; of 5x5 it is always a special one. */
static void list_columns(struct dwconv_f32_planes *job, const struct dwconv_f32_task *task)
{
    size_t width = task->out_cols, whole = (task->kw == 5 ? width - 1 : width) / LANES * LANES;
    ptrdiff_t back = whole < width ? (ptrdiff_t)(width - LANES) - (ptrdiff_t)whole : 0;
    job->vectors = whole / LANES - 1;
    job->last_dst = back * (ptrdiff_t)sizeof(float);
    job->last_src = STRIDE * job->last_dst;
}

/* Does the assembly need no list for these planes? */
static int are_whole(const struct dwconv_f32_task *task, const struct planes_gap *gap)
{
    size_t rows = task->out_rows;
    return rows == task->out_cols && gap->above &&
           (task->kw == 3 ? rows == 7 || rows == 14 : rows == 7 && gap->below);
}

static void run(const struct dwconv_f32_task *task)
{
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    struct planes_gap gap;
    if (!suits_width(task) || !planes_find_gap(&gap, task) ||
        !list_bands(task->scratch, task, &gap)) {
        dwconv_f32_pairs(task);
        return;
    }
    struct dwconv_f32_planes job = planes_job(task, gap.above, clamp);
    list_columns(&job, task);
    job.tiles = are_whole(task, &gap) ? NULL : task->scratch;
    (task->kw == 3 ? dwconv_f32_planes_pairs_3x3 : dwconv_f32_planes_pairs_5x5)(&job);
}

static int does(const struct dwconv_f32_task *task)
{
    return task->column == 1 && task->dst_column == 1 && task->kh == task->kw &&
           (task->kh == 3 || task->kh == 5) && task->stride_h == STRIDE &&
           task->stride_w == STRIDE && task->dilation_h == 1 && task->dilation_w == 1;
}

const struct dwconv_f32_kernel dwconv_f32_planes_pairs_neon = {
    .name = "dwconv_f32_planes_pairs_neon",
    .needs = CPU_NEON,
    .in_pairs = 1,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
