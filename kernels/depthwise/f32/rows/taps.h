/* Depthwise convolution with rows of many taps: what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_ROWS_TAPS_H
#define KERNELS_DEPTHWISE_F32_ROWS_TAPS_H

#include <stddef.h>
#include <stdint.h>

/* A tile is P neighbouring outputs of four channels. With stride S tap k of output p wants column
 * S p + k of source, so that S P columns are under way in as many registers, column i in number
 * i % (S P); a tap is done with one of them, into which the next column is loaded. S P taps are a
 * round, which the last tap leaves.
 *
 * Source and weights of four channels lie there without gaps, with zeros around the source: a tile
 * has all taps that one of its outputs has.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. */
struct dwconv_f32_taps_tile {
    const void *entry; /* of dwconv_f32_taps_in_order_entries */
    size_t taps;
    uintptr_t src, weights; /* of the first tap */
    size_t dst;             /* bytes from the first output */
};

struct dwconv_f32_taps {
    const struct dwconv_f32_taps_tile *tiles; /* the last one has TAPS_END */
    float *dst;
    size_t dst_column;  /* bytes */
    const float *bias;  /* four values */
    const float *clamp; /* four times low, four times high; NULL: none */
};

/* So many columns at most are loaded behind the last tap's, and no more weights. */
enum { TAPS_MOST_ROUND = 16 };

/* Tiles of 12 and of 8 outputs, and of 8 with stride 2; each with taps, and (+ 1) without any. */
enum { TAPS_12 = 0, TAPS_8 = 2, TAPS_8_STRIDE_2 = 4, TAPS_END = 6, TAPS_ENTRIES };

extern const void *const dwconv_f32_taps_in_order_entries[TAPS_ENTRIES];

typedef void dwconv_f32_taps_fn(const struct dwconv_f32_taps *job);
dwconv_f32_taps_fn dwconv_f32_taps_in_order;

#endif
