/* Depthwise 3x3 by tiles of one or two rows, some columns and eight channels: what the assembly
 * wants to know. */
#ifndef KERNELS_DWCONV_F32_TILES_H
#define KERNELS_DWCONV_F32_TILES_H

#include <stddef.h>
#include <stdint.h>

/* What dwconv_f32_slide.h does with whole rows of eight channels, for some columns: for all
 * channels, then for the next tile, then further down. So the other half of a line of channels
 * comes while the line is in the L1 cache, and so do the rows that tiles have in common.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { TILES_HEIGHTS = 2, TILES_WIDTH = 7, TILES_GROUP = 8 };

/* `left`: the first column of source is padding and left out; `right`: the last one; `whole`: both.
 * Wide ones have twice as many columns; there are such of two rows and stride 2, whose first and
 * last steps have the most loads. */
enum {
    TILE_LEFT,
    TILE_MIDDLE,
    TILE_RIGHT,
    TILE_WHOLE,
    TILE_WIDE_LEFT,
    TILE_WIDE_MIDDLE,
    TILE_BODIES,
};

struct dwconv_f32_tile {
    size_t src; /* from a row to the first column that the tile reads */
    size_t dst;
    const void *body; /* the instructions for it: of dwconv_f32_tiles_bodies */
};

/* The channel is a distance that goes from first_channel to 0, where the next tile begins: from
 * -bytes up or from bytes down. The tiles' src and the pointers are for that. */
struct dwconv_f32_tiles {
    const float *const *rows; /* of source; none is NULL */
    const struct dwconv_f32_tile *tiles, *tiles_end;
    uintptr_t weights, bias, dst;
    size_t column, dst_column, dst_row, weights_tap;
    size_t bias_mask; /* 0: the same bias for all channels */
    ptrdiff_t first_channel;
    size_t count;       /* of tiles, in all rows and groups */
    const float *clamp; /* four times low, four times high */
    ptrdiff_t channel_step;
};

typedef void dwconv_f32_tiles_fn(const struct dwconv_f32_tiles *job);

/* Stride 1 and 2, with and without a clamp; and the bodies of each: [clamps][stride - 1][rows - 1];
 * NULL where there is none. */
dwconv_f32_tiles_fn dwconv_f32_tiles_s1, dwconv_f32_tiles_s2, dwconv_f32_tiles_s1_clamp,
    dwconv_f32_tiles_s2_clamp;
extern const void *const dwconv_f32_tiles_bodies[2][2][TILES_HEIGHTS][TILE_BODIES];

#endif
