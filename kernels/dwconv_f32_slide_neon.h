/* Depthwise convolution by sliding along the columns, for one vector of channels.
 *
 * All K x K weights stay in registers. A step loads the S new columns of every source row that R
 * output rows need, once, and adds them to all outputs they reach: L = ceil(K / S) columns of
 * outputs are under way, the oldest is complete after the step and is stored. Registers: K K + R L
 * + one for the loads. For 3x3, stride 1, R = 4: 9 + 12 + 1; 36 multiply-adds after 6 loads, with
 * 4 stores and 4 moves of the bias: 1.39 instructions each, and the loop's own.
 *
 * Columns and rows that do not exist are left out. */
#ifndef KERNELS_DWCONV_F32_SLIDE_NEON_H
#define KERNELS_DWCONV_F32_SLIDE_NEON_H

#include <arm_neon.h>
#include <math.h>

#include "kernels/dwconv_f32_any_neon.h"
#include "kernels/vector_neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { MOST_K = 5, MOST_R = 4, MOST_L = 5, MOST_IN = 9 };

#if !defined(__clang__)
/* gcc 12 loads inputs far ahead otherwise, and spills weights and sums for them. */
#pragma GCC optimize("no-schedule-insns")
#endif

struct slide {
    float32x4_t w[MOST_K][MOST_K], acc[MOST_R][MOST_L], bias, low, high;
    const float *in[MOST_IN]; /* column `first` of each source row */
    float *out[MOST_R];
};

/* Byte offsets can be index registers of all loads and stores of a step, element offsets cannot. */
INLINE const float *bytes_on(const float *from, size_t offset)
{
    return (const float *)(const void *)((const char *)from + offset);
}

/* The value, without the compiler knowing it: else clang replaces one index by a pointer for every
 * row, and spills for them. No instruction comes of it. */
INLINE size_t opaque_index(size_t index)
{
    __asm__("" : "+r"(index));
    return index;
}

/* Adds one column of source to the outputs it reaches: with s its place among the S of a step and
 * f the step's number modulo L, output f - i gets tap s + i S. */
INLINE void slide_column(struct slide *slide, size_t offset, size_t s, size_t f, size_t K, size_t S,
                         size_t R, int padded)
{
    size_t L = (K + S - 1) / S;
#pragma GCC unroll 9
    for (size_t row = 0; row < (R - 1) * S + K; row++) {
        if (padded && !slide->in[row])
            continue;
        float32x4_t x = vld1q_f32(bytes_on(slide->in[row], offset));
#pragma GCC unroll 5
        for (size_t i = 0; i < L; i++)
#pragma GCC unroll 4
            for (size_t r = 0; r < R; r++) {
                size_t kx = s + i * S, ky = row - r * S;
                if (kx < K && row >= r * S && ky < K)
                    slide->acc[r][(f + L - i) % L] =
                        vfmaq_f32(slide->acc[r][(f + L - i) % L], x, slide->w[ky][kx]);
            }
    }
}

/* Stores the oldest outputs, and begins new ones in their registers. */
INLINE void slide_store(struct slide *slide, size_t offset, size_t f, size_t L, size_t R, int clamp)
{
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++) {
        float32x4_t *acc = &slide->acc[r][(f + 1) % L];
        float32x4_t value = *acc;
        if (clamp)
            value = vminq_f32(vmaxq_f32(value, slide->low), slide->high);
        float *to = slide->out[r]; /* the same as bytes_on() for what may be written */
        vst1q_f32((float *)(void *)((char *)to + offset), value);
        *acc = slide->bias;
    }
}

/* One step at the edges, where columns or outputs may not exist. Its number modulo L counts as 0:
 * the outputs move on by one register instead. */
INLINE void slide_checked(const struct dwconv_f32_task *task, struct slide *slide, size_t x,
                          size_t K, size_t S, size_t R, int clamp, int padded)
{
    size_t L = (K + S - 1) / S;
    ptrdiff_t at = task->first + (ptrdiff_t)(x * S);
#pragma GCC unroll 2
    for (size_t s = 0; s < S; s++, at++)
        if (at >= 0 && (size_t)at < task->columns)
            slide_column(slide, (size_t)at * task->column * sizeof(float), s, 0, K, S, R, padded);
    if (x >= L - 1)
        slide_store(slide, (x - (L - 1)) * task->dst_column * sizeof(float), 0, L, R, clamp);
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++) {
        /* written out: a loop becomes memmove() in clang, and then all of slide lives in memory */
        float32x4_t *acc = slide->acc[r], first = acc[0];
        if (L > 1)
            acc[0] = acc[1];
        if (L > 2)
            acc[1] = acc[2];
        if (L > 3)
            acc[2] = acc[3], acc[3] = acc[4];
        acc[L - 1] = first;
        if (x + 1 < L) /* not stored: begin it again */
            acc[0] = slide->bias;
    }
}

/* Steps at the left edge; then groups of L steps that need no check; the rest are checked again. */
struct slide_steps {
    size_t head, groups;
};

static inline struct slide_steps slide_plan(const struct dwconv_f32_task *task, size_t L, size_t S)
{
    size_t left = task->first < 0 ? (size_t)-task->first : 0;
    size_t head = (left + S - 1) / S, all = task->out_cols + L - 1;
    head = head < L - 1 ? L - 1 : head > all ? all : head;
    ptrdiff_t room = (ptrdiff_t)task->columns - task->first; /* columns from the first tap on */
    size_t whole = room > 0 ? (size_t)room / S : 0;          /* steps whose columns exist */
    size_t end = whole < all ? whole : all;
    return (struct slide_steps){head, end > head ? (end - head) / L : 0};
}

/* R output rows from y on, four channels from c on. */
INLINE void slide_rows(const struct dwconv_f32_task *task, size_t y, size_t c, size_t K, size_t S,
                       size_t R, int clamp, int padded)
{
    struct slide slide;
    size_t L = (K + S - 1) / S, column = task->column * sizeof(float);
    size_t dst_column = task->dst_column * sizeof(float);
    slide.bias = task->bias ? vld1q_f32(task->bias + c) : vdupq_n_f32(0);
    slide.low = vdupq_n_f32(task->low), slide.high = vdupq_n_f32(task->high);
#pragma GCC unroll 5
    for (size_t ky = 0; ky < K; ky++)
#pragma GCC unroll 5
        for (size_t kx = 0; kx < K; kx++)
            slide.w[ky][kx] = vld1q_f32(task->weights + (ky * K + kx) * task->weights_tap + c);
#pragma GCC unroll 9
    for (size_t row = 0; row < (R - 1) * S + K; row++)
        slide.in[row] = task->rows[y * S + row] ? task->rows[y * S + row] + c : NULL;
#pragma GCC unroll 4
    for (size_t r = 0; r < R; r++) {
        slide.out[r] = task->dst + (y + r) * task->dst_row + c;
#pragma GCC unroll 5
        for (size_t i = 0; i < L; i++)
            slide.acc[r][i] = slide.bias;
    }

    struct slide_steps steps = slide_plan(task, L, S);
    size_t x = 0;
    for (; x < steps.head; x++)
        slide_checked(task, &slide, x, K, S, R, clamp, padded);
    size_t from = (size_t)(task->first + (ptrdiff_t)(x * S)) * column;
    size_t to = (x - (L - 1)) * dst_column;
    for (size_t group = 0; group < steps.groups; group++) {
#pragma GCC unroll 5
        for (size_t f = 0; f < L; f++) {
#pragma GCC unroll 2
            for (size_t s = 0; s < S; s++) {
                slide_column(&slide, from, s, f, K, S, R, padded);
                from = opaque_index(from + column);
            }
            slide_store(&slide, to, f, L, R, clamp);
            to = opaque_index(to + dst_column);
        }
    }
    for (x += steps.groups * L; x < task->out_cols + L - 1; x++)
        slide_checked(task, &slide, x, K, S, R, clamp, padded);
}

typedef void slide_fn(const struct dwconv_f32_task *task, size_t y, size_t c);

/* A kernel's bodies for one number of output rows: run[0] if no source row of theirs is padding,
 * run[1] leaves out those that are; [1] of each clamps. */
struct slide_body {
    size_t rows;
    slide_fn *run[2][2];
};

static inline int has_padding(const struct dwconv_f32_task *task, size_t y, size_t count)
{
    for (size_t row = 0; row < (count - 1) * task->stride_h + task->kh; row++)
        if (!task->rows[y * task->stride_h + row])
            return 1;
    return 0;
}

/* All channels of some rows; what is left over overlaps the ones before. */
static inline void slide_channels(const struct dwconv_f32_task *task, size_t y, slide_fn *run)
{
    for (size_t done = 0; done < task->channels; done += 4)
        run(task, y, done + 4 <= task->channels ? done : task->channels - 4);
}

/* All rows, by the biggest body that fits; the last body is for one row. */
static inline void slide_run(const struct dwconv_f32_task *task, const struct slide_body *body)
{
    int clamp = task->low > -INFINITY || task->high < INFINITY;
    for (size_t y = 0; y < task->out_rows; y += body->rows) {
        while (body->rows > task->out_rows - y)
            body++;
        if (task->channels < 4)
            for (size_t r = 0; r < body->rows; r++)
                dwconv_f32_any_row(task, y + r, 0, task->channels);
        else
            slide_channels(task, y, body->run[has_padding(task, y, body->rows)][clamp]);
    }
}

#endif
