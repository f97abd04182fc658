/* Depthwise convolution with kernels of one row, channels as vectors, stride 1 or 2: tiles for the
 * assembly of kernels/depthwise/f32/rows/row_tiles_neon.S.
 *
 * Source is read in place. Only for tiles that reach into the padding it is copied between zeros,
 * without the taps that all outputs of the tile have there. */
#include <arm_neon.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/parts_neon.h"
#include "kernels/depthwise/f32/rows/row.h"
#include "kernels/depthwise/f32/rows/row_offsets.h"

enum {
    LANES = 4,
    LINE = 16,             /* channels of a line of the cache */
    MOST_CHANNELS = 128,   /* of a call of the assembly */
    MOST_TILES = 32,       /* of a call */
    MOST_TAPS = 256,       /* of which copies are not much larger than a cache */
    COPY_BYTES = 24 << 10, /* of source, for tiles of a call; or as many as one tile needs */
    LEAST_COLUMNS = 40,    /* of dst, next to each other but for the dilation */
    LEAST_WIDTH = 4,       /* of tiles */
    RAGGED_CHANNELS = 32   /* pixels of fewer are done better as lines of values */
};
static const size_t widths[ROW_CODES] = {16, 8, LEAST_WIDTH, 16};

/* Columns of source for a tile of so many columns of dst. */
static size_t span_of(const struct dwconv_f32_task *task, size_t width, size_t taps)
{
    return (width - 1) * task->stride_w + taps;
}

/* ---- a call of the assembly ---- */

/* Copies of some columns of source. */
struct columns {
    ptrdiff_t begin, end;
    const float *values;
};

/* Some channels of a row: a multiple of four. */
struct call {
    const struct dwconv_f32_task *task; /* dense */
    const float *row;
    float *dst;
    size_t c, channels;
    struct dwconv_f32_row_tile tiles[MOST_TILES];
    struct dwconv_f32_row job;
    size_t count;        /* of tiles */
    struct columns copy; /* the last one */
    size_t copied;       /* values in the scratch memory, of which it has `room` */
    size_t room;
};

static void flush(struct call *call)
{
    call->job.tiles_end = call->tiles + call->count;
    if (call->count)
        dwconv_f32_row(&call->job);
    call->count = call->copied = 0;
    call->copy = (struct columns){0};
}

static float *copy_column(float *to, const float *values, size_t channels)
{
    for (; channels >= LINE; channels -= LINE, to += LINE, values += LINE)
#pragma GCC unroll 4
        for (size_t i = 0; i < LINE; i += LANES)
            vst1q_f32(to + i, vld1q_f32(values + i));
    for (; channels; channels -= LANES, to += LANES, values += LANES)
        vst1q_f32(to, vld1q_f32(values));
    return to;
}

/* Some may be padding. */
static void copy_columns(struct call *call, ptrdiff_t begin, ptrdiff_t end)
{
    const struct dwconv_f32_task *task = call->task;
    ptrdiff_t columns = (ptrdiff_t)task->columns, at = begin < 0 ? 0 : begin;
    size_t channels = call->channels, count = (size_t)(end - begin) * channels;
    if (call->copied + count > call->room)
        flush(call);
    float *to = (float *)task->scratch + call->copied, *to_end = to + count;
    call->copied += count;
    call->copy = (struct columns){begin, end, to};
    if (begin < 0) {
        size_t zeros = (size_t)((end < 0 ? end : 0) - begin) * channels;
        memset(to, 0, zeros * sizeof *to);
        to += zeros;
    }
    for (; at < end && at < columns; at++)
        to = copy_column(to, call->row + (size_t)at * task->column + call->c, channels);
    memset(to, 0, (size_t)(to_end - to) * sizeof *to);
}

/* Many taps take so long that few tiles matter more than few copies; and with stride 2 there are no
 * other tiles. */
static int prefers_wide_tiles(const struct dwconv_f32_task *task)
{
    return task->kw > ROW_TOGETHER || task->stride_w > 1;
}

/* Outputs from x on that reach into the padding to their left. */
static size_t count_left(const struct dwconv_f32_task *task, size_t x)
{
    ptrdiff_t first = task->first + (ptrdiff_t)(x * task->stride_w);
    return first < 0 ? ((size_t)-first + task->stride_w - 1) >> (task->stride_w - 1) : 0;
}

/* Where the columns end that tiles from output x on have to copy. */
static ptrdiff_t edge_end(const struct dwconv_f32_task *task, size_t x)
{
    size_t width = prefers_wide_tiles(task) ? widths[0] : LEAST_WIDTH;
    size_t left = task->out_cols - x, count = count_left(task, x);
    if (count)
        left = smaller(left, (count + width - 1) / width * width);
    return task->first + (ptrdiff_t)((x + left - 1) * task->stride_w + task->kw);
}

/* Columns begin to end, with those up to `edge` if there is room for them. */
static const float *find_copy(struct call *call, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t edge)
{
    const struct columns *copy = &call->copy;
    if (begin < copy->begin || end > copy->end) {
        int has_room = edge > end && (size_t)(edge - begin) * call->channels <= call->room;
        copy_columns(call, begin, has_room ? edge : end);
    }
    return copy->values + (size_t)(begin - copy->begin) * call->channels;
}

/* Taps at either end that are padding for each of its outputs are left out. */
static void add_tile(struct call *call, size_t x, size_t index)
{
    const struct dwconv_f32_task *task = call->task;
    ptrdiff_t columns = (ptrdiff_t)task->columns, kw = (ptrdiff_t)task->kw;
    ptrdiff_t first = task->first + (ptrdiff_t)(x * task->stride_w);
    ptrdiff_t last = first + (ptrdiff_t)((widths[index] - 1) * task->stride_w);
    ptrdiff_t begin = last < 0 ? -last : 0, end = first + kw > columns ? columns - first : kw;
    int is_padding = begin >= end; /* one tap remains */
    size_t taps = is_padding ? 1 : (size_t)(end - begin), column = task->column;
    size_t span = span_of(task, widths[index], taps);
    size_t block = index == ROW_STRIDE_2 ? ROW_TOGETHER_STRIDE_2 : ROW_TOGETHER;
    ptrdiff_t from = is_padding ? columns : first + begin;
    const float *src;
    if (call->count == MOST_TILES)
        flush(call);
    if (from < 0 || from + (ptrdiff_t)span > columns) {
        src = find_copy(call, from, from + (ptrdiff_t)span, edge_end(task, x));
        column = call->channels;
    } else {
        src = call->row + (size_t)from * column + call->c;
    }
    const struct dwconv_f32_row_code *code = &dwconv_f32_row_codes[index];
    call->tiles[call->count++] = (struct dwconv_f32_row_tile){
        .src = src,
        .column = column * sizeof(float),
        .dst = call->dst + x * task->dst_column + call->c,
        .weights = task->weights + (is_padding ? 0 : (size_t)begin * task->weights_tap) + call->c,
        .blocks = (taps - 1) / block,
        .last = code->last[(taps - 1) % block],
        .body = code->body,
    };
}

/* ---- tiles of a row ---- */

/* From output x on: as many columns as reach into the padding, or as do not, so that few are
 * copied. What is rounded up overlaps the tile before. */
static size_t columns_alike(const struct dwconv_f32_task *task, size_t x)
{
    ptrdiff_t first = task->first + (ptrdiff_t)x; /* stride 1, if it is looked at */
    ptrdiff_t room = (ptrdiff_t)task->columns - (ptrdiff_t)task->kw - first;
    size_t left = task->out_cols - x, count = left;
    if (prefers_wide_tiles(task))
        return left > widths[1] ? widths[0] : left > LEAST_WIDTH ? widths[1] : LEAST_WIDTH;
    if (first < 0)
        count = smaller(left, count_left(task, x));
    else if (room >= 0 && (size_t)room + 1 < left)
        count = ((size_t)room + 1) / LEAST_WIDTH * LEAST_WIDTH;
    return count ? (count + LEAST_WIDTH - 1) / LEAST_WIDTH * LEAST_WIDTH : left;
}

/* Of tiles that are no wider, or of the narrowest, which overlap what is before. */
static size_t find_width(const struct dwconv_f32_task *task, size_t columns)
{
    size_t index = 0;
    if (task->stride_w > 1)
        return ROW_STRIDE_2;
    while (index < ROW_WIDTHS - 1 && widths[index] > columns)
        index++;
    return index;
}

static void run_columns(struct call *call)
{
    const struct dwconv_f32_task *task = call->task;
    for (size_t x = 0; x < task->out_cols;) {
        size_t index = find_width(task, smaller(columns_alike(task, x), task->out_cols));
        x = smaller(x, task->out_cols - widths[index]);
        add_tile(call, x, index);
        x += widths[index];
    }
    flush(call);
}

/* ---- channels ---- */

/* The most that copies for the tiles at one edge have room for. */
static size_t choose_channels(const struct dwconv_f32_task *task)
{
    size_t values = COPY_BYTES / sizeof(float) / span_of(task, widths[0], 2 * task->kw);
    size_t most = smaller(values / LINE * LINE, MOST_CHANNELS);
    return most ? most : LINE;
}

static size_t copy_values(const struct dwconv_f32_task *task)
{
    size_t least = span_of(task, widths[0], task->kw) * LINE;
    return least > COPY_BYTES / sizeof(float) ? least : COPY_BYTES / sizeof(float);
}

static void run_channels(struct call *call, size_t c, size_t channels)
{
    float pairs[2 * (MOST_CHANNELS + LANES)];
    const float *bias = call->task->bias;
    for (size_t i = 0; i < channels; i += LANES) {
        float32x4_t value = bias ? vld1q_f32(bias + c + i) : vdupq_n_f32(0);
        vst1q_f32(pairs + 2 * i, value);
        vst1q_f32(pairs + 2 * i + LANES, value);
    }
    call->c = c;
    call->channels = channels;
    call->job.bias = pairs;
    call->job.groups = channels / LANES;
    run_columns(call);
}

/* What is left of the channels overlaps those before. */
static void run_row(struct call *call)
{
    size_t channels = call->task->channels, most = choose_channels(call->task);
    size_t whole = channels / LANES * LANES;
    for (size_t c = 0; c < whole; c += most)
        run_channels(call, c, smaller(most, whole - c));
    if (whole < channels)
        run_channels(call, channels - LANES, LANES);
}

static void run_dense(struct dwconv_f32_task *task, const float **rows)
{
    float limits[8];
    struct call call;
    call.task = task;
    call.room = copy_values(task);
    call.copy = (struct columns){0};
    call.count = call.copied = 0;
    call.job = (struct dwconv_f32_row){
        .tiles = call.tiles,
        .weights_tap = task->weights_tap * sizeof(float),
        .dst_column = task->dst_column * sizeof(float),
        .clamp = dwconv_f32_limits(task, limits),
    };
    for (size_t y = 0; y < task->out_rows; y++) {
        struct dwconv_f32_task row = *task;
        row.rows = rows + y * task->stride_h;
        row.dst += y * task->dst_row;
        row.out_rows = 1;
        call.row = row.rows[0];
        call.dst = row.dst;
        if (call.row)
            run_row(&call);
        else
            dwconv_f32_neon.run(&row);
    }
}

static void run(const struct dwconv_f32_task *task)
{
    if (task->channels < LANES) /* the last ones of an image */
        dwconv_f32_neon.run(task);
    else
        parts_run(task, run_dense);
}

static int does(const struct dwconv_f32_task *task)
{
    return dwconv_f32_is_interleaved(task) && task->kh == 1 && task->kw > 1 &&
           task->kw <= MOST_TAPS && task->out_cols / task->dilation_w >= LEAST_COLUMNS &&
           task->channels >= LANES &&
           (task->channels % LANES == 0 || task->channels > RAGGED_CHANNELS) &&
           parts_stride(task->stride_h, task->dilation_h) <= PARTS_STRIDE &&
           parts_stride(task->stride_w, task->dilation_w) <= 2;
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    struct dwconv_f32_task part = *task;
    part.stride_w = parts_stride(task->stride_w, task->dilation_w);
    return copy_values(&part) * sizeof(float);
}

const struct dwconv_f32_kernel dwconv_f32_row_neon = {
    .name = "dwconv_f32_row_neon",
    .needs = CPU_NEON,
    .does = does,
    .all_channels_from = LEAST_COLUMNS,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
