/* Depthwise convolution of planes on copies of rows: what assembly has to know of it.
 *
 * A rectangle is some rows of some vectors of dst, whose taps in a column of the kernel are in rows
 * of the copy that are as far from each other: each of these is loaded once. */
#ifndef KERNELS_DEPTHWISE_F32_PLANES_COPIED_H
#define KERNELS_DEPTHWISE_F32_PLANES_COPIED_H

#include <arm_neon.h>
#include <stddef.h>

/* In bytes from where the copy and dst begin. */
struct dwconv_f32_copied_block {
    size_t src, dst;
};

/* A channel's. Distances are in bytes. */
struct dwconv_f32_copied {
    const size_t *taps; /* where they are in the copy, in the order of sums */
    const float *weights;
    const float *rows; /* the copy */
    float *dst;
    size_t row, dst_row; /* from a row of a rectangle to the next, of the copy and of dst */
    size_t last[2];      /* from the first of two or three vectors to the last, which may overlap */
    size_t count;        /* of taps */
    size_t clamps;       /* is there a limit? */
    float32x4_t bias[2], low, high;
    size_t evens, odds; /* in pairs: the first `evens` taps, and as far as `odds` */
};

/* Kernels of three, five and seven rows; rectangles of so many rows and vectors. */
enum { COPIED_TAPS = 3 };
enum { COPIED_LEAST_ROWS = 3, COPIED_MOST_ROWS = 5, COPIED_LEAST_VECTORS = 2, COPIED_VECTORS = 3 };
enum {
    COPIED_WIDTHS = COPIED_VECTORS - COPIED_LEAST_VECTORS + 1,
    COPIED_KINDS = (COPIED_MOST_ROWS - COPIED_LEAST_ROWS + 1) * COPIED_WIDTHS
};

/* Blocks from `begin` on, of which there is one. */
typedef void dwconv_f32_copied_fn(const struct dwconv_f32_copied *job,
                                  const struct dwconv_f32_copied_block *begin,
                                  const struct dwconv_f32_copied_block *end);

/* By taps, rows and vectors. */
extern dwconv_f32_copied_fn *const dwconv_f32_copied_tiles[COPIED_TAPS][COPIED_KINDS];

#endif
