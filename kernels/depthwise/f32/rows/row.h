/* Depthwise convolution along rows, by tiles of some columns: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_ROWS_ROW_H
#define KERNELS_DEPTHWISE_F32_ROWS_ROW_H

#include <stddef.h>

/* The outputs of some neighbouring columns, four channels: a block of taps' weights at a time is in
 * registers, and each column of source is loaded once for them and added to all outputs it reaches.
 * What is left of the taps has code for its number. The groups of channels of a tile come before
 * the next tile, so that lines of the cache are used as a whole.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
struct dwconv_f32_row_tile {
    const float *src; /* at the first tap of the first output */
    size_t column;    /* of src */
    float *dst;
    const float *weights;    /* of the first tap */
    size_t blocks;           /* taps are those of so many blocks and of `last` */
    const void *last, *body; /* the instructions for these, and for the tile */
};

struct dwconv_f32_row {
    const struct dwconv_f32_row_tile *tiles, *tiles_end; /* at least one */
    const float *bias; /* of each group, twice; of one more, which is not used */
    size_t groups;     /* of four channels */
    size_t weights_tap, dst_column;
    const float *clamp; /* four times low, four times high; NULL: none */
};

void dwconv_f32_row(const struct dwconv_f32_row *job);

/* The instructions for a tile, and for 1 … 8 last taps: tiles of 16, 8 and 4 columns, whose blocks
 * are of ROW_TOGETHER taps; then of 16 with stride 2 and blocks of ROW_TOGETHER_STRIDE_2, as
 * columns of source are twice as many and instructions with them. */
enum { ROW_WIDTHS = 3, ROW_STRIDE_2 = ROW_WIDTHS, ROW_CODES };
enum { ROW_TOGETHER = 8, ROW_TOGETHER_STRIDE_2 = 4 };
struct dwconv_f32_row_code {
    const void *body, *last[ROW_TOGETHER];
};
extern const struct dwconv_f32_row_code dwconv_f32_row_codes[ROW_CODES];

#endif
