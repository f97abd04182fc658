/* Depthwise convolution of planes (nchw) by tiles of neighbouring columns: what the assembly wants
 * to know. */
#ifndef KERNELS_DEPTHWISE_F32_ROWS_WIDE_H
#define KERNELS_DEPTHWISE_F32_ROWS_WIDE_H

#include <stddef.h>

/* The rows of a plane are copied between columns of zeros that are already there, so that no tile
 * has an edge; stride 2 takes columns apart, even ones in front of odd ones. Then the tiles are
 * worked off: R rows of V vectors, tap by tap. The next plane has the same tiles. Of a plane that
 * is a single row, parts of it take the place of rows, where they share the weights of each column.
 *
 * A kernel of several planes has as many copies behind each other, and takes all of them for one
 * column before the next: these are the inner steps, and columns the outer ones. Of one plane,
 * columns are the inner steps, and there is one outer one.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
struct dwconv_f32_wide_copy {
    const float *from;
    float *to; /* of the first value; stride 2: of every other one */
};

struct dwconv_f32_wide_tile {
    const float *src; /* of the copy, at its first tap */
    size_t dst;
    size_t body; /* WIDE_HEIGHTS * (V - 1) + 0 … 3 for 7 (V <= 2), 4, 2, 1 rows; or WIDE_END */
};

struct dwconv_f32_wide {
    const struct dwconv_f32_wide_copy *copies;
    size_t copies_count;
    size_t chunks;  /* of 16 values, 8 of stride 2, in a row to copy */
    size_t quads;   /* stride 1 and no chunks: 1 or 2; stride 2: is there a last odd value? */
    ptrdiff_t rest; /* 0: the row ends with the last chunk; else where one more, to its end, begins:
                     * from behind the chunks, or from the quads' begin */
    ptrdiff_t second; /* stride 2: from where the first value goes to where the second does; stride
                       * 1: from a row's taps to the next, or from tap to tap of a single row */
    const struct dwconv_f32_wide_tile *tiles; /* to WIDE_END */
    ptrdiff_t row;                            /* of the copy */
    /* from behind the last row of the kernel to the next inner step, the first time, and the sum of
     * this and the next time's */
    ptrdiff_t back, back_sum;
    float *dst;
    size_t dst_row;
    const float *weights;
    size_t weights_row;
    ptrdiff_t weights_back; /* from behind the last row of weights to the next inner step */
    size_t kernel_rows, inner;
    const float *bias;  /* a value for each plane, or one for all */
    size_t bias_next;   /* 0: one for all */
    const float *clamp; /* four times low, four times high; NULL: none */
    float *constants;   /* 16 values for the bias, then the taps' in the order of steps */
    size_t planes, src_plane, dst_plane;
    size_t multiplier; /* so many planes of dst come of one of src */
    size_t outer;
    ptrdiff_t outer_step, weights_outer; /* more, of source (stride 1) and of weights */
    size_t singles, pairs; /* of a step's taps: one or two (or all), then those that share rows */
};

enum { WIDE_VECTORS = 4, WIDE_HEIGHTS = 4, WIDE_END = WIDE_VECTORS * WIDE_HEIGHTS };

typedef void dwconv_f32_wide_fn(const struct dwconv_f32_wide *job);

dwconv_f32_wide_fn dwconv_f32_wide_s1, dwconv_f32_wide_s2; /* strides 1 and 2 */

#endif
