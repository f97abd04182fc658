/* Depthwise convolution 5x5 and 7x7, channels as vectors, 5x5 also with stride 2: tiles for the
 * assembly of kernels/depthwise/f32/rows/tall_tiles_neon.S and, on cores that issue in order,
 * kernels/depthwise/f32/rows/tall_in_order_neon.S, which has any number of columns. */

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/extent.h"
#include "kernels/depthwise/f32/heights.h"
#include "kernels/depthwise/f32/parts_neon.h"
#include "kernels/depthwise/f32/rows/tall.h"
#include "kernels/depthwise/f32/rows/tall_offsets.h"

/* What a tile has of the source, whose height has this index; 0 if that is nothing. */
static int plan_rows(struct dwconv_f32_tall *job, const struct dwconv_f32_task *task, size_t y,
                     size_t index, const struct extent *extent)
{
    size_t begin = y * task->stride_h, last = (tile_heights[index] - 1) * task->stride_h;
    size_t end = begin + last + task->kh;
    size_t from = extent->begin > begin ? extent->begin : begin;
    size_t to = extent->end < end ? extent->end : end;
    if (from >= to)
        return 0;
    ptrdiff_t column = (ptrdiff_t)(task->column * sizeof(float));
    job->above = from - begin;
    job->below = end - to;
    job->row = extent->row;
    job->source_back = column - (ptrdiff_t)(to - from) * extent->row;
    job->src = (uintptr_t)task->rows[from] + (uintptr_t)(task->first * column);
    job->dst = task->dst + y * task->dst_row;
    return 1;
}

/* What the assembly is for, in its order: rows of kernels, strides down, and rows of padding above
 * and below, which are fewer for an even number of rows with stride 2. */
static const struct known {
    uint8_t kernel, stride, above, below;
} known[TALL_KNOWN] = {{5, 1, 2, 2}, {5, 2, 2, 1}, {7, 1, 3, 3}};

/* TALL_KNOWN: there is nothing. */
static size_t find_known(size_t kernel, size_t stride)
{
    size_t i = 0;
    while (i < TALL_KNOWN && (known[i].kernel != kernel || known[i].stride != stride))
        i++;
    return i;
}

/* NULL: there is none for these rows of padding, or for so low a tile. */
static dwconv_f32_tall_fn *find_function(const struct dwconv_f32_task *task,
                                         const struct dwconv_f32_tall *job, size_t height)
{
    size_t index = find_known(task->kh, task->stride_h), above = job->above, below = job->below;
    if (height >= TALL_HEIGHTS || task->kw != task->kh || (above && above != known[index].above) ||
        (below && below != known[index].below))
        return NULL;
    return dwconv_f32_tall_functions[index][height][above > 0][below > 0];
}

enum { GROUP = 8, GROUP_IN_ORDER = 4 };

/* Channels from c on: `groups` of so many. */
static void run_groups(const struct dwconv_f32_task *task, const struct dwconv_f32_tall *plan,
                       dwconv_f32_tall_fn *function, size_t c, size_t groups, size_t channels)
{
    static const float none[GROUP];
    struct dwconv_f32_tall job = *plan;
    job.src += c * sizeof(float);
    job.start += (ptrdiff_t)(c * sizeof(float));
    job.weights = task->weights + c;
    job.bias = task->bias ? task->bias + c : none;
    job.bias_next = task->bias ? channels * sizeof(float) : 0;
    job.dst += c;
    job.groups = groups;
    function(&job);
}

/* What is left of an image of four rows and more is a tile that does rows of the one before again.
 */
static void run_tiles_in_order(const struct dwconv_f32_task *task, struct dwconv_f32_tall *plan,
                               const float *const *rows)
{
    dwconv_f32_tall_fn *const *functions =
        dwconv_f32_tall_in_order_functions[find_known(task->kh, task->stride_h)];
    struct parts_group groups[2];
    int count = parts_groups(task->channels, groups);
    for (size_t done = 0, height; done < task->out_rows; done += height) {
        size_t left = task->out_rows - done, index = tile_heights_choose(done, left);
        height = tile_heights[smaller(index, TALL_HEIGHTS - 1)];
        size_t y = smaller(done, task->out_rows - height);
        plan->rows = rows + y * task->stride_h;
        plan->dst = task->dst + y * task->dst_row;
        for (int i = 0; i < count; i++)
            run_groups(task, plan, functions[index > 0], groups[i].c,
                       groups[i].groups * groups[i].channels / GROUP_IN_ORDER, GROUP_IN_ORDER);
    }
}

/* Rows that are no tile: of other padding, or alone. */
static void run_other(const struct dwconv_f32_task *task, size_t y, size_t rows)
{
    struct dwconv_f32_task part = *task;
    part.rows += y * task->stride_h;
    part.dst += y * task->dst_row;
    part.out_rows = rows;
    dwconv_f32_neon.run(&part);
}

/* Eight channels at a time; the last ones overlap those before. */
static void run_tiles(const struct dwconv_f32_task *task, struct dwconv_f32_tall *plan,
                      const struct extent *extent)
{
    for (size_t done = 0, height; done < task->out_rows; done += height) {
        size_t index = tile_heights_choose(done, task->out_rows - done);
        height = tile_heights[index];
        size_t y = smaller(done, task->out_rows - height);
        dwconv_f32_tall_fn *function = NULL;
        if (plan_rows(plan, task, y, index, extent))
            function = find_function(task, plan, index);
        if (!function) {
            run_other(task, y, height);
            continue;
        }
        run_groups(task, plan, function, 0, task->channels / GROUP, GROUP);
        if (task->channels % GROUP)
            run_groups(task, plan, function, task->channels - GROUP, 1, GROUP);
    }
}

/* So many columns in all rows and channels before the next ones. */
static void run_strips(const struct dwconv_f32_task *task, struct dwconv_f32_tall *plan,
                       const struct extent *extent)
{
    struct dwconv_f32_task strip = *task;
    size_t most = task->strip ? task->strip : task->out_cols;
    for (size_t x = 0; x < task->out_cols; x += most) {
        plan->out_cols = strip.out_cols = most < task->out_cols - x ? most : task->out_cols - x;
        plan->first = strip.first;
        run_tiles(&strip, plan, extent);
        strip.first += (ptrdiff_t)(most * task->stride_w);
        strip.dst += most * task->dst_column;
    }
}

static void run_dense_as(struct dwconv_f32_task *task, const float **rows, int in_order)
{
    size_t tap = task->weights_tap * sizeof(float), row = task->kw * tap;
    struct dwconv_f32_tall plan = {
        .column = (ptrdiff_t)(task->column * sizeof(float)),
        .dst_row = task->dst_row * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .weights_row = row,
        .weights_tap = tap,
        .weights_back = (ptrdiff_t)tap - (ptrdiff_t)(task->kh * row),
        .out_cols = task->out_cols,
        .first = task->first,
        .start = task->first * (ptrdiff_t)(task->column * sizeof(float)),
        .columns = (ptrdiff_t)task->columns,
        .whole = task->columns >= task->kw ? task->columns - task->kw + 1 : 0,
        .kw = task->kw,
        .stride_w = task->stride_w,
        .column_step = task->stride_w * task->column * sizeof(float),
    };
    float limits[8];
    plan.clamp = dwconv_f32_limits(task, limits);
    struct extent extent;
    size_t count = (task->out_rows - 1) * task->stride_h + task->kh;
    int has_extent = extent_find(&extent, rows, count) && extent.begin < extent.end;
    int is_high = task->out_rows >= tile_heights[TALL_HEIGHTS - 1];
    if (in_order && is_high && task->channels >= 4 && has_extent && parts_fill_padding(task, rows))
        run_tiles_in_order(task, &plan, rows);
    else if (task->channels < 8 || !has_extent)
        dwconv_f32_neon.run(task);
    else
        run_strips(task, &plan, &extent);
}

static void run_dense(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, 0);
}

static void run_dense_a55(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, IN_ORDER_NARROW);
}

static void run(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense);
}

static void run_a55(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense_a55);
}

/* Of 9 and 10 channels the last eight would be mostly the first ones again. */
static int suits_channels(size_t channels)
{
    return channels == 8 || channels > 10;
}

static int does(const struct dwconv_f32_task *task)
{
    size_t stride = parts_stride(task->stride_h, task->dilation_h);
    return dwconv_f32_is_interleaved(task) && suits_channels(task->channels) &&
           task->kh == task->kw && find_known(task->kh, stride) < TALL_KNOWN;
}

static int does_a55(const struct dwconv_f32_task *task)
{
    size_t stride = parts_stride(task->stride_h, task->dilation_h);
    return dwconv_f32_is_interleaved(task) && task->channels >= 4 &&
           find_known(task->kh, stride) < TALL_KNOWN;
}

const struct dwconv_f32_kernel dwconv_f32_tall_neon = {
    .name = "dwconv_f32_tall_neon",
    .needs = CPU_NEON,
    .does = does,
    .tile_rows = TALLEST_TILE,
    .run = run,
};
const struct dwconv_f32_kernel dwconv_f32_tall_a55_neon = {
    .name = "dwconv_f32_tall_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does_a55,
    .tile_rows = TALLEST_TILE,
    .run = run_a55,
};
