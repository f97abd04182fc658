/* Depthwise convolution of rows of planes (nchw) with kernels of one row and stride 1, in place or,
 * at the ends of a row, in a copy between zeros: tiles for the assembly of
 * kernels/depthwise/f32/planes/row_tiles_neon.S. What is little work, and rows whose tiles take
 * much memory, are done by kernels/depthwise/f32/rows/wide_neon.c.
 *
 * Rows are done one by one, though several together would be faster: how many are in a call is a
 * matter of threads, and the other kernel multiplies infinite weights by the zeros of padding where
 * this one leaves it out. */
#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/planes/row.h"
#include "kernels/depthwise/f32/planes/row_offsets.h"

enum {
    LANES = 4,
    TWO = 2 * LANES,
    LINE = 16,
    MARGIN = PLANES_ROW_GROUP * LANES, /* zeros before a copy, of which a tile reads less */
    /* fewer are so little work that to begin, to copy and to store are most of it */
    LEAST_COLUMNS = 17,
    LEAST_TAPS = 4,
    /* more have tiles and copies that are larger than what callers give for planes, 256 KiB, where
     * the other kernel has room for nearly twice as many */
    MOST_COLUMNS = 24 << 10,
    /* begin, store, and as often as the vectors at a tap change in between */
    MOST_STEPS = 2 + PLANES_ROW_VECTORS + PLANES_ROW_VECTORS / PLANES_ROW_GROUP,
};

struct tile {
    ptrdiff_t column; /* of source, of its first column and tap that are there */
    size_t tap, x, last;
    int in_place;
    struct dwconv_f32_planes_row_step steps[MOST_STEPS];
};

/* What is in the scratch memory; columns `begin` to `end` of a row are copied. */
struct parts {
    struct tile *tiles;
    size_t count;
    float *weights; /* of a plane */
    float *copy;    /* of column 0 */
    size_t begin, end;
};

/* By its sizes, but for rows of which a call may have fewer. */
static int has_tiles(const struct dwconv_f32_task *task)
{
    return task->out_cols >= LEAST_COLUMNS && task->out_cols <= MOST_COLUMNS &&
           task->kw >= LEAST_TAPS;
}

static size_t count_tiles(const struct dwconv_f32_task *task)
{
    return (task->out_cols - 1) / (PLANES_ROW_VECTORS * LANES) + 1;
}

static struct parts find_parts(const struct dwconv_f32_task *task)
{
    unsigned char *at = task->scratch;
    struct parts parts = {.tiles = (struct tile *)(void *)at, .count = count_tiles(task)};
    at += in_lines(parts.count * sizeof *parts.tiles);
    parts.weights = (float *)(void *)at;
    at += in_lines(task->kw * sizeof(float));
    parts.copy = (float *)(void *)at + MARGIN;
    return parts;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    size_t own = in_lines(count_tiles(task) * sizeof(struct tile)) +
                 in_lines(task->kw * sizeof(float)) +
                 (MARGIN + task->columns + LANES) * sizeof(float);
    size_t wide = dwconv_f32_wide_neon.scratch_bytes(task);
    return own > wide ? own : wide;
}

/* ---- tiles ---- */

/* Vectors of a tile that are not all padding at a tap which reads `column` for its first one. */
struct range {
    size_t begin, end;
};

static struct range find_range(const struct dwconv_f32_task *task, ptrdiff_t column, size_t vectors)
{
    enum { GROUP = PLANES_ROW_GROUP * LANES };
    ptrdiff_t columns = (ptrdiff_t)task->columns;
    struct range range = {0};
    if (column >= columns)
        return range;
    range.begin = column < 0 ? (size_t)-column / GROUP * PLANES_ROW_GROUP : 0;
    range.end = smaller(vectors, (size_t)(columns - column + LANES - 1) / LANES);
    return range;
}

/* The taps, together where they are of the same vectors; those of none are at the ends. */
static struct dwconv_f32_planes_row_step *
add_taps(struct tile *tile, const struct dwconv_f32_task *task, size_t vectors)
{
    struct dwconv_f32_planes_row_step *step = tile->steps;
    ptrdiff_t column = task->first + (ptrdiff_t)tile->x;
    for (size_t tap = 0; tap < task->kw; tap++, column += (ptrdiff_t)task->dilation_w) {
        struct range range = find_range(task, column, vectors);
        if (range.begin >= range.end)
            continue;
        const void *code =
            dwconv_f32_planes_row_codes.taps[range.begin / PLANES_ROW_GROUP][range.end - 1];
        if (step == tile->steps) {
            tile->column = column;
            tile->tap = tap;
        }
        if (step->code != code)
            *++step = (struct dwconv_f32_planes_row_step){.code = code};
        step->taps++;
    }
    return step + 1;
}

static void make_tile(struct tile *tile, const struct dwconv_f32_task *task, size_t x,
                      size_t vectors)
{
    size_t width = vectors * LANES, all = task->out_cols;
    *tile = (struct tile){.x = all >= width ? smaller(x, all - width) : 0};
    tile->last = smaller(all - tile->x, width) - (width - LANES);
    tile->steps[0].code = dwconv_f32_planes_row_codes.begin[vectors - 1];
    add_taps(tile, task, vectors)->code = dwconv_f32_planes_row_codes.store[vectors - 1];
    ptrdiff_t begin = task->first + (ptrdiff_t)tile->x;
    ptrdiff_t end = begin + (ptrdiff_t)((task->kw - 1) * task->dilation_w + width);
    tile->in_place = begin >= 0 && end <= (ptrdiff_t)task->columns;
}

/* As equal as they can be. */
static void make_tiles(struct parts *parts, const struct dwconv_f32_task *task)
{
    size_t vectors = (task->out_cols + LANES - 1) / LANES, done = 0;
    for (size_t i = 0; i < parts->count; i++) {
        size_t end = vectors * (i + 1) / parts->count;
        make_tile(&parts->tiles[i], task, done * LANES, end - done);
        done = end;
    }
}

/* ---- copies ---- */

/* The columns that tiles at the ends read; padding behind the image's is read by one vector. */
static void plan_copy(struct parts *parts, const struct dwconv_f32_task *task)
{
    ptrdiff_t columns = (ptrdiff_t)task->columns, begin = columns, end = 0;
    ptrdiff_t reach = (ptrdiff_t)((task->kw - 1) * task->dilation_w);
    for (size_t i = 0; i < parts->count; i++) {
        const struct tile *tile = &parts->tiles[i];
        ptrdiff_t from = task->first + (ptrdiff_t)tile->x;
        ptrdiff_t to = from + reach + PLANES_ROW_VECTORS * LANES;
        if (tile->in_place)
            continue;
        begin = from < begin ? from : begin;
        end = to > end ? to : end;
    }
    parts->begin = begin > 0 ? (size_t)begin : 0;
    parts->end = smaller((size_t)end, task->columns);
    memset(parts->copy - MARGIN, 0, MARGIN * sizeof(float));
    memset(parts->copy + columns, 0, LANES * sizeof(float));
}

static void copy_row(const struct parts *parts, const float *row)
{
    size_t x = parts->begin, end = parts->end;
    for (; x + LINE <= end; x += LINE)
#pragma GCC unroll 2
        for (size_t i = 0; i < LINE; i += TWO)
            vst1q_f32_x2(parts->copy + x + i, vld1q_f32_x2(row + x + i));
    for (; x + LANES <= end; x += LANES)
        vst1q_f32(parts->copy + x, vld1q_f32(row + x));
    for (; x < end; x++)
        parts->copy[x] = row[x];
}

/* ---- planes ---- */

static void run_tiles(const struct parts *parts, const float *row, float *dst,
                      struct dwconv_f32_planes_row *job)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct tile *tile = &parts->tiles[i];
        size_t src = (size_t)(uintptr_t)(tile->in_place ? row : parts->copy);
        job->src = src + (size_t)tile->column * sizeof(float);
        job->dst = dst + tile->x;
        job->weights = parts->weights + tile->tap;
        job->steps = tile->steps;
        job->last = tile->last;
        dwconv_f32_planes_row(job);
    }
}

/* Its source is `src` values from the first one's. */
static void run_plane(const struct dwconv_f32_task *task, const struct parts *parts, size_t c,
                      size_t src, struct dwconv_f32_planes_row *job)
{
    static const float none;
    const float *row = task->rows[0] + src;
    job->bias = task->bias ? task->bias + c : &none;
    for (size_t i = 0; i < task->kw; i++)
        parts->weights[i] = task->weights[i * task->weights_tap + c];
    if (parts->begin < parts->end)
        copy_row(parts, row);
    run_tiles(parts, row, task->dst + c * task->dst_plane, job);
}

static void run_row(const struct dwconv_f32_task *task, const struct parts *parts)
{
    float low = task->low, high = task->high;
    const float clamp[8] = {low, low, low, low, high, high, high, high};
    struct dwconv_f32_planes_row job = {
        .tap = task->dilation_w * sizeof(float),
        .clamp = low > -INFINITY || high < INFINITY ? clamp : NULL,
    };
    for (size_t c = 0, repeats = 0, src = 0; c < task->channels; c++, repeats++) {
        if (repeats == task->multiplier) {
            src += task->src_plane;
            repeats = 0;
        }
        run_plane(task, parts, c, src, &job);
    }
}

/* Rows of padding have no source; the scratch memory is the other kernel's then. */
static void run(const struct dwconv_f32_task *task)
{
    struct dwconv_f32_task row = *task;
    struct parts parts = find_parts(task);
    int is_ready = 0;
    row.out_rows = 1;
    for (size_t y = 0; y < task->out_rows; y++, row.rows++, row.dst += task->dst_row) {
        if (!row.rows[0]) {
            dwconv_f32_wide_neon.run(&row);
            is_ready = 0;
            continue;
        }
        if (!is_ready) {
            make_tiles(&parts, task);
            plan_copy(&parts, task);
            is_ready = 1;
        }
        run_row(&row, &parts);
    }
}

static int does(const struct dwconv_f32_task *task)
{
    return task->column == 1 && task->dst_column == 1 && task->kh == 1 && has_tiles(task) &&
           task->stride_h == 1 && task->stride_w == 1;
}

const struct dwconv_f32_kernel dwconv_f32_planes_row_neon = {
    .name = "dwconv_f32_planes_row_neon",
    .needs = CPU_NEON,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
