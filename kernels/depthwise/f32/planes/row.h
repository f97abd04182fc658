/* Depthwise convolution of rows of planes (nchw) with kernels of one row and stride 1: what the
 * assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_PLANES_ROW_H
#define KERNELS_DEPTHWISE_F32_PLANES_ROW_H

#include <stddef.h>

/* A tile is up to sixteen vectors of neighbouring columns. At the first and the last taps some of
 * them lie in the padding and are left out: those on the left by groups of four vectors, those on
 * the right one by one. So a tile is a list of steps: one that begins the sums, some taps of the
 * same vectors each, and one that stores them.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { PLANES_ROW_VECTORS = 16, PLANES_ROW_GROUP = 4 };

struct dwconv_f32_planes_row_step {
    const void *code;
    size_t taps;
};

struct dwconv_f32_planes_row {
    size_t src; /* of the tile's first column, at the first tap that is there */
    float *dst;
    const float *weights; /* of that tap, and behind it of the others */
    const struct dwconv_f32_planes_row_step *steps;
    size_t tap;         /* of source, from one to the next */
    const float *bias;  /* one value */
    const float *clamp; /* four times low, four times high; NULL: none */
    size_t last;        /* columns of the last vector: 1 … 4 */
};

void dwconv_f32_planes_row(const struct dwconv_f32_planes_row *job);

/* For so many vectors; and for some taps of vectors from 4 * i up to j + 1, where there are any. */
struct dwconv_f32_planes_row_code {
    const void *begin[PLANES_ROW_VECTORS], *store[PLANES_ROW_VECTORS];
    const void *taps[PLANES_ROW_VECTORS / PLANES_ROW_GROUP][PLANES_ROW_VECTORS];
};
extern const struct dwconv_f32_planes_row_code dwconv_f32_planes_row_codes;

#endif
