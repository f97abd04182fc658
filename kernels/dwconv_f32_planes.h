/* Depthwise convolution of planes (nchw) in place, kernels of 3x3 and 5x5 with stride 1 and as many
 * columns of dst as of src: what the assembly wants to know. */
#ifndef KERNELS_DWCONV_F32_PLANES_H
#define KERNELS_DWCONV_F32_PLANES_H

#include <stddef.h>

/* A tile is some rows of one or two vectors of neighbouring columns. Those at the left and right
 * edge of the plane get zeros by EXT where the kernel's columns lie in the padding; those at the
 * top and bottom leave the rows of padding out. So nothing is copied.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
struct dwconv_f32_planes_tile {
    size_t src; /* column of the tile in the first row that it reads */
    size_t dst;
    size_t body; /* PLANES_BODY(…), or PLANES_END */
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
    const struct dwconv_f32_planes_tile *tiles; /* to PLANES_END; NULL: whole planes of 7x7 */
    size_t planes, src_plane, dst_plane;
    size_t multiplier; /* so many planes of dst come of one of src */
};

/* Columns of a tile: eight or four in the middle of a row, or at an edge of it; or the whole row,
 * of seven columns: 0 … 3 and 3 … 6. */
enum planes_columns {
    PLANES_8,
    PLANES_8_LEFT,
    PLANES_8_RIGHT,
    PLANES_7,
    PLANES_4,
    PLANES_4_LEFT,
    PLANES_4_RIGHT,
    PLANES_COLUMNS,
};

/* Rows: seven or four; bits for half a kernel's rows of padding. */
enum planes_rows { PLANES_TALL, PLANES_LOW, PLANES_ROWS };
enum { PLANES_TOP = 1, PLANES_BOTTOM = 2, PLANES_PADDINGS = 4 };

#define PLANES_BODY(columns, rows, padding) \
    (((size_t)(columns)*PLANES_ROWS + (size_t)(rows)) * PLANES_PADDINGS + (size_t)(padding))
enum { PLANES_END = (int)PLANES_COLUMNS * (int)PLANES_ROWS * PLANES_PADDINGS };

typedef void dwconv_f32_planes_fn(const struct dwconv_f32_planes *job);

/* Not all bodies exist: 4 … 8 columns in the middle; 5x5 has no low ones. */
dwconv_f32_planes_fn dwconv_f32_planes_3, dwconv_f32_planes_5;

#endif
