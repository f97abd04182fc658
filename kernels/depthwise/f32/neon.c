/* Depthwise convolution of any size, channels as vectors.
 *
 * A tile is P output pixels of V vectors of channels, at most 4 x 4: a tap loads V vectors of
 * weights once and V of each pixel, and does P V multiply-adds: 16 after 5 LD1 of four registers.
 * Pixels at the left and right edge, where some taps are padding, are done one by one. Channels
 * that are left over overlap the ones before, so that only images of fewer than four channels have
 * partial vectors. */
#include <arm_neon.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/depthwise/f32/depthwise.h"

enum { MOST_PIXELS = 8, MOST_VECTORS = 4 };

/* Vectors of one pixel; a count below 4 is part of a single vector. */
INLINE void load(float32x4_t *out, const float *from, size_t V, size_t count)
{
    if (count < 4) {
        out[0] = load_part(from, count);
    } else if (V == 4) {
        float32x4x4_t four = vld1q_f32_x4(from);
        out[0] = four.val[0], out[1] = four.val[1], out[2] = four.val[2], out[3] = four.val[3];
    } else {
        out[0] = vld1q_f32(from);
    }
}

struct place {
    size_t y, x, c, count; /* of the first pixel; channels in a vector */
    size_t kx, kx_end;     /* taps that are no padding, the same for all pixels of the tile */
};

INLINE void tile(const struct dwconv_f32_task *task, const struct place *place, size_t P, size_t V,
                 size_t count)
{
    float32x4_t acc[MOST_PIXELS][MOST_VECTORS], w[MOST_VECTORS], in[MOST_VECTORS];
#pragma GCC unroll 8
    for (size_t p = 0; p < P; p++)
#pragma GCC unroll 4
        for (size_t v = 0; v < V; v++)
            acc[p][v] =
                task->bias ? load_part(task->bias + place->c + v * 4, count) : vdupq_n_f32(0);
    size_t between = task->stride_w * task->column;
    for (size_t kx = place->kx; kx < place->kx_end; kx++) {
        ptrdiff_t at = task->first + (ptrdiff_t)(place->x * task->stride_w + kx * task->dilation_w);
        size_t offset = (size_t)at * task->column + place->c;
        const float *weights = task->weights + kx * task->weights_tap + place->c;
        const float *const *rows = task->rows + place->y * task->stride_h;
        for (size_t ky = 0; ky < task->kh; ky++) {
            const float *row = *rows;
            if (row) {
                load(w, weights, V, count);
#pragma GCC unroll 8
                for (size_t p = 0; p < P; p++) {
                    load(in, row + offset + p * between, V, count);
#pragma GCC unroll 4
                    for (size_t v = 0; v < V; v++)
                        acc[p][v] = vfmaq_f32(acc[p][v], in[v], w[v]);
                }
            }
            rows += task->dilation_h;
            weights += task->kw * task->weights_tap;
        }
    }
    float *dst = task->dst + place->y * task->dst_row + place->x * task->dst_column + place->c;
    float32x4_t low = vdupq_n_f32(task->low), high = vdupq_n_f32(task->high);
#pragma GCC unroll 8
    for (size_t p = 0; p < P; p++)
#pragma GCC unroll 4
        for (size_t v = 0; v < V; v++)
            store_part(dst + p * task->dst_column + v * 4,
                       vminq_f32(vmaxq_f32(acc[p][v], low), high), count);
}

/* The taps of output x that fall on columns that exist. */
static void clip_taps(const struct dwconv_f32_task *task, struct place *place)
{
    ptrdiff_t start = task->first + (ptrdiff_t)(place->x * task->stride_w);
    ptrdiff_t dilation = (ptrdiff_t)task->dilation_w;
    ptrdiff_t low = start < 0 ? (-start + dilation - 1) / dilation : 0;
    ptrdiff_t room = (ptrdiff_t)task->columns - start; /* taps at or beyond it do not exist */
    ptrdiff_t high = room > 0 ? (room + dilation - 1) / dilation : 0;
    ptrdiff_t kw = (ptrdiff_t)task->kw;
    place->kx = (size_t)(low < kw ? low : kw);
    place->kx_end = (size_t)(high < kw ? high : kw);
}

static int has_all_taps(const struct dwconv_f32_task *task, size_t x)
{
    ptrdiff_t start = task->first + (ptrdiff_t)(x * task->stride_w);
    size_t reach = (task->kw - 1) * task->dilation_w;
    return start >= 0 && (size_t)start + reach < task->columns;
}

/* Whole tiles of P pixels in the inner part, pixels elsewhere. */
INLINE void run_row(const struct dwconv_f32_task *task, size_t y, size_t c, size_t P, size_t V,
                    size_t count)
{
    struct place place = {.y = y, .c = c, .count = count};
    while (place.x < task->out_cols) {
        if (has_all_taps(task, place.x) && place.x + P <= task->out_cols &&
            has_all_taps(task, place.x + P - 1)) {
            place.kx = 0, place.kx_end = task->kw;
            tile(task, &place, P, V, count);
            place.x += P;
        } else {
            clip_taps(task, &place);
            tile(task, &place, 1, V, count);
            place.x++;
        }
    }
}

static void run_row_16(const struct dwconv_f32_task *task, size_t y, size_t c)
{
    run_row(task, y, c, 4, 4, 4);
}

static void run_row_4(const struct dwconv_f32_task *task, size_t y, size_t c, size_t count)
{
    if (count == 4)
        run_row(task, y, c, 8, 1, 4);
    else
        run_row(task, y, c, 1, 1, count);
}

static void run(const struct dwconv_f32_task *task)
{
    size_t channels = task->channels;
    for (size_t y = 0; y < task->out_rows; y++) {
        size_t c = 0;
        for (; c + 16 <= channels; c += 16)
            run_row_16(task, y, c);
        for (; c + 4 <= channels; c += 4)
            run_row_4(task, y, c, 4);
        if (c < channels && channels >= 4)
            run_row_4(task, y, channels - 4, 4);
        else if (c < channels)
            run_row_4(task, y, 0, channels);
    }
}

const struct dwconv_f32_kernel dwconv_f32_neon = {
    .name = "dwconv_f32_neon", .needs = CPU_NEON, .does = dwconv_f32_is_interleaved, .run = run};
