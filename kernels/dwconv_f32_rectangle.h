/* Depthwise 3x3 convolution of planes (nchw): some columns of a rectangle of dst whose outputs all
 * have the same taps. */
#ifndef KERNELS_DWCONV_F32_RECTANGLE_H
#define KERNELS_DWCONV_F32_RECTANGLE_H

#include <stddef.h>

enum { RECTANGLE_KERNEL = 3, RECTANGLE_VECTORS = 4 };

/* The assembly knows the offsets; distances are in bytes. */
struct dwconv_f32_rectangle {
    const float *src; /* the first tap of the first output */
    float *dst;
    size_t rows, dst_row;
    ptrdiff_t src_row, tap_row, tap_column;
    size_t last;          /* where the last vector begins, which may overlap the one before */
    const float *weights; /* of the first tap, RECTANGLE_KERNEL of a row; four of each are read */
    const float *limits;  /* low and high; NULL: none */
    float bias;
};
typedef void dwconv_f32_rectangle_fn(const struct dwconv_f32_rectangle *job);

/* By taps along the height and the width, and vectors, each minus 1. */
extern dwconv_f32_rectangle_fn
    *const dwconv_f32_rectangles[RECTANGLE_KERNEL][RECTANGLE_KERNEL][RECTANGLE_VECTORS];

#endif
