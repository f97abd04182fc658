/* Depthwise convolution of one plane of an nchw image: vectors are neighbouring columns.
 *
 * A tile is R output rows of four columns. For each tap column kx, every source row that the R
 * outputs need is loaded once and added to those it reaches: 3x3, stride 1, R = 4: 36
 * multiply-adds after 18 loads. The weight is a lane of a vector. Where taps of a tile fall beside
 * the image, the load takes the nearest four columns that exist and moves them into place by a
 * table look-up, which gives 0 for the others. */
#include <arm_neon.h>
#include <math.h>

#include "kernels/dwconv_f32.h"
#include "kernels/vector_neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { MOST_R = 4, MOST_WEIGHTS = 25, MOST_IN = 11 };

/* Where the columns of one tap are: all inside the image, or at its edge: then the nearest four
 * that exist are loaded and moved into place. Stride 2 takes eight columns. */
struct span {
    ptrdiff_t at, from[2];
    uint8x16_t place[2];
};

/* Four columns from at on; byte indices of others are more than 15, which look up as 0. */
INLINE void find_place(struct span *span, size_t which, ptrdiff_t at, size_t columns)
{
    static const uint8_t identity[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ptrdiff_t last = (ptrdiff_t)columns - 4, from = at < 0 ? 0 : at > last ? last : at;
    ptrdiff_t shift = at - from < -4 ? -4 : at - from > 4 ? 4 : at - from;
    span->from[which] = from;
    span->place[which] = vaddq_u8(vld1q_u8(identity), vdupq_n_u8((uint8_t)(shift * 4)));
}

INLINE struct span find_span(ptrdiff_t at, size_t columns, size_t S, int is_inner)
{
    struct span span = {.at = at};
    if (!is_inner) {
        find_place(&span, 0, at, columns);
        if (S == 2)
            find_place(&span, 1, at + 4, columns);
    }
    return span;
}

INLINE float32x4_t load_placed(const float *row, const struct span *span, size_t which)
{
    uint8x16_t bytes = vreinterpretq_u8_f32(vld1q_f32(row + span->from[which]));
    return vreinterpretq_f32_u8(vqtbl1q_u8(bytes, span->place[which]));
}

/* Four elements S apart. */
INLINE float32x4_t load_span(const float *row, const struct span *span, size_t S, int is_inner)
{
    if (!is_inner && S == 1)
        return load_placed(row, span, 0);
    if (!is_inner)
        return vuzp1q_f32(load_placed(row, span, 0), load_placed(row, span, 1));
    if (S == 1)
        return vld1q_f32(row + span->at);
    /* the second vector begins one element early, so as not to read the one after the last */
    float32x4_t low = vld1q_f32(row + span->at), high = vld1q_f32(row + span->at + 3);
    return vcombine_f32(vget_low_f32(vuzp1q_f32(low, low)), vget_low_f32(vuzp2q_f32(high, high)));
}

/* Any stride, and images of fewer than four columns. */
static float32x4_t load_elements(const float *row, ptrdiff_t at, size_t stride, size_t columns)
{
    float values[4] = {0};
    for (size_t i = 0; i < 4; i++, at += (ptrdiff_t)stride)
        if (at >= 0 && (size_t)at < columns)
            values[i] = row[at];
    return vld1q_f32(values);
}

/* R rows of outputs, count columns of each, from (y, x) on. */
INLINE void store(const struct dwconv_f32_task *task, float32x4_t *acc, size_t y, size_t x,
                  size_t count, size_t R)
{
    if (task->low > -INFINITY || task->high < INFINITY) {
        float32x4_t low = vdupq_n_f32(task->low), high = vdupq_n_f32(task->high);
#pragma GCC unroll 4
        for (size_t r = 0; r < R; r++)
            acc[r] = vminq_f32(vmaxq_f32(acc[r], low), high);
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++)
        store_part(task->dst + (y + r) * task->dst_row + x, acc[r], count);
}

/* All weights of a K x K kernel, four to a vector; the last vector overlaps the one before, so
 * that nothing is read beyond them. */
struct weights {
    float32x4_t lanes[MOST_WEIGHTS / 4 + 1];
};

INLINE void load_weights(struct weights *weights, const float *from, size_t count)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i += 4)
        weights->lanes[i / 4] = vld1q_f32(from + (i + 4 <= count ? i : count - 4));
}

INLINE float32x4_t add_tap(float32x4_t acc, float32x4_t in, const struct weights *weights, size_t i,
                           size_t count)
{
    size_t first = i / 4 * 4 + 4 <= count ? i / 4 * 4 : count - 4;
    return fma_lane(acc, in, weights->lanes[i / 4], i - first);
}

/* Output rows y .. y + R - 1 of a K x K kernel without dilation, both strides S, four columns from
 * x on. */
INLINE void tile(const struct dwconv_f32_task *task, const struct weights *weights,
                 const float *const *rows, size_t y, size_t x, size_t count, size_t K, size_t S,
                 size_t R, int is_inner, int padded)
{
    float32x4_t acc[MOST_R];
    ptrdiff_t at = task->first + (ptrdiff_t)(x * S);
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++)
        acc[r] = vdupq_n_f32(task->bias ? *task->bias : 0);
#pragma GCC unroll 5
    for (size_t kx = 0; kx < K; kx++, at++) {
        struct span span = find_span(at, task->columns, S, is_inner);
#pragma GCC unroll 11
        for (size_t row = 0; row < (R - 1) * S + K; row++) {
            if (padded && !rows[row])
                continue;
            float32x4_t in = load_span(rows[row], &span, S, is_inner);
#pragma GCC unroll 4
            for (size_t r = 0; r < R; r++)
                if (row >= r * S && row - r * S < K)
                    acc[r] = add_tap(acc[r], in, weights, (row - r * S) * K + kx, K * K);
        }
    }
    store(task, acc, y, x, count, R);
}

/* One output row of any kernel; S is 1, 2, or 0 for any stride and any image. */
INLINE void tile_any(const struct dwconv_f32_task *task, size_t y, size_t x, size_t count, size_t S,
                     int is_inner)
{
    float32x4_t acc = vdupq_n_f32(task->bias ? *task->bias : 0);
    ptrdiff_t at = task->first + (ptrdiff_t)(x * task->stride_w);
    for (size_t kx = 0; kx < task->kw; kx++, at += (ptrdiff_t)task->dilation_w) {
        struct span span = find_span(at, task->columns, S, is_inner || S == 0);
        const float *const *rows = task->rows + y * task->stride_h;
        for (size_t ky = 0; ky < task->kh; ky++, rows += task->dilation_h) {
            if (!*rows)
                continue;
            float32x4_t in = S ? load_span(*rows, &span, S, is_inner)
                               : load_elements(*rows, at, task->stride_w, task->columns);
            acc = vfmaq_n_f32(acc, in, task->weights[ky * task->kw + kx]);
        }
    }
    store(task, &acc, y, x, count, 1);
}

/* Output columns begin .. end - 1 have all their taps inside the image. */
struct inner {
    size_t begin, end;
};

static struct inner find_inner(const struct dwconv_f32_task *task)
{
    size_t stride = task->stride_w, reach = (task->kw - 1) * task->dilation_w;
    size_t begin = task->first < 0 ? ((size_t)-task->first + stride - 1) / stride : 0;
    ptrdiff_t room = (ptrdiff_t)task->columns - (ptrdiff_t)reach - task->first;
    size_t end = room > 0 ? ((size_t)room + stride - 1) / stride : 0;
    return (struct inner){begin, end < task->out_cols ? end : task->out_cols};
}

/* The first column of the tile after done columns: the last tile overlaps the one before, if there
 * is one. */
INLINE size_t tile_column(size_t done, size_t n)
{
    return done + 4 <= n || n < 4 ? done : n - 4;
}

INLINE void run_rows(const struct dwconv_f32_task *task, size_t y, size_t K, size_t S, size_t R,
                     int padded)
{
    size_t n = task->out_cols;
    struct inner inner = find_inner(task);
    struct weights weights;
    const float *rows[MOST_IN];
    load_weights(&weights, task->weights, K * K);
#pragma GCC unroll 11
    for (size_t row = 0; row < (R - 1) * S + K; row++)
        rows[row] = task->rows[y * S + row];
    size_t done = 0;
    while (done < n) {
        size_t x = tile_column(done, n);
        if (x < inner.begin || x + 4 > inner.end) {
            tile(task, &weights, rows, y, x, n - x, K, S, R, 0, 1);
            done += 4;
        }
        /* a loop of its own, so that pointers and weights stay in registers */
        for (; done >= inner.begin && done + 4 <= inner.end; done += 4)
            tile(task, &weights, rows, y, done, 4, K, S, R, 1, padded);
        if (done < n && done + 4 > n && n >= 4 && n - 4 >= inner.begin && n <= inner.end) {
            tile(task, &weights, rows, y, n - 4, 4, K, S, R, 1, padded);
            done = n;
        }
    }
}

/* S is 1, 2, or 0 for any stride. */
INLINE void run_any_row(const struct dwconv_f32_task *task, size_t y, size_t S)
{
    size_t n = task->out_cols;
    struct inner inner = find_inner(task);
    for (size_t done = 0; done < n; done += 4) {
        size_t x = tile_column(done, n);
        if (S && x >= inner.begin && x + 4 <= inner.end)
            tile_any(task, y, x, 4, S, 1);
        else
            tile_any(task, y, x, n - x, S, 0);
    }
}

typedef void rows_fn(const struct dwconv_f32_task *task, size_t y);

static void any_stride(const struct dwconv_f32_task *task, size_t y)
{
    run_any_row(task, y, 0);
}

static void any_stride_1(const struct dwconv_f32_task *task, size_t y)
{
    run_any_row(task, y, 1);
}

static void any_stride_2(const struct dwconv_f32_task *task, size_t y)
{
    run_any_row(task, y, 2);
}

static void square_3_stride_1_rows_4(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 4, 0);
}

static void square_3_stride_1_rows_4_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 4, 1);
}

static void square_3_stride_1_rows_2(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 2, 0);
}

static void square_3_stride_1_rows_2_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 2, 1);
}

static void square_3_stride_1_rows_1(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 1, 0);
}

static void square_3_stride_1_rows_1_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 1, 1, 1);
}

static void square_3_stride_2_rows_4(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 4, 0);
}

static void square_3_stride_2_rows_4_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 4, 1);
}

static void square_3_stride_2_rows_2(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 2, 0);
}

static void square_3_stride_2_rows_2_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 2, 1);
}

static void square_3_stride_2_rows_1(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 1, 0);
}

static void square_3_stride_2_rows_1_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 3, 2, 1, 1);
}

static void square_5_stride_1_rows_4(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 4, 0);
}

static void square_5_stride_1_rows_4_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 4, 1);
}

static void square_5_stride_1_rows_2(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 2, 0);
}

static void square_5_stride_1_rows_2_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 2, 1);
}

static void square_5_stride_1_rows_1(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 1, 0);
}

static void square_5_stride_1_rows_1_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 1, 1, 1);
}

static void square_5_stride_2_rows_4(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 4, 0);
}

static void square_5_stride_2_rows_4_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 4, 1);
}

static void square_5_stride_2_rows_2(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 2, 0);
}

static void square_5_stride_2_rows_2_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 2, 1);
}

static void square_5_stride_2_rows_1(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 1, 0);
}

static void square_5_stride_2_rows_1_padded(const struct dwconv_f32_task *task, size_t y)
{
    run_rows(task, y, 5, 2, 1, 1);
}

/* Bodies for four, two and one rows of square kernels: [0] if no source row is padding, [1] leaves
 * out those that are. */
static const struct square {
    size_t kernel, stride;
    rows_fn *run[3][2];
} squares[] = {
    {3,
     1,
     {{square_3_stride_1_rows_4, square_3_stride_1_rows_4_padded},
      {square_3_stride_1_rows_2, square_3_stride_1_rows_2_padded},
      {square_3_stride_1_rows_1, square_3_stride_1_rows_1_padded}}},
    {3,
     2,
     {{square_3_stride_2_rows_4, square_3_stride_2_rows_4_padded},
      {square_3_stride_2_rows_2, square_3_stride_2_rows_2_padded},
      {square_3_stride_2_rows_1, square_3_stride_2_rows_1_padded}}},
    {5,
     1,
     {{square_5_stride_1_rows_4, square_5_stride_1_rows_4_padded},
      {square_5_stride_1_rows_2, square_5_stride_1_rows_2_padded},
      {square_5_stride_1_rows_1, square_5_stride_1_rows_1_padded}}},
    {5,
     2,
     {{square_5_stride_2_rows_4, square_5_stride_2_rows_4_padded},
      {square_5_stride_2_rows_2, square_5_stride_2_rows_2_padded},
      {square_5_stride_2_rows_1, square_5_stride_2_rows_1_padded}}},
};
enum { SQUARES = sizeof squares / sizeof squares[0] };

static const struct square *find_square(const struct dwconv_f32_task *task)
{
    if (task->dilation_h != 1 || task->dilation_w != 1 || task->columns < 4)
        return NULL;
    for (size_t i = 0; i < SQUARES; i++)
        if (task->kh == squares[i].kernel && task->kw == squares[i].kernel &&
            task->stride_h == squares[i].stride && task->stride_w == squares[i].stride)
            return &squares[i];
    return NULL;
}

static int has_padding(const struct dwconv_f32_task *task, size_t y, size_t count)
{
    for (size_t row = 0; row < (count - 1) * task->stride_h + task->kh; row++)
        if (!task->rows[y * task->stride_h + row])
            return 1;
    return 0;
}

static void run_square(const struct dwconv_f32_task *task, const struct square *square)
{
    size_t y = 0;
    for (size_t body = 0, rows = MOST_R; body < 3; body++, rows /= 2)
        for (; y + rows <= task->out_rows; y += rows)
            square->run[body][has_padding(task, y, rows)](task, y);
}

static void run(const struct dwconv_f32_task *task)
{
    const struct square *square = find_square(task);
    if (square) {
        run_square(task, square);
        return;
    }
    rows_fn *one = task->columns < 4     ? any_stride
                   : task->stride_w == 1 ? any_stride_1
                   : task->stride_w == 2 ? any_stride_2
                                         : any_stride;
    for (size_t y = 0; y < task->out_rows; y++)
        one(task, y);
}

static int does(const struct dwconv_f32_task *task)
{
    return task->channels == 1 && task->column == 1 && task->dst_column == 1 &&
           task->weights_tap == 1;
}

const struct dwconv_f32_kernel dwconv_f32_width_neon = {"dwconv_f32_width_neon", CPU_NEON, does,
                                                        run};
