/* Depthwise convolution by lines of values: rows of source as lines, in place or copied. */
#ifndef KERNELS_DEPTHWISE_F32_LANES_LANES_COPY_NEON_H
#define KERNELS_DEPTHWISE_F32_LANES_LANES_COPY_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "kernels/asm/inline.h"
#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"

enum {
    LANES = 4,
    MOST_RAGGED = 32, /* channels: with more, vectors that overlap are few */
    MOST_STRIDE = 4,
};

static inline size_t round_to(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Are pixels next to each other, and vectors of any four values to be preferred to those of four
 * channels? */
static inline int goes_by_line(const struct dwconv_f32_task *task)
{
    size_t channels = task->channels;
    int is_dense = task->column == channels && task->dst_column == channels;
    int is_ragged = channels % LANES && channels < MOST_RAGGED && task->stride_w == 1;
    return is_dense && (channels < LANES || is_ragged);
}

/* With a stride, pixels of less than a vector are taken apart: line i of a row of source has pixels
 * i, i + lines and so on, padding included. */
static inline size_t lines_of(const struct dwconv_f32_task *task)
{
    return task->channels < LANES ? task->stride_w : 1;
}

static inline size_t reach(const struct dwconv_f32_task *task)
{
    return (task->kw - 1) * task->dilation_w;
}

/* Columns from the first tap of the first pixel to the last one of the last. */
static inline size_t span_of(const struct dwconv_f32_task *task, size_t columns)
{
    return (columns - 1) * task->stride_w + reach(task) + 1;
}

/* Pixels of a line to copy: so many values from the beginning of a row of source, and of its copy.
 */
struct pixels {
    size_t from, to, count;
};

struct copy {
    int is_needed;
    size_t lines;
    size_t first;     /* values of source before the first that is read */
    size_t line, row; /* values of a line, and of a row; each plane of the kernel has a row */
    size_t column;    /* values from one pixel to the next: of the copy, or of source itself */
    struct pixels pixels[MOST_STRIDE];
};

static inline int has_padding_rows(const struct dwconv_f32_task *task)
{
    size_t rows = (task->out_rows - 1) * task->stride_h + (task->kh - 1) * task->dilation_h + 1;
    for (size_t i = 0; i < rows; i++)
        if (!task->rows[i])
            return 1;
    return 0;
}

static inline struct copy plan_copy(const struct dwconv_f32_task *task)
{
    size_t span = span_of(task, task->out_cols), lines = lines_of(task);
    size_t before = task->first < 0 ? smaller((size_t)-task->first, span) : 0;
    size_t column = task->first > 0 ? smaller((size_t)task->first, task->columns) : 0;
    size_t count = smaller(span - before, task->columns - column);
    struct copy copy = {
        .is_needed =
            task->kd > 1 || lines > 1 || count < span || (!task->zeros && has_padding_rows(task)),
        .lines = lines,
        .first = column * task->column,
        .line = (span + lines - 1) / lines * task->channels,
    };
    copy.row = round_to(lines * copy.line, LANES);
    copy.column = copy.is_needed ? task->channels : task->column;
    for (size_t i = 0; i < lines; i++) {
        size_t at = before + i;
        copy.pixels[i] = (struct pixels){
            .from = i * task->channels,
            .to = at % lines * copy.line + at / lines * task->channels,
            .count = (count + lines - 1 - i) / lines,
        };
    }
    return copy;
}

/* `count` pixels of C values, those of two or three with what comes behind them, but for the last
 * pixel. */
INLINE void copy_pixels(float *to, const float *from, size_t count, size_t step, size_t C)
{
    for (; C > 1 && count > 4; count -= 4, to += 4 * C, from += 4 * step)
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            vst1q_f32(to + i * C, vld1q_f32(from + i * step));
    for (; C > 1 && count > 1; count--, to += C, from += step)
        vst1q_f32(to, vld1q_f32(from));
    for (; count; count--, to += C, from += step)
        for (size_t c = 0; c < C; c++)
            to[c] = from[c];
}

INLINE void copy_apart(const struct dwconv_f32_task *task, float *to, const float *from,
                       const struct copy *copy)
{
    size_t step = copy->lines * task->channels;
    for (size_t i = 0; i < copy->lines; i++) {
        struct pixels pixels = copy->pixels[i];
        if (task->channels == 1)
            copy_pixels(to + pixels.to, from + pixels.from, pixels.count, step, 1);
        else if (task->channels == 2)
            copy_pixels(to + pixels.to, from + pixels.from, pixels.count, step, 2);
        else
            copy_pixels(to + pixels.to, from + pixels.from, pixels.count, step, 3);
    }
}

/* Pixels of four channels or more that follow each other in `to`, `step` values from each other in
 * `from`: one vector of all, then the next one; the last may overlap the one before. */
INLINE void copy_vectors(float *to, const float *from, size_t count, size_t step, size_t channels)
{
    for (size_t c = 0; c < channels; c += LANES) {
        size_t first = smaller(c, channels - LANES), i = 0;
        float *out = to + first;
        const float *in = from + first;
        for (; i + 4 <= count; i += 4, in += 4 * step, out += 4 * channels) {
            float32x4_t values[4];
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++)
                values[j] = vld1q_f32(in + j * step);
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++)
                vst1q_f32(out + j * channels, values[j]);
        }
        for (; i < count; i++, in += step, out += channels)
            vst1q_f32(out, vld1q_f32(in));
    }
}

/* `to`: zeros where there is padding. */
static __attribute__((noinline)) void copy_row(const struct dwconv_f32_task *task, float *to,
                                               const float *from, const struct copy *copy)
{
    if (copy->lines > 1) {
        copy_apart(task, to, from, copy);
        return;
    }
    size_t count = copy->pixels[0].count;
    to += copy->pixels[0].to;
    if (task->column == task->channels) {
        memcpy(to, from, count * task->channels * sizeof *to);
        return;
    }
    copy_vectors(to, from, count, task->column, task->channels);
}

#endif
