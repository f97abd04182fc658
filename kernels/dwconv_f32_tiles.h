/* Depthwise 3x3 by tiles of two rows, seven or fourteen columns and eight channels: what the
 * assembly wants to know. */
#ifndef KERNELS_DWCONV_F32_TILES_H
#define KERNELS_DWCONV_F32_TILES_H

#include <stddef.h>

/* What dwconv_f32_slide.h does with whole rows of eight channels, for some columns: for all
 * channels, then for the next tile, then two rows further down. So the other half of a line of
 * channels comes while the line is in the L1 cache, and so do the rows that tiles have in common.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { TILES_ROWS_TOGETHER = 2, TILES_WIDTH = 7, TILES_GROUP = 8 };

struct dwconv_f32_tile {
    size_t src; /* from a row's first column to the first one that the tile reads */
    size_t dst;
    const void *body; /* the instructions for it: of dwconv_f32_tiles_bodies */
};

/* The first column of source, or the last one, or both are padding and left out. Wide ones have
 * twice as many columns; there are such of stride 2, whose first and last steps have the most
 * loads. */
enum {
    TILE_LEFT,
    TILE_MIDDLE,
    TILE_RIGHT,
    TILE_WHOLE,
    TILE_WIDE_LEFT,
    TILE_WIDE_MIDDLE,
    TILE_BODIES,
};

struct dwconv_f32_tiles {
    const float *const *rows; /* of source; none is NULL */
    const struct dwconv_f32_tile *tiles, *tiles_end;
    const float *weights;
    const float *bias;
    float *dst;
    size_t column, dst_column, dst_row, weights_tap;
    size_t channels;    /* of all groups */
    size_t bias_mask;   /* 0: the same bias for all channels */
    size_t count;       /* of tiles, in all rows and groups */
    const float *clamp; /* four times low, four times high */
};

typedef void dwconv_f32_tiles_fn(const struct dwconv_f32_tiles *job);

/* Stride 1 and 2, with and without a clamp; and the bodies of each: [clamps][stride - 1]. */
dwconv_f32_tiles_fn dwconv_f32_tiles_s1, dwconv_f32_tiles_s2, dwconv_f32_tiles_s1_clamp,
    dwconv_f32_tiles_s2_clamp;
extern const void *const dwconv_f32_tiles_bodies[2][2][TILE_BODIES];

#endif
