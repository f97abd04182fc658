/* Depthwise convolution of any size, channels as vectors.
 *
 * A tile is P neighbouring pixels of dst of V vectors of channels: a tap loads V vectors of weights
 * once and V of each pixel, for P V multiply-adds: 16 after 5 LD1 of four registers. Single pixels
 * have eight vectors, as what a tap costs beside its loads counts most for them. Source is read in
 * place, so that nothing is prepared for a row. A column of taps that some pixels of a tile have in
 * the padding is left out for these alone; the others still share its weights. Channels that are
 * left over overlap the ones before, so that only images of fewer than four channels have partial
 * vectors. */
#include <arm_neon.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/depthwise.h"

enum { MOST_PIXELS = 8, MOST_VECTORS = 8 };

/* Vectors of one pixel; a count below 4 is part of a single vector. */
INLINE void load(float32x4_t *out, const float *from, size_t V, size_t count)
{
    if (count < 4) {
        out[0] = load_part(from, count);
        return;
    }
#pragma GCC unroll 2
    for (size_t v = 0; v + 4 <= V; v += 4) {
        float32x4x4_t four = vld1q_f32_x4(from + v * 4);
        out[v] = four.val[0], out[v + 1] = four.val[1];
        out[v + 2] = four.val[2], out[v + 3] = four.val[3];
    }
    if (V == 1)
        out[0] = vld1q_f32(from);
}

/* The first pixel of a tile, and its first channel; channels in a vector. */
struct place {
    size_t y, x, c, count;
};

typedef float32x4_t sums[MOST_PIXELS][MOST_VECTORS];

/* One tap. `at` is the column of source that the first pixel has it on; is_whole: all pixels have
 * it on columns that exist. Columns before the first one are large numbers. */
INLINE void add_tap(const struct dwconv_f32_task *task, const float *src, size_t at,
                    const float *weights, size_t count, sums acc, size_t P, size_t V, int is_whole)
{
    float32x4_t w[MOST_VECTORS], in[MOST_VECTORS];
    size_t between = task->stride_w * task->column;
    load(w, weights, V, count);
#pragma GCC unroll 8
    for (size_t p = 0; p < P; p++)
        if (is_whole || at + p * task->stride_w < task->columns) {
            load(in, src + p * between, V, count);
#pragma GCC unroll 8
            for (size_t v = 0; v < V; v++)
                acc[p][v] = vfmaq_f32(acc[p][v], in[v], w[v]);
        }
}

/* The taps of one column of the kernel, on some rows. */
INLINE void add_column(const struct dwconv_f32_task *task, const struct place *place, size_t kx,
                       sums acc, size_t P, size_t V, int is_whole)
{
    size_t at = (size_t)task->first + place->x * task->stride_w + kx * task->dilation_w;
    size_t offset = at * task->column + place->c;
    const float *weights = task->weights + kx * task->weights_tap + place->c;
    const float *const *plane = task->rows + place->y * task->stride_h;
    for (size_t kz = 0; kz < task->kd; kz++, plane += task->rows_plane) {
        const float *const *rows = plane;
        for (size_t ky = 0; ky < task->kh; ky++, rows += task->dilation_h) {
            if (*rows)
                add_tap(task, *rows + offset, at, weights, place->count, acc, P, V, is_whole);
            weights += task->kw * task->weights_tap;
        }
    }
}

/* Some columns of a kernel that is one row: what is known of the row is so for all of them. */
INLINE void add_row(const struct dwconv_f32_task *task, const struct place *place, size_t kx,
                    size_t end, sums acc, size_t P, size_t V)
{
    const float *row = task->rows[place->y * task->stride_h];
    size_t at = (size_t)task->first + place->x * task->stride_w + kx * task->dilation_w;
    const float *weights = task->weights + kx * task->weights_tap + place->c;
    size_t step = task->dilation_w * task->column;
    if (!row)
        return;
    row += at * task->column + place->c;
    for (; kx < end; kx++, row += step, weights += task->weights_tap)
        add_tap(task, row, at, weights, place->count, acc, P, V, 1);
}

/* Columns that all pixels have are mostly the last ones of the kernel, too. */
INLINE void add_taps(const struct dwconv_f32_task *task, const struct place *place, sums acc,
                     size_t P, size_t V)
{
    size_t at = (size_t)task->first + place->x * task->stride_w, far = (P - 1) * task->stride_w;
    int is_row = task->kd * task->kh == 1;
    for (size_t kx = 0; kx < task->kw; kx++, at += task->dilation_w) {
        int is_whole = at < task->columns && at + far < task->columns;
        size_t last = at + far + (task->kw - 1 - kx) * task->dilation_w;
        if (is_row && is_whole && last < task->columns) {
            add_row(task, place, kx, task->kw, acc, P, V);
            break;
        }
        if (is_whole)
            add_column(task, place, kx, acc, P, V, 1);
        else if (P > 1)
            add_column(task, place, kx, acc, P, V, 0);
    }
}

INLINE void tile(const struct dwconv_f32_task *task, const struct place *place, size_t P, size_t V)
{
    sums acc;
#pragma GCC unroll 8
    for (size_t v = 0; v < V; v++) {
        const float *bias = task->bias + place->c + v * 4;
        acc[0][v] = task->bias ? load_part(bias, place->count) : vdupq_n_f32(0);
#pragma GCC unroll 8
        for (size_t p = 1; p < P; p++)
            acc[p][v] = acc[0][v];
    }
    add_taps(task, place, acc, P, V);
    float *dst = task->dst + place->y * task->dst_row + place->x * task->dst_column + place->c;
    float32x4_t low = vdupq_n_f32(task->low), high = vdupq_n_f32(task->high);
#pragma GCC unroll 8
    for (size_t p = 0; p < P; p++)
#pragma GCC unroll 8
        for (size_t v = 0; v < V; v++)
            store_part(dst + p * task->dst_column + v * 4,
                       vminq_f32(vmaxq_f32(acc[p][v], low), high), place->count);
}

/* ---- rows: tiles of as many pixels as are left, of which rows have about as many each ---- */

static void row_of_16(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    struct place place = {.y = y, .c = c, .count = 4};
    for (size_t left = task->out_cols, P; left > 0; left -= P, place.x += P) {
        P = left == 5 || left == 6 ? 3 : left < 4 ? left : 4;
        if (P == 4)
            tile(task, &place, 4, 4);
        else if (P == 3)
            tile(task, &place, 3, 4);
        else if (P == 2)
            tile(task, &place, 2, 4);
        else
            tile(task, &place, 1, 4);
    }
}

static void row_of_4(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    struct place place = {.y = y, .c = c, .count = 4};
    for (size_t left = task->out_cols, P; left > 0; left -= P, place.x += P) {
        P = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        if (P == 8)
            tile(task, &place, 8, 1);
        else if (P == 4)
            tile(task, &place, 4, 1);
        else if (P == 2)
            tile(task, &place, 2, 1);
        else
            tile(task, &place, 1, 1);
    }
}

static void row_of_part(const struct dwconv_f32_task *task, size_t y, size_t count)
{
    struct place place = {.y = y, .count = count};
    for (; place.x < task->out_cols; place.x++)
        tile(task, &place, 1, 1);
}

static size_t pixel_of_32s(const struct dwconv_f32_task *task, size_t y)
{
    struct place place = {.y = y, .count = 4};
    for (; place.c + 32 <= task->channels; place.c += 32)
        tile(task, &place, 1, 8);
    return place.c;
}

static void run(const struct dwconv_f32_task *task)
{
    size_t channels = task->channels;
    for (size_t y = 0; y < task->out_rows; y++) {
        size_t c = task->out_cols == 1 ? pixel_of_32s(task, y) : 0;
        for (; c + 16 <= channels; c += 16)
            row_of_16(task, y, c);
        for (; c + 4 <= channels; c += 4)
            row_of_4(task, y, c);
        if (c < channels && channels >= 4)
            row_of_4(task, y, channels - 4);
        else if (c < channels)
            row_of_part(task, y, channels);
    }
}

const struct dwconv_f32_kernel dwconv_f32_neon = {.name = "dwconv_f32_neon",
                                                  .needs = CPU_NEON,
                                                  .is_deep = 1,
                                                  .does = dwconv_f32_is_interleaved,
                                                  .run = run};
