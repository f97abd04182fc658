/* Depthwise 3x3 by tiles of one or two rows, some columns and eight channels: what the assembly
 * wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_TILES_H
#define KERNELS_DEPTHWISE_F32_TILES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/depthwise/f32/depthwise.h"

/* What depthwise/f32/rows/slide.h does with whole rows of eight channels, for some columns: for all
 * channels, then for the next tile, then further down. So the other half of a line of channels
 * comes while the line is in the L1 cache, and so do the rows that tiles have in common.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { TILES_WIDTH = 7, TILES_NARROW = 2, TILES_GROUP = 8, TILES_HEIGHTS = 2, TILES_TAPS = 9 };

/* What of a tile's rows of source is padding and left out: its first one, or its last one. */
enum { TILE_INNER, TILE_ABOVE, TILE_BELOW, TILES_ROWS_LEFT_OUT };

/* Bits: the column before the image is padding, or the one behind it. */
enum { TILE_LEFT = 1, TILE_RIGHT = 2, TILE_EDGES = 4 };

struct dwconv_f32_tile {
    size_t src; /* from a row to the tile's first column; that may be the one before the image */
    size_t dst;
    const void *body; /* the instructions for it: of dwconv_f32_tiles_bodies */
    size_t edges;
};

/* The channel is a distance that goes from first_channel up to 0, where the next tile begins. The
 * tiles' src and the pointers are for that. */
struct dwconv_f32_tiles {
    const float *const *rows; /* of source; none is NULL */
    const struct dwconv_f32_tile *tiles, *tiles_end;
    uintptr_t weights, bias, dst;
    size_t column, dst_column, dst_row, weights_tap;
    size_t bias_mask; /* 0: the same bias for all channels */
    ptrdiff_t first_channel;
    size_t count;       /* of tiles, in all rows and groups */
    const float *clamp; /* four times low, four times high; NULL: none */
};

typedef void dwconv_f32_tiles_fn(const struct dwconv_f32_tiles *job);

/* Stride 1 and 2; and the bodies of seven columns of each, by height - 1 and what is left out; then
 * those of two rows and fourteen columns with stride 2, and of two rows of stride 1 with three and
 * with five columns, which are not an image's first ones. */
dwconv_f32_tiles_fn dwconv_f32_tiles_s1, dwconv_f32_tiles_s2;
typedef const void *const dwconv_f32_tile_bodies[TILES_ROWS_LEFT_OUT][TILE_EDGES];
extern const struct dwconv_f32_tiles_bodies {
    dwconv_f32_tile_bodies of_seven[2 /* stride - 1 */][TILES_HEIGHTS], wide;
    const void *narrow[TILES_NARROW];
} dwconv_f32_tiles_bodies;

/* Dense tasks whose rows of dst have at least seven columns: groups of eight channels, from c on.
 * Columns may be done twice. Rows of padding are NULL; one at either end is left out. 0: nothing
 * was done, for there is more padding. */
int dwconv_f32_tiles_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t groups);

#endif
