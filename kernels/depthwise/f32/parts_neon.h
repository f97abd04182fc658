/* Dilated depthwise convolutions as dense ones, and what is left of channels after groups. */
#ifndef KERNELS_DEPTHWISE_F32_PARTS_NEON_H
#define KERNELS_DEPTHWISE_F32_PARTS_NEON_H

#include <string.h>

#include "kernels/depthwise/f32/depthwise.h"

/* With stride s, dilation d and g their greatest common divisor, every (d / g)-th output needs
 * every d-th source only, and the next of these outputs begins s / g of them later: so there are d
 * / g dense convolutions of stride s / g in either direction. */
enum { PARTS_OUT_ROWS = 28, PARTS_STRIDE = 2, PARTS_KERNEL = 7 };
enum { PARTS_ROWS = (PARTS_OUT_ROWS - 1) * PARTS_STRIDE + PARTS_KERNEL };

/* Runs a part: dense, at most PARTS_OUT_ROWS rows of dst, rows of padding are NULL. The list of
 * rows is the same as the task's, to be altered. */
typedef void parts_fn(struct dwconv_f32_task *part, const float **rows);

static inline size_t parts_divisor(size_t a, size_t b)
{
    while (b > 1) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return b ? b : a;
}

/* The stride of the dense convolutions. */
static inline size_t parts_stride(size_t stride, size_t dilation)
{
    return stride / parts_divisor(stride, dilation);
}

/* The outputs of a part are `apart` from each other. */
struct parts_step {
    size_t down, across;
};

static inline void parts_run_one(const struct dwconv_f32_task *task, struct parts_step apart,
                                 size_t y, size_t x, parts_fn *run)
{
    const float *rows[PARTS_ROWS];
    struct dwconv_f32_task part = *task;
    ptrdiff_t step = (ptrdiff_t)task->dilation_w;
    ptrdiff_t first = task->first + (ptrdiff_t)(x * task->stride_w);
    size_t skip = (size_t)((first % step + step) % step); /* columns before the part's first one */
    size_t left = (task->out_rows - y + apart.down - 1) / apart.down;
    part.out_rows = left < PARTS_OUT_ROWS ? left : PARTS_OUT_ROWS;
    part.out_cols = (task->out_cols - x + apart.across - 1) / apart.across;
    part.stride_h = parts_stride(task->stride_h, task->dilation_h);
    part.stride_w = parts_stride(task->stride_w, task->dilation_w);
    part.dilation_h = part.dilation_w = 1;
    part.first = (first - (ptrdiff_t)skip) / step;
    part.columns =
        skip < task->columns ? (task->columns - skip + task->dilation_w - 1) / task->dilation_w : 0;
    part.column *= task->dilation_w;
    part.dst += y * task->dst_row + x * task->dst_column;
    part.dst_row *= apart.down;
    part.dst_column *= apart.across;
    part.rows = rows;
    const float *const *from = task->rows + y * task->stride_h;
    size_t count = (part.out_rows - 1) * part.stride_h + part.kh;
    size_t between = task->dilation_h, offset = skip * task->column;
    if (between == 1 && !offset)
        memcpy(rows, from, count * sizeof *rows);
    else
        for (size_t i = 0; i < count; i++, from += between)
            rows[i] = *from ? *from + offset : NULL;
    run(&part, rows);
}

/* Strides and sizes must not exceed PARTS_*. */
static inline void parts_run(const struct dwconv_f32_task *task, parts_fn *run)
{
    struct parts_step apart = {
        task->dilation_h / parts_divisor(task->stride_h, task->dilation_h),
        task->dilation_w / parts_divisor(task->stride_w, task->dilation_w),
    };
    for (size_t part = 0; part < apart.down && part < task->out_rows; part++)
        for (size_t y = part; y < task->out_rows; y += PARTS_OUT_ROWS * apart.down)
            for (size_t x = 0; x < apart.across && x < task->out_cols; x++)
                parts_run_one(task, apart, y, x, run);
}

/* Rows of padding become zeros; 0 if there are none to be had. */
static inline int parts_fill_padding(const struct dwconv_f32_task *task, const float **rows)
{
    for (size_t row = 0; row < (task->out_rows - 1) * task->stride_h + task->kh; row++) {
        if (!rows[row])
            rows[row] = task->zeros;
        if (!rows[row])
            return 0;
    }
    return 1;
}

/* Groups of eight channels, then one of four or eight for what is left; it overlaps the ones
 * before. At least four channels. */
struct parts_group {
    size_t c, channels, groups;
};

static inline int parts_groups(size_t channels, struct parts_group groups[2])
{
    size_t eights = channels / 8, left = channels % 8;
    int count = 0;
    if (eights)
        groups[count++] = (struct parts_group){0, 8, eights};
    else if (left > 4)
        groups[count++] = (struct parts_group){0, 4, 1};
    if (left) {
        size_t last = left > 4 && eights ? 8 : 4;
        groups[count++] = (struct parts_group){channels - last, last, 1};
    }
    return count;
}

#endif
