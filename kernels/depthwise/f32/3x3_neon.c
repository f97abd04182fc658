/* Depthwise 3x3, channels as vectors, stride 1 or 2: pieces for the assembly of
 * kernels/depthwise/f32/rows/slide_neon.S and, on cores that issue in order,
 * kernels/depthwise/f32/rows/slide_in_order_neon.S. */
#include "kernels/depthwise/f32/lanes/image.h"
#include "kernels/depthwise/f32/parts_neon.h"
#include "kernels/depthwise/f32/rows/slide.h"
#include "kernels/depthwise/f32/rows/slide_offsets.h"
#include "kernels/depthwise/f32/tiles.h"

/* What the columns mean for the steps; 0 if they are not what the assembly can do: then so little
 * of the image is left that speed does not matter. */
static int plan_columns(struct dwconv_f32_slide *job, const struct dwconv_f32_task *task)
{
    size_t left = task->first < 0 ? (size_t)-task->first : 0;
    ptrdiff_t end = (ptrdiff_t)task->columns - task->first; /* columns from the first tap on */
    size_t stride = task->stride_w, live = stride == 1 ? 3 : 2;
    size_t needed = stride * task->out_cols; /* columns that the main steps need */
    if (task->out_cols + 1 < live || left > 3 - stride || end < 0 || (size_t)end < needed)
        return 0;
    size_t steps = task->out_cols + 1 - live;
    job->rounds = (steps + live - 1) / live;
    job->entry = job->rounds * live - steps;
    job->edges = (left == 0 ? SLIDE_LEFT_0 : 0u) | (left <= 1 ? SLIDE_LEFT_1 : 0u) |
                 ((size_t)end > needed ? SLIDE_RIGHT_0 : 0u) |
                 ((size_t)end > needed + 1 ? SLIDE_RIGHT_1 : 0u);
    job->start = task->first < 0 ? 0 : (size_t)task->first * task->column * sizeof(float);
    return 1;
}

/* channels is 4 or 8; in_order: IN_ORDER_* for the functions that are made for such cores. */
static dwconv_f32_slide_fn *find_function(const struct dwconv_f32_task *task, size_t channels,
                                          int in_order)
{
    static dwconv_f32_slide_fn *const functions[2][2][2] = {
        {{dwconv_f32_slide_s1_c4, dwconv_f32_slide_s1_c8},
         {dwconv_f32_slide_s2_c4, dwconv_f32_slide_s2_c8}},
        {{dwconv_f32_slide_s1_a55, dwconv_f32_slide_s1_a55_clamp},
         {dwconv_f32_slide_s2_a55, dwconv_f32_slide_s2_a55_clamp}},
    };
    int second = in_order ? dwconv_f32_clamps(task) : channels == 8;
    return functions[in_order != 0][task->stride_w - 1][second];
}

static const float none[8];

static void run_groups(const struct dwconv_f32_task *task, const struct dwconv_f32_slide *plan,
                       const struct parts_group *part, int in_order)
{
    struct dwconv_f32_slide job = *plan;
    size_t channels = in_order ? 4 : part->channels;
    job.weights = task->weights + part->c;
    job.bias = task->bias ? task->bias + part->c : none;
    job.bias_next = task->bias ? channels * sizeof(float) : 0;
    job.dst = task->dst + part->c;
    job.start += part->c * sizeof(float);
    job.groups = part->groups * (part->channels / channels);
    find_function(task, channels, in_order)(&job);
}

/* 0: there are no tiles for this. */
static int run_tiles(const struct dwconv_f32_task *task, const float *const *rows,
                     const struct parts_group *part)
{
    if (part->channels != TILES_GROUP)
        return 0;
    return (task->out_cols % TILES_WIDTH == 0 ||
            (task->tile_channels && task->out_cols > TILES_WIDTH)) &&
           dwconv_f32_tiles_run(task, rows, part->c, part->groups);
}

static void run_columns(const struct dwconv_f32_task *task, const float **rows, int in_order)
{
    struct dwconv_f32_slide plan = {
        .rows = rows,
        .column = task->column * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .dst_row = task->dst_row * sizeof(float),
        .weights_tap = task->weights_tap * sizeof(float),
        .out_rows = task->out_rows,
    };
    float limits[8];
    plan.clamp = dwconv_f32_limits(task, limits);
    struct parts_group groups[2];
    int count = task->channels < 4 ? 0 : parts_groups(task->channels, groups), done = 0;
    while (!in_order && done < count && run_tiles(task, rows, &groups[done]))
        done++;
    if (count && done == count)
        return;
    if (!count || !plan_columns(&plan, task) || !parts_fill_padding(task, rows)) {
        dwconv_f32_neon.run(task);
        return;
    }
    /* it loads the column after the main steps' last one while these run */
    if (!plan.rounds || !(plan.edges & SLIDE_RIGHT_0))
        in_order = 0;
    for (int i = done; i < count; i++)
        run_groups(task, &plan, &groups[i], in_order);
}

/* Where the main steps end at the image's last column, that of dst is computed by itself. */
static void run_dense_as(const struct dwconv_f32_task *task, const float **rows, int in_order)
{
    ptrdiff_t needed = task->first + (ptrdiff_t)(task->stride_w * task->out_cols);
    if (dwconv_f32_image_run(task, rows))
        return;
    if (!in_order || needed < (ptrdiff_t)task->columns || task->out_cols < 4) {
        run_columns(task, rows, in_order);
        return;
    }
    struct dwconv_f32_task most = *task, last = *task;
    most.out_cols--;
    last.out_cols = 1;
    last.first += (ptrdiff_t)(most.out_cols * task->stride_w);
    last.dst += most.out_cols * task->dst_column;
    run_columns(&most, rows, in_order);
    run_columns(&last, rows, 0);
}

static void run_dense(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, 0);
}

static void run_dense_a55(struct dwconv_f32_task *task, const float **rows)
{
    run_dense_as(task, rows, IN_ORDER_NARROW);
}

static void run_parts(const struct dwconv_f32_task *task, parts_fn *run)
{
    if (task->whole_images && task->copies_weights)
        dwconv_f32_image_copy_weights(task);
    parts_run(task, run);
}

static void run(const struct dwconv_f32_task *task)
{
    run_parts(task, run_dense);
}

static void run_a55(const struct dwconv_f32_task *task)
{
    run_parts(task, run_dense_a55);
}

static int does(const struct dwconv_f32_task *task)
{
    size_t down = parts_stride(task->stride_h, task->dilation_h);
    return dwconv_f32_is_interleaved(task) && task->channels >= 4 && task->kh == 3 &&
           task->kw == 3 && down <= 2 && down == parts_stride(task->stride_w, task->dilation_w);
}

/* A copy of the weights for tiles, and one for whole images. */
static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    size_t copies = !task->copies_weights ? 0 : task->whole_images ? 2 : 1;
    return copies * TILES_TAPS * task->channels * sizeof(float);
}

const struct dwconv_f32_kernel dwconv_f32_3x3_neon = {
    .name = "dwconv_f32_3x3_neon",
    .needs = CPU_NEON,
    .does = does,
    .tile_columns = TILES_WIDTH,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
const struct dwconv_f32_kernel dwconv_f32_3x3_a55_neon = {
    .name = "dwconv_f32_3x3_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run_a55,
};
