/* Depthwise convolution of any size, channels as vectors: lists of taps for the assembly of
 * kernels/depthwise/f32/listed_neon.S.
 *
 * A tile is some pixels that are neighbours across or, where rows are short, down; it is repeated
 * in the other direction for as long as its taps are the same ones. So a list is made once for all
 * rows that have no padding, and once for each row that has. Taps of a column of the kernel whose
 * pixels are the same ones are a single entry of it; those that no pixel has are left out, and with
 * them their loads of weights. Source is read in place.
 *
 * Channels that are left over overlap the ones before; images of fewer than four have no vectors.
 */
#include <math.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/listed.h"
#include "kernels/depthwise/f32/listed_offsets.h"

enum {
    LANES = 4,
    LINE = 16,
    MOST_RUNS = 96, /* of a call; sums of more wait in dst */
};

/* The tiles that there is assembly for. */
struct kind {
    size_t channels, pixels;
    dwconv_f32_listed_fn *run;
    const void *const *codes; /* [pixels][pixels] */
};
static const struct kind quads = {LINE, 4, dwconv_f32_listed_4x4,
                                  &dwconv_f32_listed_4x4_codes[0][0]};
static const struct kind singles = {LANES, 8, dwconv_f32_listed_8x1,
                                    &dwconv_f32_listed_8x1_codes[0][0]};
static const struct kind lines = {2 * LINE, 1, dwconv_f32_listed_1x8,
                                  &dwconv_f32_listed_1x8_codes[0][0]};

struct range {
    size_t begin, end;
};

/* Rows or columns. Tap k of output i is at first + i * stride + k * dilation, and exists between
 * `begin` and `end`. */
struct axis {
    size_t outputs, stride, taps, dilation;
    ptrdiff_t first, begin, end;
    ptrdiff_t src;      /* bytes from one place to the next */
    size_t dst;         /* bytes from output to output */
    struct range whole; /* outputs that have all taps */
};

/* Mostly by 1. */
static size_t divide(size_t count, size_t step)
{
    return step == 1 ? count : count / step;
}

/* Which of `count` places exist, `step` apart from `at` on. */
static struct range find_range(const struct axis *axis, ptrdiff_t at, size_t step, size_t count)
{
    struct range range = {0, count};
    if (at < axis->begin)
        range.begin = divide((size_t)(axis->begin - at) + step - 1, step);
    if (at >= axis->end)
        range.end = 0;
    else if (at + (ptrdiff_t)((count - 1) * step) >= axis->end)
        range.end = divide((size_t)(axis->end - 1 - at), step) + 1;
    return range;
}

static ptrdiff_t place_of(const struct axis *axis, size_t output, size_t tap)
{
    return axis->first + (ptrdiff_t)(output * axis->stride + tap * axis->dilation);
}

static struct range taps_of(const struct axis *axis, size_t output)
{
    return find_range(axis, place_of(axis, output, 0), axis->dilation, axis->taps);
}

/* What a call has in common for all tiles. */
struct plan {
    const struct dwconv_f32_task *task;
    struct axis x, y;
    int is_even;       /* rows that exist are as far from each other, and so are planes */
    int goes_down;     /* tiles are of rows */
    ptrdiff_t plane;   /* bytes */
    uintptr_t origin;  /* where row and column 0 would be */
    const float *none; /* for the bias, if there is none */
    struct dwconv_f32_listed job;
    const struct kind *kind;
    struct dwconv_f32_listed_run runs[MOST_RUNS], *end;
};

/* ---- the list ---- */

static void flush(struct plan *plan, const float *clamp)
{
    plan->job.runs_end = plan->end;
    plan->job.clamp = clamp;
    plan->kind->run(&plan->job);
    plan->job.goes_on = 1;
    plan->end = plan->runs;
}

/* Taps go on with the last ones, if they are of the same pixels and the next step. */
static void add_run(struct plan *plan, const struct dwconv_f32_listed_run *run)
{
    struct dwconv_f32_listed_run *last = plan->end - 1;
    if (plan->end > plan->runs && last->code == run->code &&
        last->src + last->count * (size_t)plan->job.step == run->src &&
        last->weights + last->count * plan->job.weights_step == run->weights) {
        last->count += run->count;
        return;
    }
    if (plan->end == plan->runs + MOST_RUNS)
        flush(plan, NULL);
    *plan->end++ = *run;
}

/* So many taps from one on, whose weights are `weights` bytes behind the first, for some pixels of
 * a tile. */
INLINE void add_taps(struct plan *plan, uintptr_t src, size_t weights, struct range pixels,
                     size_t count)
{
    const struct kind *kind = plan->kind;
    add_run(plan, &(struct dwconv_f32_listed_run){
                      .src = src + pixels.begin * (size_t)plan->job.between,
                      .weights = weights,
                      .code = kind->codes[pixels.begin * kind->pixels + pixels.end - 1],
                      .count = count,
                  });
}

/* Taps from `column` on that all pixels of a tile have. */
static size_t count_whole(const struct axis *columns, ptrdiff_t column, size_t pixels)
{
    ptrdiff_t last = column + (ptrdiff_t)((pixels - 1) * columns->stride);
    if (column < columns->begin || last >= columns->end)
        return 0;
    return divide((size_t)(columns->end - 1 - last), columns->dilation) + 1;
}

/* Tiles of columns, of even rows: the rows of each column of the kernel are one run, or its columns
 * are, if it is a single row. */
static void list_columns(struct plan *plan, size_t y, size_t x)
{
    const struct dwconv_f32_task *task = plan->task;
    const struct axis *columns = &plan->x;
    const struct range all = {0, plan->job.pixels}, rows = taps_of(&plan->y, y);
    size_t is_row = task->kd * task->kh == 1, tap = task->weights_tap * sizeof(float);
    size_t plane = task->kh * task->kw * tap, weights = rows.begin * task->kw * tap;
    ptrdiff_t column = place_of(columns, x, 0), row = place_of(&plan->y, y, rows.begin);
    uintptr_t src = plan->origin + (size_t)(row * plan->y.src + column * columns->src);
    size_t step = columns->dilation * (size_t)columns->src;
    size_t whole = count_whole(columns, column, all.end), count = 1;
    for (size_t kx = 0; rows.begin < rows.end && kx < task->kw; kx += count) {
        struct range pixels = whole ? all : find_range(columns, column, columns->stride, all.end);
        count = is_row && whole ? smaller(whole, task->kw - kx) : 1;
        for (size_t kz = 0; pixels.begin < pixels.end && kz < task->kd; kz++)
            add_taps(plan, src + kz * (size_t)plan->plane, weights + kz * plane, pixels,
                     is_row ? count : rows.end - rows.begin);
        column += (ptrdiff_t)(count * columns->dilation);
        src += count * step;
        weights += count * tap;
        whole = whole > count ? whole - count : whole ? 0 : count_whole(columns, column, all.end);
    }
}

/* Where output row y has row ky of plane kz of the kernel; 0: in the padding. */
static uintptr_t find_row(const struct plan *plan, size_t y, size_t kz, size_t ky)
{
    const struct dwconv_f32_task *task = plan->task;
    size_t row = y * task->stride_h + ky * task->dilation_h;
    if (!plan->is_even)
        return (uintptr_t)task->rows[kz * task->rows_plane + row];
    return plan->origin + (size_t)((ptrdiff_t)kz * plan->plane + (ptrdiff_t)row * plan->y.src);
}

/* A column of the kernel, tap by tap: of tiles of rows, or of rows that are not even. */
static void list_each(struct plan *plan, size_t y, size_t kx, ptrdiff_t column, struct range pixels)
{
    const struct dwconv_f32_task *task = plan->task;
    size_t tap = kx;
    for (size_t kz = 0; kz < task->kd; kz++)
        for (size_t ky = 0; ky < task->kh; ky++, tap += task->kw) {
            uintptr_t row = find_row(plan, y, kz, ky);
            if (plan->goes_down)
                pixels = find_range(&plan->y, place_of(&plan->y, y, ky), plan->y.stride,
                                    plan->job.pixels);
            if (row && pixels.begin < pixels.end)
                add_taps(plan, row + (size_t)(column * plan->x.src),
                         tap * task->weights_tap * sizeof(float), pixels, 1);
        }
}

static void list_taps(struct plan *plan, size_t y, size_t x)
{
    struct range columns = {0, plan->task->kw}, pixels = {0, plan->job.pixels};
    if (plan->is_even && !plan->goes_down) {
        list_columns(plan, y, x);
        return;
    }
    if (plan->goes_down)
        columns = taps_of(&plan->x, x);
    for (size_t kx = columns.begin; kx < columns.end; kx++) {
        ptrdiff_t column = place_of(&plan->x, x, kx);
        if (!plan->goes_down)
            pixels = find_range(&plan->x, column, plan->x.stride, plan->job.pixels);
        list_each(plan, y, kx, column, pixels);
    }
}

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

/* Tiles are repeated for outputs of the other axis that have the same taps. */
static void repeat_across(struct plan *plan, const struct axis *others, size_t at)
{
    plan->job.repeats = plan->is_even ? count_alike(others, at) : 1;
    plan->job.src_repeat = (ptrdiff_t)others->stride * others->src;
    plan->job.dst_repeat = others->dst;
}

/* How many tiles are done at once, of so many pixels, from output `at` on: in a row that is alone
 * all that have no padding. */
static size_t choose_tiles(struct plan *plan, const struct axis *tiles, size_t at)
{
    size_t most = plan->kind->pixels, alike = count_alike(tiles, at);
    plan->job.pixels = choose_pixels(plan->kind, tiles->outputs - at);
    if (plan->x.outputs * plan->y.outputs != tiles->outputs || alike < 2 * most)
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
    list_taps(plan, y, x);
    flush(plan, clamp);
}

/* All tiles of so many groups of channels, from c on. */
static void run_groups(struct plan *plan, const struct kind *kind, size_t c, size_t groups)
{
    const struct dwconv_f32_task *task = plan->task;
    const struct axis *tiles = plan->goes_down ? &plan->y : &plan->x;
    const struct axis *others = plan->goes_down ? &plan->x : &plan->y;
    const float clamp[2 * LANES] = {task->low,  task->low,  task->low,  task->low,
                                    task->high, task->high, task->high, task->high};
    int clamps = task->low > -INFINITY || task->high < INFINITY;
    plan->kind = kind;
    plan->job.groups = groups;
    plan->job.src = c * sizeof(float);
    plan->job.weights = task->weights + c;
    plan->job.bias = task->bias ? task->bias + c : plan->none;
    plan->job.bias_next = task->bias ? kind->channels * sizeof(float) : 0;
    const float *limits = clamps ? clamp : NULL;
    for (size_t i = 0, count; i < tiles->outputs; i += count * plan->job.pixels) {
        count = choose_tiles(plan, tiles, i);
        for (size_t j = 0; j < others->outputs; j += count == 1 ? plan->job.repeats : 1) {
            if (count == 1)
                repeat_across(plan, others, j);
            run_tile(plan, plan->goes_down ? i : j, plan->goes_down ? j : i, limits);
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

/* ---- rows ---- */

/* Which rows exist, and how far they are from each other; 0: there are gaps, or other distances. */
static int find_rows(struct axis *rows, const float *const *list, size_t count)
{
    size_t begin = 0, end = count;
    while (begin < count && !list[begin])
        begin++;
    while (end > begin && !list[end - 1])
        end--;
    rows->begin = (ptrdiff_t)begin;
    rows->end = (ptrdiff_t)end;
    rows->src = 0;
    for (size_t i = begin + 1; i < end; i++) {
        ptrdiff_t src = (ptrdiff_t)((uintptr_t)list[i] - (uintptr_t)list[i - 1]);
        if (!list[i] || !list[i - 1] || (i > begin + 1 && src != rows->src))
            return 0;
        rows->src = src;
    }
    return 1;
}

/* The same for planes of the kernel, which must have the same rows. */
static int find_planes(struct plan *plan, size_t count)
{
    const struct dwconv_f32_task *task = plan->task;
    const float *const *rows = task->rows;
    if (!find_rows(&plan->y, rows, count))
        return 0;
    size_t first = (size_t)plan->y.begin;
    for (size_t kz = 1; kz < task->kd; kz++) {
        struct axis next = plan->y;
        rows += task->rows_plane;
        if (!find_rows(&next, rows, count) || next.begin != plan->y.begin ||
            next.end != plan->y.end || next.src != plan->y.src)
            return 0;
        if (next.begin == next.end)
            continue;
        ptrdiff_t plane =
            (ptrdiff_t)((uintptr_t)rows[first] - (uintptr_t)(rows - task->rows_plane)[first]);
        if (kz > 1 && plane != plan->plane)
            return 0;
        plan->plane = plane;
    }
    if (plan->y.begin < plan->y.end)
        plan->origin = (uintptr_t)task->rows[first] - (size_t)(plan->y.begin * plan->y.src);
    return 1;
}

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

/* Instructions for all tiles of `along` and their lists, of each of which `list` are for a column
 * of the kernel. */
static size_t count_work(const struct plan *plan, const struct axis *along,
                         const struct axis *other, size_t list)
{
    enum { TAP = 24 };
    const struct range *whole = &other->whole;
    size_t same = whole->begin < whole->end ? whole->end - whole->begin - 1 : 0;
    size_t tiles = (along->outputs + quads.pixels - 1) / quads.pixels;
    size_t column = plan->task->kh * TAP * (plan->task->channels + LINE - 1) / LINE;
    return tiles * (other->outputs * column + (other->outputs - same) * list);
}

/* Where rows are short, or have padding while columns have none. */
static int is_less_down(const struct plan *plan)
{
    enum { COLUMN = 50, TAP = 60 };
    return plan->is_even && plan->x.outputs * plan->y.outputs > 1 &&
           count_work(plan, &plan->y, &plan->x, plan->task->kh * TAP) <
               count_work(plan, &plan->x, &plan->y, COLUMN);
}

static void plan_tiles(struct plan *plan)
{
    plan->goes_down = is_less_down(plan);
    const struct axis *tiles = plan->goes_down ? &plan->y : &plan->x;
    plan->job = (struct dwconv_f32_listed){
        .runs = plan->runs,
        .between = (ptrdiff_t)tiles->stride * tiles->src,
        .dst_pixel = tiles->dst,
    };
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
    plan_tiles(plan);
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
