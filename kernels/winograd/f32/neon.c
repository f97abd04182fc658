/* Winograd's transforms, four channels at a time.
 *
 * Vectors are channels on both sides: the products take four values of k of a row together. */
#include <arm_neon.h>
#include <math.h>

#include "kernels/asm/sizes.h"
#include "kernels/asm/vector_neon.h"
#include "kernels/winograd/f32/transforms_neon.h"
#include "kernels/winograd/f32/winograd.h"
#include "kernels/winograd/f32/winograd_offsets.h"

enum { MOST = WINOGRAD_F32_POINTS };

/* ---- inputs ---- */

/* Four channels of a tile after the first pass: [row][column]. */
typedef float32x4_t half[MOST][MOST];

INLINE void forward_rows(const struct winograd_f32_input *task, ptrdiff_t c, half values, size_t n,
                         int standard)
{
    const float *const *pixels = task->pixels;
    for (size_t x = 0; x < task->cols.n; x++, pixels += n) {
        float32x4_t in[MOST], out[MOST];
#pragma GCC unroll 8
        for (size_t y = 0; y < n; y++)
            in[y] = vld1q_f32(pixels[y] + c);
        forward(&task->rows, n, standard, out, in);
#pragma GCC unroll 8
        for (size_t y = 0; y < n; y++)
            values[y][x] = out[y];
    }
}

/* A row of the second pass. offset: if all targets have the same step. */
INLINE void forward_row(const struct winograd_f32_matrix *cols, const float32x4_t *in,
                        float *const *targets, const size_t *steps, size_t group, size_t offset,
                        size_t n, int standard, int same_step)
{
    float32x4_t out[MOST];
    float *to[MOST];
#pragma GCC unroll 8
    for (size_t x = 0; x < n; x++)
        to[x] = targets[x] + (same_step ? offset : group * steps[x]);
    forward(cols, n, standard, out, in);
#pragma GCC unroll 8
    for (size_t x = 0; x < n; x++)
        vst1q_f32(to[x], out[x]);
}

/* A tile of one row has no first pass. */
INLINE void forward_cols(const struct winograd_f32_input *task, ptrdiff_t c, size_t group,
                         half values, size_t n, int standard, int same_step)
{
    float *const *targets = task->targets;
    const size_t *steps = task->steps;
    size_t offset = group * task->step + task->shift, rows = task->rows.n;
    float32x4_t in[MOST];
    if (rows == 1) {
#pragma GCC unroll 8
        for (size_t x = 0; x < n; x++)
            in[x] = vld1q_f32(task->pixels[x] + c);
        forward_row(&task->cols, in, targets, steps, group, offset, n, standard, same_step);
        return;
    }
    for (size_t y = 0; y < rows; y++, targets += n, steps += same_step ? 0 : n) {
#pragma GCC unroll 8
        for (size_t x = 0; x < n; x++)
            in[x] = values[y][x];
        forward_row(&task->cols, in, targets, steps, group, offset, n, standard, same_step);
    }
}

INLINE void rows_of(const struct winograd_f32_input *task, ptrdiff_t c, half values, size_t n)
{
    if (task->rows.standard)
        forward_rows(task, c, values, n, 1);
    else
        forward_rows(task, c, values, n, 0);
}

INLINE void cols_of(const struct winograd_f32_input *task, ptrdiff_t c, size_t group, half values,
                    size_t n)
{
    if (!task->cols.standard)
        forward_cols(task, c, group, values, n, 0, !task->steps);
    else if (task->steps)
        forward_cols(task, c, group, values, n, 1, 0);
    else
        forward_cols(task, c, group, values, n, 1, 1);
}

#define CASE(size, pass) \
    case size:           \
        pass;            \
        break;

static void input(const struct winograd_f32_input *task)
{
    half values;
    ptrdiff_t c = task->from;
    for (size_t g = 0; g < task->groups; g++, c += (ptrdiff_t)task->from_group) {
        size_t group = task->first + g;
        switch (task->rows.n) {
            CASE(8, forward_rows(task, c, values, 8, 1))
            CASE(6, rows_of(task, c, values, 6))
            CASE(5, forward_rows(task, c, values, 5, 0))
            CASE(4, rows_of(task, c, values, 4))
        }
        switch (task->cols.n) {
            CASE(8, cols_of(task, c, group, values, 8))
            CASE(6, cols_of(task, c, group, values, 6))
            CASE(5, cols_of(task, c, group, values, 5))
            CASE(4, cols_of(task, c, group, values, 4))
        default:
            cols_of(task, c, group, values, 1);
        }
    }
}

/* ---- outputs ---- */

INLINE void backward_rows(const struct winograd_f32_output *task, size_t c, half values, size_t n,
                          size_t m)
{
    const uint32_t *offsets = task->offsets;
    const float *sums = task->sums + c;
    for (size_t v = 0; v < task->cols.n; v++, offsets += n) {
        float32x4_t in[MOST], out[MOST];
#pragma GCC unroll 8
        for (size_t u = 0; u < n; u++)
            in[u] = vld1q_f32(at_byte(sums, offsets[u]));
        backward(n, m, out, in);
#pragma GCC unroll 6
        for (size_t y = 0; y < m; y++)
            values[y][v] = out[y];
    }
}

/* For four channels, or `count` if that is less. */
struct finish {
    float32x4_t bias, low, high;
    size_t count;
    int clamps;
};

INLINE void store_row(const struct winograd_f32_output *task, const struct finish *finish,
                      float *dst, const float32x4_t *values, size_t m)
{
    size_t column = task->dst_column, width = task->width;
    if (finish->count == 4 && width == m) {
#pragma GCC unroll 6
        for (size_t x = 0; x < m; x++, dst += column)
            vst1q_f32(dst, values[x]);
    } else {
        for (size_t x = 0; x < width; x++, dst += column)
            store_part(dst, values[x], finish->count);
    }
}

/* The same where pixels are neighbours, and channels are not: m <= 6 pixels of four channels. */
INLINE void store_planes(const struct winograd_f32_output *task, const struct finish *finish,
                         float *dst, const float32x4_t *values, size_t m)
{
    size_t channel = task->dst_channel, width = task->width;
    float32x4_t turned[8];
#pragma GCC unroll 8
    for (size_t x = 0; x < 8; x++)
        turned[x] = values[x < m ? x : 0];
    transpose_4x4(turned);
    if (m > 4)
        transpose_4x4(turned + 4);
    if (finish->count == 4 && width == m) {
#pragma GCC unroll 4
        for (size_t c = 0; c < 4; c++, dst += channel) {
            store_part(dst, turned[c], m);
            store_part(dst + 4, turned[4 + c], left(m, 4));
        }
    } else {
        for (size_t c = 0; c < finish->count; c++, dst += channel) {
            store_part(dst, turned[c], width);
            store_part(dst + 4, turned[4 + c], left(width, 4));
        }
    }
}

/* A row of the second pass. Bias is added to the value of point 1, which every result has once. */
INLINE void backward_row(const struct winograd_f32_output *task, float *dst, float32x4_t *in,
                         size_t n, size_t m, const struct finish *finish, int planes)
{
    float32x4_t out[MOST];
    size_t every = n == 1 ? 0 : 2;
    in[every] = vaddq_f32(in[every], finish->bias);
    backward(n, m, out, in);
    if (finish->clamps) {
#pragma GCC unroll 6
        for (size_t x = 0; x < m; x++)
            out[x] = vminq_f32(vmaxq_f32(out[x], finish->low), finish->high);
    }
    if (planes)
        store_planes(task, finish, dst, out, m);
    else
        store_row(task, finish, dst, out, m);
}

/* A tile of one row has no first pass. */
INLINE void backward_cols(const struct winograd_f32_output *task, size_t c, half values, size_t n,
                          size_t m, const struct finish *finish, int planes)
{
    float *dst = task->dst + c * task->dst_channel;
    float32x4_t in[MOST];
    if (task->rows.n == 1) {
#pragma GCC unroll 8
        for (size_t v = 0; v < n; v++)
            in[v] = vld1q_f32(at_byte(task->sums + c, task->offsets[v]));
        backward_row(task, dst, in, n, m, finish, planes);
        return;
    }
    size_t height = task->height, dst_row = task->dst_row;
    for (size_t y = 0; y < height; y++, dst += dst_row) {
#pragma GCC unroll 8
        for (size_t v = 0; v < n; v++)
            in[v] = values[y][v];
        backward_row(task, dst, in, n, m, finish, planes);
    }
}

INLINE void second_pass(const struct winograd_f32_output *task, size_t c, half values, size_t n,
                        size_t m, const struct finish *finish)
{
    if (task->dst_channel == 1)
        backward_cols(task, c, values, n, m, finish, 0);
    else
        backward_cols(task, c, values, n, m, finish, 1);
}

/* A dimension of a tile: three taps have two points more than results, five four, seven six. */
#define TILE(n, m) ((n) * (MOST + 1) + (m))
#define TILES(PASS) PASS(8, 6) PASS(8, 4) PASS(8, 2) PASS(6, 4) PASS(6, 2) PASS(5, 3) PASS(4, 2)
#define FIRST_PASS(n, m) CASE(TILE(n, m), backward_rows(task, c, values, n, m))
#define SECOND_PASS(n, m) CASE(TILE(n, m), second_pass(task, c, values, n, m, &finish))

INLINE size_t points_and_results(const struct winograd_f32_matrix *matrix)
{
    return TILE(matrix->n, matrix->m);
}

static void output(const struct winograd_f32_output *task)
{
    half values;
    struct finish finish = {.low = vdupq_n_f32(task->low),
                            .high = vdupq_n_f32(task->high),
                            .clamps = task->low > -INFINITY || task->high < INFINITY};
    for (size_t c = 0; c < task->channels; c += 4) {
        finish.count = smaller(task->channels - c, 4);
        finish.bias = task->bias ? load_part(task->bias + c, finish.count) : vdupq_n_f32(0);
        switch (points_and_results(&task->rows)) {
            TILES(FIRST_PASS)
        }
        switch (points_and_results(&task->cols)) {
            TILES(SECOND_PASS)
        default:
            second_pass(task, c, values, 1, 1, &finish);
        }
    }
}

#undef SECOND_PASS
#undef FIRST_PASS
#undef TILES
#undef TILE
#undef CASE

#define PRODUCTS(width, kind) winograd_f32_products_##width##kind##_neon
#define WIDTHS(kind) PRODUCTS(4, kind), PRODUCTS(8, kind), PRODUCTS(12, kind)
winograd_f32_products_fn WIDTHS(), WIDTHS(_a55), WIDTHS(_deep), PRODUCTS(12, _fetching),
    PRODUCTS(12, _deep_fetching);

/* All transform in the same way. */
#define KERNEL(kind, ...)                                          \
    const struct winograd_f32_kernel winograd_f32##kind##_neon = { \
        .name = "winograd_f32" #kind "_neon",                      \
        .needs = CPU_NEON,                                         \
        .gather = winograd_f32_gather_neon,                        \
        .input = input,                                            \
        .products = {WIDTHS(kind)},                                \
        .output = output,                                          \
        __VA_ARGS__,                                               \
    }
KERNEL(, .fetch = PRODUCTS(12, _fetching), .same = 4);
KERNEL(_deep, .fetch = PRODUCTS(12, _deep_fetching), .sums = 16, .same = 5);
KERNEL(_a55, .in_order = IN_ORDER_NARROW, .same = 4);
#undef KERNEL
#undef WIDTHS
#undef PRODUCTS
