/* Depthwise convolution of planes (nchw) in place, kernels of 3x3 and 5x5 with stride 1, or with
 * stride 2 and half as many columns of dst as of src: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_PLANES_PLANES_H
#define KERNELS_DEPTHWISE_F32_PLANES_PLANES_H

#include <stddef.h>

#include "kernels/asm/sizes.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/extent.h"

/* A tile is some rows of one or two vectors of neighbouring columns. Those at the left and right
 * edge of the plane get zeros by EXT, or by shorter loads, where the kernel's columns lie in the
 * padding; those at the top and bottom leave the rows of padding out. So nothing is copied.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
struct dwconv_f32_planes_tile {
    size_t src; /* column of the tile in the first row that it reads */
    size_t dst;
    size_t body; /* PLANES_BODY(…) to PLANES_END; stride 2: PLANES_BAND(…) to PLANES_BANDS */
};

struct dwconv_f32_planes {
    const float *src; /* column 0 of the first row that exists */
    float *dst;
    ptrdiff_t row; /* of source */
    size_t dst_row;
    const float *weights;
    size_t weights_tap, weights_row;
    const float *bias;                          /* a value for each plane, or one for all */
    size_t bias_next;                           /* 0: one for all */
    const float *clamp;                         /* four times low, four times high; NULL: none */
    const struct dwconv_f32_planes_tile *tiles; /* NULL: whole planes */
    size_t planes, src_plane, dst_plane;
    size_t multiplier; /* so many planes of dst come of one of src */
    /* stride 2: vectors of a row, in pairs without the first one and a last one that is special;
     * and from behind them to the beginning of one more, of source and dst; 3x3: 0: there is none
     */
    size_t vectors;
    ptrdiff_t last_src, last_dst;
    size_t left, ends_even; /* in pairs: is there padding on the left; 3x3: does a row of source end
                             * with an even column */
    size_t row_bytes;       /* of dst */
};

/* Columns of a tile: eight in the middle of a row, eight at an edge of it, or four at the right
 * one.
 */
enum planes_columns { PLANES_8, PLANES_8_LEFT, PLANES_8_RIGHT, PLANES_4_RIGHT, PLANES_COLUMNS };

/* Rows of a tile: seven, which may have half a kernel's rows of padding on one side, or, of 3x3,
 * the last four above padding. */
enum planes_rows { PLANES_INNER, PLANES_FIRST, PLANES_LAST, PLANES_LAST_LOW, PLANES_ROWS };

#define PLANES_BODY(columns, rows) ((size_t)(columns)*PLANES_ROWS + (size_t)(rows))
enum { PLANES_END = (int)PLANES_COLUMNS * (int)PLANES_ROWS };

/* Stride 2: all columns of four rows; in pairs, or of seven, on cores that issue in order, or of
 * three. Above them may be half a kernel's rows of padding, or one below them. */
enum planes_padding { PLANES_NONE, PLANES_TOP, PLANES_BOTTOM, PLANES_PADDINGS };
enum { PLANES_LOWEST_BAND = 3, PLANES_BAND_ROWS = 4, PLANES_HIGHEST_BAND = 7 };
enum { PLANES_BANDS = PLANES_HIGHEST_BAND * PLANES_PADDINGS };
#define PLANES_BAND(rows, padding) (((size_t)(rows)-1) * PLANES_PADDINGS + (size_t)(padding))

typedef void dwconv_f32_planes_fn(const struct dwconv_f32_planes *job);

/* Stride 1; stride 2 by columns; in pairs. */
dwconv_f32_planes_fn dwconv_f32_planes_3s1, dwconv_f32_planes_3s1_a55, dwconv_f32_planes_5s1;
dwconv_f32_planes_fn dwconv_f32_planes_stride_2_a55;
dwconv_f32_planes_fn dwconv_f32_planes_pairs_3x3, dwconv_f32_planes_pairs_5x5;

/* Are channels planes, of at least a vector of columns? Narrower ones are transposed. */
static inline int planes_does(const struct dwconv_f32_task *task)
{
    return task->column == 1 && task->dst_column == 1 && task->out_cols >= 4;
}

/* Of a square kernel, which is dense, with the same stride in both directions. */
static inline int planes_does_square(const struct dwconv_f32_task *task, size_t stride)
{
    return planes_does(task) && task->kh == task->kw && task->stride_h == stride &&
           task->stride_w == stride && task->dilation_h == 1 && task->dilation_w == 1;
}

/* For so many tiles, or for the copies that are made instead. */
static inline size_t planes_scratch_bytes(const struct dwconv_f32_task *task, size_t tiles)
{
    return larger(tiles * sizeof(struct dwconv_f32_planes_tile),
                  dwconv_f32_planes_copied_neon.scratch_bytes(task));
}

/* Rows of padding above and below the rows that exist, and bytes from one of these to the next. */
struct planes_gap {
    size_t above, below;
    ptrdiff_t row;
};

static inline size_t planes_count_rows(const struct dwconv_f32_task *task)
{
    return (task->out_rows - 1) * task->stride_h + task->kh;
}

/* Is there no gap above or half a kernel, below as well or, with stride 2, any less, and are the
 * rows between, at least two, equally far from each other? */
static inline int planes_find_gap(struct planes_gap *gap, const struct dwconv_f32_task *task)
{
    size_t count = planes_count_rows(task), half = task->kh / 2;
    struct extent rows;
    if (!extent_find(&rows, task->rows, count) || rows.end - rows.begin < 2)
        return 0;
    *gap = (struct planes_gap){rows.begin, count - rows.end, rows.row};
    return (gap->above == 0 || gap->above == half) && gap->below <= half &&
           (task->stride_h == 2 || gap->below == 0 || gap->below == half);
}

/* All but the tiles. */
static inline struct dwconv_f32_planes planes_job(const struct dwconv_f32_task *task,
                                                  const struct planes_gap *gap, float limits[8])
{
    static const float none;
    return (struct dwconv_f32_planes){
        .src = task->rows[gap->above],
        .dst = task->dst,
        .row = gap->row,
        .dst_row = task->dst_row * sizeof(float),
        .weights = task->weights,
        .weights_tap = task->weights_tap * sizeof(float),
        .weights_row = task->kw * task->weights_tap * sizeof(float),
        .bias = task->bias ? task->bias : &none,
        .bias_next = task->bias ? sizeof(float) : 0,
        .clamp = dwconv_f32_limits(task, limits),
        .planes = task->channels,
        .row_bytes = task->out_cols * sizeof(float),
        .src_plane = task->src_plane * sizeof(float),
        .dst_plane = task->dst_plane * sizeof(float),
        .multiplier = task->multiplier,
    };
}

#endif
