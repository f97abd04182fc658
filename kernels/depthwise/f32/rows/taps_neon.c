/* Depthwise convolution with rows of many taps, channels as vectors, stride 1 or 2, for cores that
 * issue in order: tiles for the assembly of kernels/depthwise/f32/rows/taps_in_order_neon.S.
 *
 * Long rows are done by strips, so that four channels of a strip's source stay in the L1 cache. */
#include <arm_neon.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/parts_neon.h"
#include "kernels/depthwise/f32/rows/taps.h"
#include "kernels/depthwise/f32/rows/taps_offsets.h"

enum {
    LANES = 4,
    VECTOR = sizeof(float32x4_t),
    LEAST_TAPS = 6,
    LEAST_OUTPUTS = 8, /* of a tile */
    STRIP = 480,       /* outputs, at most */
    MOST_REACH = 1024, /* columns from the first tap of an output to its last */
    BEFORE = TAPS_MOST_ROUND,
    AFTER = 2 * TAPS_MOST_ROUND,
};

/* ---- memory ---- */

/* Strips that an image, or a part of one, has are not longer. */
static size_t most_columns(const struct dwconv_f32_task *task)
{
    size_t outputs = smaller(task->out_cols, STRIP);
    size_t stride = parts_stride(task->stride_w, task->dilation_w);
    return smaller(task->columns, (outputs - 1) * stride + task->kw);
}

struct memory {
    struct dwconv_f32_taps_tile *tiles;
    float *src, *weights; /* src: column 0, behind the zeros */
};

static size_t tiles_bytes(void)
{
    return in_lines((STRIP / LEAST_OUTPUTS + 2) * sizeof(struct dwconv_f32_taps_tile));
}

static size_t weights_bytes(const struct dwconv_f32_task *task)
{
    return in_lines((task->kw + TAPS_MOST_ROUND) * VECTOR);
}

static size_t scratch_bytes(const struct dwconv_f32_task *task)
{
    return tiles_bytes() + weights_bytes(task) +
           in_lines((BEFORE + most_columns(task) + AFTER) * VECTOR);
}

static struct memory divide_memory(const struct dwconv_f32_task *task)
{
    unsigned char *at = task->scratch;
    struct memory memory = {.tiles = (struct dwconv_f32_taps_tile *)(void *)at};
    at += tiles_bytes();
    memory.weights = (float *)(void *)at;
    at += weights_bytes(task);
    memory.src = (float *)(void *)at + BEFORE * LANES;
    return memory;
}

/* ---- tiles ---- */

/* Tiles of `size` outputs, from entry number `entries` on. */
struct tiles {
    size_t size, count, entries;
};

/* Tiles of 12 and then of 8 outputs; the last one overlaps the one before, least if the sum of both
 * is. More of 12 have fewer loads. */
static void choose_tiles(struct tiles tiles[2], size_t outputs, size_t stride)
{
    size_t large = stride == 1 ? outputs / 12 : 0, least = SIZE_MAX;
    tiles[0] = (struct tiles){12, 0, TAPS_12};
    tiles[1] = (struct tiles){8, 0, stride == 1 ? TAPS_8 : TAPS_8_STRIDE_2};
    if (large && outputs % 12 > 8)
        large++;
    for (size_t count = large + 1; count-- > 0 && count + 2 >= large;) {
        size_t left = outputs > 12 * count ? outputs - 12 * count : 0;
        size_t others = (left + 7) / 8, all = 12 * count + 8 * others;
        if (all >= least)
            continue;
        least = all;
        tiles[0].count = count;
        tiles[1].count = others;
    }
}

/* The tile whose first tap is at column `start` of those that are copied. */
static struct dwconv_f32_taps_tile plan_tile(const struct dwconv_f32_task *task,
                                             const struct memory *memory, const struct tiles *tiles,
                                             ptrdiff_t start)
{
    ptrdiff_t kw = (ptrdiff_t)task->kw, columns = (ptrdiff_t)task->columns;
    ptrdiff_t last = start + (ptrdiff_t)((tiles->size - 1) * task->stride_w);
    ptrdiff_t begin = last < 0 ? -last : 0;
    ptrdiff_t end = columns - start < kw ? columns - start : kw;
    size_t taps = end > begin ? (size_t)(end - begin) : 0;
    return (struct dwconv_f32_taps_tile){
        .entry = dwconv_f32_taps_in_order_entries[tiles->entries + !taps],
        .taps = taps,
        .src = (uintptr_t)memory->src + (uintptr_t)((start + begin) * VECTOR),
        .weights = (uintptr_t)memory->weights + (uintptr_t)(begin * VECTOR),
    };
}

static void list_tiles(const struct dwconv_f32_task *task, const struct memory *memory)
{
    struct dwconv_f32_taps_tile *tile = memory->tiles;
    struct tiles tiles[2];
    size_t x = 0;
    choose_tiles(tiles, task->out_cols, task->stride_w);
    for (size_t i = 0; i < 2; i++)
        for (size_t count = tiles[i].count; count; count--, x += tiles[i].size, tile++) {
            size_t at = smaller(x, task->out_cols - tiles[i].size);
            ptrdiff_t start = task->first + (ptrdiff_t)(at * task->stride_w);
            *tile = plan_tile(task, memory, &tiles[i], start);
            tile->dst = at * task->dst_column * sizeof(float);
        }
    *tile = (struct dwconv_f32_taps_tile){.entry = dwconv_f32_taps_in_order_entries[TAPS_END]};
}

/* ---- a call ---- */

/* Vectors that are `step` values from each other. */
static void gather(float *to, const float *from, size_t count, size_t step)
{
    for (; count >= 4; count -= 4, to += 4 * LANES, from += 4 * step)
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            vst1q_f32(to + i * LANES, vld1q_f32(from + i * step));
    for (; count; count--, to += LANES, from += step)
        vst1q_f32(to, vld1q_f32(from));
}

static void run_channels(const struct dwconv_f32_task *task, const struct memory *memory,
                         const float *clamp, size_t c)
{
    static const float none[LANES];
    gather(memory->weights, task->weights + c, task->kw, task->weights_tap);
    for (size_t y = 0; y < task->out_rows; y++) {
        gather(memory->src, task->rows[y * task->stride_h] + c, task->columns, task->column);
        dwconv_f32_taps_in_order(&(struct dwconv_f32_taps){
            .tiles = memory->tiles,
            .dst = task->dst + y * task->dst_row + c,
            .dst_column = task->dst_column * sizeof(float),
            .bias = task->bias ? task->bias + c : none,
            .clamp = clamp,
        });
    }
}

/* task: its columns and rows are those that its taps are on. */
static void run_strip(const struct dwconv_f32_task *task, const struct memory *memory)
{
    float limits[2 * LANES];
    const float *clamp = dwconv_f32_limits(task, limits);
    memset(memory->src - BEFORE * LANES, 0, BEFORE * VECTOR);
    memset(memory->src + task->columns * LANES, 0, AFTER * VECTOR);
    list_tiles(task, memory);
    for (size_t c = 0; c < task->channels; c += LANES)
        run_channels(task, memory, clamp, smaller(c, task->channels - LANES));
}

static size_t column_of(const struct dwconv_f32_task *task, ptrdiff_t at)
{
    return at < 0 ? 0 : smaller((size_t)at, task->columns);
}

/* Outputs from x on; rows: the task's. */
static void run_outputs(const struct dwconv_f32_task *task, const float **rows, size_t x,
                        size_t outputs)
{
    struct memory memory = divide_memory(task);
    struct dwconv_f32_task strip = *task;
    ptrdiff_t first = task->first + (ptrdiff_t)(x * task->stride_w);
    ptrdiff_t last = first + (ptrdiff_t)((outputs - 1) * task->stride_w + task->kw);
    size_t begin = column_of(task, first), end = column_of(task, last);
    const float *of_strip[PARTS_ROWS];
    for (size_t y = 0; y < task->out_rows; y++)
        of_strip[y * task->stride_h] = rows[y * task->stride_h] + begin * task->column;
    strip.rows = of_strip;
    strip.columns = end - begin;
    strip.first = first - (ptrdiff_t)begin;
    strip.out_cols = outputs;
    strip.dst += x * task->dst_column;
    run_strip(&strip, &memory);
}

static void run_dense(struct dwconv_f32_task *task, const float **rows)
{
    size_t strips = (task->out_cols + STRIP - 1) / STRIP;
    size_t outputs = (task->out_cols + strips - 1) / strips;
    int is_whole = task->out_cols >= LEAST_OUTPUTS && task->channels >= LANES;
    for (size_t y = 0; y < task->out_rows; y++)
        is_whole = is_whole && rows[y * task->stride_h];
    if (!is_whole) {
        dwconv_f32_neon.run(task);
        return;
    }
    for (size_t x = 0; x < task->out_cols; x += outputs)
        run_outputs(task, rows, smaller(x, task->out_cols - outputs), outputs);
}

static void run(const struct dwconv_f32_task *task)
{
    parts_run(task, run_dense);
}

static int does(const struct dwconv_f32_task *task)
{
    return dwconv_f32_is_interleaved(task) && task->channels >= LANES && task->kd == 1 &&
           task->kh == 1 && task->kw >= LEAST_TAPS && task->kw <= MOST_REACH &&
           parts_stride(task->stride_w, task->dilation_w) <= 2 &&
           parts_stride(task->stride_h, task->dilation_h) <= PARTS_STRIDE;
}

const struct dwconv_f32_kernel dwconv_f32_taps_a55_neon = {
    .name = "dwconv_f32_taps_a55_neon",
    .needs = CPU_NEON,
    .kind = IN_ORDER_NARROW,
    .does = does,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
