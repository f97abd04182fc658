/* Depthwise 3x3 by tiles of one or two rows, some columns and eight channels: what the assembly
 * wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_TILES_H
#define KERNELS_DEPTHWISE_F32_TILES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/depthwise/f32/bands.h"

/* What depthwise/f32/rows/slide.h does with whole rows of eight channels, for some columns: for all
 * channels, then for the next tile, then further down. So the other half of a line of channels
 * comes while the line is in the L1 cache, and so do the rows that tiles have in common.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { TILES_WIDTH = 7, TILES_GROUP = 8, TILES_TAPS = 9 };

/* What of a tile's columns is padding and left out, too: the one before the image, the one behind
 * it, or both. */
enum { TILE_LEFT, TILE_MIDDLE, TILE_RIGHT, TILE_WHOLE, TILE_EDGES };

/* Columns: 14, 7, 4 and 3. Wide ones are of two rows and stride 2, whose first and last steps have
 * the most loads; narrow ones are of two rows and stride 1; neither leave out rows. */
enum { TILE_WIDE, TILE_SEVEN, TILE_FOUR, TILE_THREE, TILE_WIDTHS };

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

/* Stride 1 and 2, with and without a clamp; and the bodies of each, by their enumerations. NULL:
 * there is none. */
dwconv_f32_tiles_fn dwconv_f32_tiles_s1, dwconv_f32_tiles_s2, dwconv_f32_tiles_s1_clamp,
    dwconv_f32_tiles_s2_clamp;
typedef const void *const dwconv_f32_tile_bodies[TILE_WIDTHS][TILE_EDGES];
extern dwconv_f32_tile_bodies dwconv_f32_tiles_bodies[2 /* clamps */][2 /* stride - 1 */]
                                                     [TILES_HEIGHTS][TILES_ROWS_LEFT_OUT];

/* Dense tasks whose rows of dst have at least seven columns: groups of eight channels, from c on.
 * Columns may be done twice. Rows of padding are NULL; one at either end is left out. 0: nothing
 * was done, for there is more padding. */
int dwconv_f32_tiles_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t groups);

#endif
