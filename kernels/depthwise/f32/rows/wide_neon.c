/* Depthwise convolution of planes (nchw), vectors of neighbouring columns: rows to copy and tiles
 * for the assembly of kernels/depthwise/f32/rows/wide_tiles_neon.S. Kernels of one to seven rows,
 * stride 1 with any dilation, stride 2 without; those of several planes have stride 1. */
#include <stdbool.h>
#include <string.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/heights.h"
#include "kernels/depthwise/f32/rows/wide.h"
#include "kernels/depthwise/f32/rows/wide_offsets.h"

enum { LANES = 4, LINE = 16, MOST_HEIGHT = 7 };

/* The copy of the source, for each plane of the kernel: `rows` of `pitch` values, of which stride 2
 * has the odd ones in the second half; values `begin` to `begin + count` of a row are those of
 * columns from `column` on. Rows of taps are `step` apart: other than the pitch where parts of one
 * row are rows. */
struct copy {
    size_t rows, pitch, step, begin, column, count;
};

static struct copy plan_copy(const struct dwconv_f32_task *task)
{
    size_t span = (task->out_cols - 1) * task->stride_w + (task->kw - 1) * task->dilation_w + 1;
    size_t left = task->first < 0 ? smaller((size_t)-task->first, span) : 0;
    size_t column = task->first > 0 ? smaller((size_t)task->first, task->columns) : 0;
    size_t pitch = (span + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
    return (struct copy){
        .rows = (task->out_rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1,
        .pitch = pitch,
        .step = pitch,
        .begin = left,
        .column = column,
        .count = smaller(span - left, task->columns - column),
    };
}

/* What is in the scratch memory. */
struct parts {
    float *constants;
    struct dwconv_f32_wide_copy *copies;
    struct dwconv_f32_wide_tile *tiles;
    float *rows;
};

static size_t most_tiles(const struct dwconv_f32_task *task)
{
    return task->out_rows * (task->out_cols / (LANES * WIDE_VECTORS) + 2) + 1;
}

static size_t constants_bytes(const struct dwconv_f32_task *task)
{
    return in_lines((4 * LANES + task->kd * task->kh * task->kw) * sizeof(float));
}

static size_t rows_bytes(const struct dwconv_f32_task *task, const struct copy *copy)
{
    return task->kd * copy->rows * copy->pitch * sizeof(float);
}

static struct parts find_parts(const struct dwconv_f32_task *task, const struct copy *copy)
{
    unsigned char *at = task->scratch;
    struct parts parts = {.constants = (float *)(void *)at};
    at += constants_bytes(task);
    parts.copies = (struct dwconv_f32_wide_copy *)(void *)at;
    at += in_lines(task->kd * copy->rows * sizeof *parts.copies);
    parts.tiles = (struct dwconv_f32_wide_tile *)(void *)at;
    at += in_lines(most_tiles(task) * sizeof *parts.tiles);
    parts.rows = (float *)(void *)at;
    return parts;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    struct copy copy = plan_copy(task);
    return constants_bytes(task) +
           in_lines(task->kd * copy.rows * sizeof(struct dwconv_f32_wide_copy)) +
           in_lines(most_tiles(task) * sizeof(struct dwconv_f32_wide_tile)) +
           rows_bytes(task, &copy);
}

/* Stride 1, under 16 values: four or eight, and once more as many to the end. */
static void plan_quads(struct dwconv_f32_wide *job, size_t count)
{
    job->quads = count >= 2 * LANES ? 2 : 1;
    job->rest = (ptrdiff_t)((count - job->quads * LANES) * sizeof(float));
}

/* How a row is copied; the last chunk overlaps the one before. 0: too few values. */
static int plan_chunks(struct dwconv_f32_wide *job, const struct copy *copy, size_t stride)
{
    size_t count = copy->count, chunk = 16;
    if (stride == 2) {
        job->quads = count % 2;
        count -= count % 2;
        chunk = 8;
    }
    if (stride == 1 && count >= LANES && count < chunk) {
        plan_quads(job, count);
        return 1;
    }
    job->chunks = count / chunk;
    size_t left = count % chunk;
    job->rest = left ? ((ptrdiff_t)left - (ptrdiff_t)chunk) * (ptrdiff_t)sizeof(float) : 0;
    return job->chunks > 0;
}

static void list_copies(struct dwconv_f32_wide *job, const struct dwconv_f32_task *task,
                        const struct copy *copy, const struct parts *parts)
{
    size_t half = copy->pitch / 2, begin = copy->begin;
    if (task->stride_w == 2) {
        size_t odd = begin % 2;
        job->second = (odd ? 1 - (ptrdiff_t)half : (ptrdiff_t)half) * (ptrdiff_t)sizeof(float);
        begin = begin / 2 + odd * half;
    }
    struct dwconv_f32_wide_copy *copies = parts->copies;
    float *to = parts->rows + begin;
    for (size_t kz = 0; kz < task->kd; kz++) {
        const float *const *rows = task->rows + kz * task->rows_plane;
        for (size_t row = 0; row < copy->rows; row++, to += copy->pitch)
            if (rows[row])
                *copies++ = (struct dwconv_f32_wide_copy){rows[row] + copy->column, to};
    }
    job->copies = parts->copies;
    job->copies_count = (size_t)(copies - parts->copies);
}

/* The tiles of rows y, y + dilation_h and so on; what is left of whole tiles of columns overlaps
 * them.
 */
static struct dwconv_f32_wide_tile *list_tiles(struct dwconv_f32_wide_tile *tile,
                                               const struct dwconv_f32_task *task, size_t y,
                                               size_t height, const float *src)
{
    enum { MOST = LANES * WIDE_VECTORS };
    size_t n = task->out_cols;
    for (size_t x = 0, count = 0; x < n; x += count) {
        size_t left = n - x, vectors = (left + LANES - 1) / LANES;
        if (vectors == WIDE_VECTORS + 1)
            count = MOST - LANES; /* a single one would wait for its own sums */
        else if (left >= MOST)
            count = MOST;
        else if (x > 0 || n == 2 * LANES || n == LANES)
            count = vectors * LANES;
        else
            count = (vectors + 1) / 2 * LANES;
        size_t at = x + count <= n ? x : n - count;
        *tile++ = (struct dwconv_f32_wide_tile){
            .src = src + at,
            .dst = (y * task->dst_row + at) * sizeof(float),
            .body = WIDE_HEIGHTS * (count / LANES - 1) + height,
        };
    }
    return tile;
}

/* Rows y, y + dilation_h and so on have their taps on the same rows of source. */
static void list_all_tiles(const struct dwconv_f32_task *task, const struct copy *copy,
                           const struct parts *parts)
{
    struct dwconv_f32_wide_tile *tile = parts->tiles;
    size_t apart = task->dilation_h;
    size_t first = task->out_cols < LANES * WIDE_VECTORS ? 0 : 1; /* narrow tiles may be tall */
    for (size_t part = 0; part < apart && part < task->out_rows; part++) {
        size_t count = (task->out_rows - part + apart - 1) / apart;
        for (size_t done = 0; done < count;) {
            size_t height = tile_heights_choose(first, done, count - done);
            size_t rows = tile_heights[height];
            size_t y = part + (smaller(done + rows, count) - rows) * apart;
            tile = list_tiles(tile, task, y, height, parts->rows + y * task->stride_h * copy->step);
            done += rows;
        }
    }
    tile->body = WIDE_END;
}

/* Taps of a single row of stride 1 are walked along it, as rows are down; there is one step then.
 */
static bool is_row(const struct dwconv_f32_task *task)
{
    return task->kh == 1 && task->kd == 1 && task->stride_w == 1;
}

static void plan_steps(struct dwconv_f32_wide *job, const struct dwconv_f32_task *task,
                       const struct copy *copy)
{
    ptrdiff_t bytes = (ptrdiff_t)sizeof(float), half = (ptrdiff_t)copy->pitch / 2;
    ptrdiff_t plane = (ptrdiff_t)(copy->rows * copy->pitch), planes = (ptrdiff_t)task->kd;
    ptrdiff_t column = task->stride_w == 2 ? half : (ptrdiff_t)task->dilation_w;
    ptrdiff_t next = planes > 1 ? plane : column;
    job->row = (ptrdiff_t)(copy->step * task->dilation_h) * bytes;
    job->outer_step = (column - planes * plane) * bytes;
    if (task->stride_w == 1)
        job->second = is_row(task) ? column * bytes : job->row;
    ptrdiff_t tap = task->stride_w == 1 ? job->second : job->row;
    ptrdiff_t walked = (ptrdiff_t)job->kernel_rows * tap;
    job->pairs = task->stride_h == 1 && !is_row(task) ? (job->kernel_rows - 1) / 2 : 0;
    job->singles = job->kernel_rows - 2 * job->pairs;
    job->back = next * bytes - walked;
    job->back_sum = bytes - 2 * walked;
}

static void plan_weights(struct dwconv_f32_wide *job, const struct dwconv_f32_task *task)
{
    ptrdiff_t tap = (ptrdiff_t)(task->weights_tap * sizeof(float));
    ptrdiff_t row = (ptrdiff_t)task->kw * tap, plane = (ptrdiff_t)task->kh * row;
    bool is_deep = task->kd > 1;
    job->inner = is_deep ? task->kd : is_row(task) ? 1 : task->kw;
    job->outer = is_deep ? task->kw : 1;
    job->weights_row = (size_t)(is_row(task) ? tap : row);
    job->weights_back = is_deep ? 0 : tap - plane;
    job->weights_outer = tap - (ptrdiff_t)task->kd * plane;
}

/* Parts of a row that is alone, as many as the highest tile of their width has rows; they are rows
 * of dst from here on. */
static void divide_row(struct dwconv_f32_task *task, struct copy *copy)
{
    size_t n = task->out_cols;
    if (task->kh > 1 || task->out_rows > 1 || task->stride_w > 1 || n < tile_heights[0] * LANES)
        return;
    task->out_rows = n < tile_heights[1] * LANES * WIDE_VECTORS ? tile_heights[0] : tile_heights[1];
    task->dilation_h = 1;
    task->dst_row = copy->step = n / task->out_rows;
    task->out_cols = n - (task->out_rows - 1) * task->dst_row;
}

static void run(const struct dwconv_f32_task *whole)
{
    static const float none;
    struct dwconv_f32_task divided = *whole;
    const struct dwconv_f32_task *task = &divided;
    struct copy copy = plan_copy(whole);
    divide_row(&divided, &copy);
    float limits[8];
    struct dwconv_f32_wide job = {
        .dst = task->dst,
        .dst_row = task->dst_row * task->dilation_h * sizeof(float),
        .weights = task->weights,
        .bias = task->bias ? task->bias : &none,
        .bias_next = task->bias ? sizeof(float) : 0,
        .clamp = dwconv_f32_limits(task, limits),
        .kernel_rows = is_row(task) ? task->kw : task->kh,
        .planes = task->channels,
        .multiplier = task->multiplier,
        .src_plane = task->src_plane * sizeof(float),
        .dst_plane = task->dst_plane * sizeof(float),
    };
    if (whole->out_cols < LANES || !plan_chunks(&job, &copy, task->stride_w)) {
        dwconv_f32_ref.run(whole);
        return;
    }
    struct parts parts = find_parts(whole, &copy);
    memset(parts.rows, 0, rows_bytes(whole, &copy));
    list_copies(&job, task, &copy, &parts);
    list_all_tiles(task, &copy, &parts);
    plan_steps(&job, task, &copy);
    plan_weights(&job, task);
    job.constants = parts.constants;
    job.tiles = parts.tiles;
    (task->stride_h == 1 ? dwconv_f32_wide_s1 : dwconv_f32_wide_s2)(&job);
}

/* Narrow planes, and kernels of several planes, are better interleaved, if channels are as many as
 * are in a line and no two of them come of the same one. */
static int does(const struct dwconv_f32_task *task)
{
    int is_dense = task->dilation_h == 1 && task->dilation_w == 1;
    int interleaves = task->channels >= LINE && task->multiplier == 1;
    return task->column == 1 && task->dst_column == 1 &&
           task->out_cols >= (interleaves ? 2 * LANES : LANES) && (task->kd == 1 || !interleaves) &&
           task->kh <= MOST_HEIGHT && task->stride_h == task->stride_w &&
           (task->stride_h == 1 || (task->stride_h == 2 && is_dense && task->kd == 1));
}

const struct dwconv_f32_kernel dwconv_f32_wide_neon = {
    .name = "dwconv_f32_wide_neon",
    .needs = CPU_NEON,
    .is_deep = 1,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
