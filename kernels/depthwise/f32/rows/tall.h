/* Depthwise convolution by tall tiles of one column: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_ROWS_TALL_H
#define KERNELS_DEPTHWISE_F32_ROWS_TALL_H

#include <stddef.h>
#include <stdint.h>

/* R output rows of one column of eight channels at a time, all columns, then the next channels. For
 * each column of the kernel the KH weights of it are loaded, then each row of source is loaded once
 * and added to all outputs it reaches. Columns of padding are left out; so are rows of padding, as
 * there are functions for the usual numbers of them.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Strides are in bytes. */
struct dwconv_f32_tall {
    uintptr_t src; /* the first row that exists, at the first tap of output 0 */
    const float *weights;
    const float *bias;
    float *dst;
    ptrdiff_t row, column; /* of source */
    size_t dst_row, dst_column;
    size_t weights_row, weights_tap;
    ptrdiff_t source_back;  /* from behind the last row that exists to the next column */
    ptrdiff_t weights_back; /* from behind the last row of weights to the next column */
    size_t groups, out_cols;
    ptrdiff_t first, columns; /* as in the task */
    size_t whole;             /* columns that have all taps to their right, that one included */
    size_t kw, stride_w;
    size_t column_step;  /* column * stride_w */
    size_t bias_next;    /* from one group's bias to the next: 0 if there is none */
    const float *clamp;  /* four times low, four times high; NULL: none */
    size_t above, below; /* rows of padding at the top and the bottom */
    /* for cores that issue in order, instead of the first row and `row` */
    const float *const *rows; /* of the tile; none is NULL */
    ptrdiff_t start;          /* from each to the first tap of output 0 */
};

typedef void dwconv_f32_tall_fn(const struct dwconv_f32_tall *job);

/* For square kernels and tiles of 7 and 4 rows, by the list of paddings in tall_neon.c; [1]: some
 * rows above are padding; [1]: some below. NULL: 5x5 with stride 2 has no tiles of 4. */
enum { TALL_KNOWN = 3, TALL_HEIGHTS = 2 };
extern dwconv_f32_tall_fn *const dwconv_f32_tall_functions[TALL_KNOWN][TALL_HEIGHTS][2][2];

/* For cores that issue in order: of the same kernels and strides tiles of 7 and 4 rows, groups of
 * four channels. Rows of padding are zeros. */
extern dwconv_f32_tall_fn *const dwconv_f32_tall_in_order_functions[TALL_KNOWN][TALL_HEIGHTS];

#endif
