/* Depthwise convolution of any size, channels as vectors: lists of taps for the assembly of
 * kernels/depthwise/f32/listed_neon.S.
 *
 * A tile is some pixels that are neighbours; it is repeated down for as long as its taps are the
 * same ones. So a list is made once for all rows that have no padding, and once for each row that
 * has. Taps of a column of the kernel whose pixels are the same ones are a single entry of it;
 * those that no pixel has are left out, and with them their loads of weights. Source is read in
 * place.
 *
 * Channels that are left over overlap the ones before; images of fewer than four have no vectors.
 */
#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/extent.h"
#include "kernels/depthwise/f32/listed.h"
#include "kernels/depthwise/f32/listed_offsets.h"
#include "kernels/depthwise/f32/listed_plan.h"

enum { LANES = 4, LINE = 16 };

static const struct kind quads = {LINE, 4, dwconv_f32_listed_4x4,
                                  &dwconv_f32_listed_4x4_codes[0][0]};
static const struct kind singles = {LANES, 8, dwconv_f32_listed_8x1,
                                    &dwconv_f32_listed_8x1_codes[0][0]};
static const struct kind lines = {2 * LINE, 1, dwconv_f32_listed_1x8,
                                  &dwconv_f32_listed_1x8_codes[0][0]};

/* ---- tiles ---- */

/* So many that no tile of one pixel is left over. */
static size_t choose_pixels(const struct kind *kind, size_t left)
{
    size_t tiles = (left + kind->pixels - 1) / kind->pixels;
    return (left + tiles - 1) / tiles;
}

/* Outputs from `at` on that have the same taps: all of them, or it is alone. */
static size_t count_alike(const struct axis *axis, size_t at)
{
    return at >= axis->whole.begin && at < axis->whole.end ? axis->whole.end - at : 1;
}

/* Tiles are repeated for rows that have the same taps. */
static void repeat_down(struct plan *plan, size_t y)
{
    plan->job.repeats = plan->is_even ? count_alike(&plan->y, y) : 1;
    plan->job.src_repeat = (ptrdiff_t)plan->y.stride * plan->y.src;
    plan->job.dst_repeat = plan->y.dst;
}

/* How many tiles are done at once, of so many pixels, from column x on: in a row that is alone all
 * that have no padding. */
static size_t choose_tiles(struct plan *plan, size_t x)
{
    size_t most = plan->kind->pixels, alike = count_alike(&plan->x, x);
    plan->job.pixels = choose_pixels(plan->kind, plan->x.outputs - x);
    if (plan->y.outputs != 1 || alike < 2 * most)
        return 1;
    plan->job.pixels = most;
    plan->job.repeats = alike / most;
    plan->job.src_repeat = (ptrdiff_t)most * plan->job.between;
    plan->job.dst_repeat = most * plan->job.dst_pixel;
    return plan->job.repeats;
}

static void run_tile(struct plan *plan, size_t y, size_t x, const float *clamp)
{
    plan->job.dst = plan->task->dst + plan->job.src / sizeof(float) + y * plan->task->dst_row +
                    x * plan->task->dst_column;
    plan->job.goes_on = 0;
    plan->end = plan->runs;
    dwconv_f32_listed_add_tile(plan, y, x);
    dwconv_f32_listed_flush(plan, clamp);
}

/* All tiles of so many groups of channels, from c on. */
static void run_groups(struct plan *plan, const struct kind *kind, size_t c, size_t groups)
{
    const struct dwconv_f32_task *task = plan->task;
    float limits[2 * LANES];
    const float *clamp = dwconv_f32_limits(task, limits);
    plan->kind = kind;
    plan->job.groups = groups;
    plan->job.src = c * sizeof(float);
    plan->job.weights = task->weights + c;
    plan->job.bias = task->bias ? task->bias + c : plan->none;
    plan->job.bias_next = task->bias ? kind->channels * sizeof(float) : 0;
    for (size_t x = 0, count; x < plan->x.outputs; x += count * plan->job.pixels) {
        count = choose_tiles(plan, x);
        for (size_t y = 0; y < plan->y.outputs; y += count == 1 ? plan->job.repeats : 1) {
            if (count == 1)
                repeat_down(plan, y);
            run_tile(plan, y, x, clamp);
        }
    }
}

/* Single pixels have eight vectors, as their sums wait for each other else. */
static void run_channels(struct plan *plan)
{
    size_t channels = plan->task->channels, c = 0, left = channels;
    if (plan->x.outputs * plan->y.outputs == 1 && left >= 2 * LINE) {
        run_groups(plan, &lines, 0, left / (2 * LINE));
        c = left / (2 * LINE) * (2 * LINE);
    }
    left = channels - c;
    if (left >= LINE) {
        run_groups(plan, &quads, c, left / LINE);
        c += left / LINE * LINE;
    }
    left = channels - c;
    if (left > LINE / 2 && channels >= LINE) {
        run_groups(plan, &quads, channels - LINE, 1);
        return;
    }
    if (left >= LANES)
        run_groups(plan, &singles, c, left / LANES);
    if (left % LANES)
        run_groups(plan, &singles, channels - LANES, 1);
}

/* ---- the plan ---- */

/* From tap to tap of a run: in the innermost direction that the kernel has. */
static void plan_steps(struct plan *plan)
{
    const struct dwconv_f32_task *task = plan->task;
    size_t tap = task->weights_tap * sizeof(float);
    plan->job.step = (ptrdiff_t)task->dilation_w * plan->x.src;
    plan->job.weights_step = tap;
    if (task->kh > 1 && plan->is_even) {
        plan->job.step = (ptrdiff_t)task->dilation_h * plan->y.src;
        plan->job.weights_step = task->kw * tap;
    } else if (task->kd > 1 && plan->is_even) {
        plan->job.step = plan->plane;
        plan->job.weights_step = task->kh * task->kw * tap;
    }
}

static void find_whole(struct axis *axis)
{
    axis->whole = (struct range){0, 0};
    if (axis->outputs == 1)
        return;
    struct range first = find_range(axis, place_of(axis, 0, 0), axis->stride, axis->outputs);
    struct range last =
        find_range(axis, place_of(axis, 0, axis->taps - 1), axis->stride, axis->outputs);
    axis->whole.begin = larger(first.begin, last.begin);
    axis->whole.end = smaller(first.end, last.end);
}

/* The rows that exist, so many of each plane of the kernel, and how far they are from each other;
 * planes must have the same ones. 0: there are gaps, or other distances. */
static int find_planes(struct plan *plan, size_t count)
{
    const float *const *rows = plan->task->rows;
    struct extent extent, next;
    if (!extent_find(&extent, rows, count))
        return 0;
    plan->y.begin = (ptrdiff_t)extent.begin;
    plan->y.end = (ptrdiff_t)extent.end;
    plan->y.src = extent.row;
    for (size_t kz = 1; kz < plan->task->kd; kz++) {
        const float *const *before = rows;
        rows += plan->task->rows_plane;
        if (!extent_find(&next, rows, count) || next.begin != extent.begin ||
            next.end != extent.end || next.row != extent.row)
            return 0;
        if (next.begin == next.end)
            continue;
        ptrdiff_t plane = (ptrdiff_t)((uintptr_t)rows[next.begin] - (uintptr_t)before[next.begin]);
        if (kz > 1 && plane != plan->plane)
            return 0;
        plan->plane = plane;
    }
    if (extent.begin < extent.end)
        plan->origin =
            (uintptr_t)plan->task->rows[extent.begin] - (size_t)(plan->y.begin * extent.row);
    return 1;
}

static void make_plan(struct plan *plan, const struct dwconv_f32_task *task)
{
    static const float none[2 * LINE];
    plan->task = task;
    plan->none = none;
    plan->x = (struct axis){
        .outputs = task->out_cols,
        .stride = task->stride_w,
        .taps = task->kw,
        .dilation = task->dilation_w,
        .first = task->first,
        .end = (ptrdiff_t)task->columns,
        .src = (ptrdiff_t)(task->column * sizeof(float)),
        .dst = task->dst_column * sizeof(float),
    };
    plan->y = (struct axis){
        .outputs = task->out_rows,
        .stride = task->stride_h,
        .taps = task->kh,
        .dilation = task->dilation_h,
        .dst = task->dst_row * sizeof(float),
    };
    plan->plane = 0;
    plan->origin = 0;
    plan->is_even = find_planes(plan, (task->out_rows - 1) * task->stride_h +
                                          (task->kh - 1) * task->dilation_h + 1);
    find_whole(&plan->x);
    find_whole(&plan->y);
    plan->job = (struct dwconv_f32_listed){
        .runs = plan->runs,
        .between = (ptrdiff_t)plan->x.stride * plan->x.src,
        .dst_pixel = plan->x.dst,
    };
    plan_steps(plan);
}

static void run(const struct dwconv_f32_task *task)
{
    struct plan plan;
    if (task->channels < LANES) {
        dwconv_f32_ref.run(task);
        return;
    }
    make_plan(&plan, task);
    run_channels(&plan);
}

const struct dwconv_f32_kernel dwconv_f32_neon = {.name = "dwconv_f32_neon",
                                                  .needs = CPU_NEON,
                                                  .is_deep = 1,
                                                  .does = dwconv_f32_is_interleaved,
                                                  .run = run};
