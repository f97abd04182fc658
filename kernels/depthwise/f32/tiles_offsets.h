/* struct dwconv_f32_tiles, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_tiles, rows, TILES_ROWS, 0);
OFFSET(dwconv_f32_tiles, tiles, TILES_BEGIN, 8);
OFFSET(dwconv_f32_tiles, tiles_end, TILES_END, 16);
OFFSET(dwconv_f32_tiles, weights, TILES_WEIGHTS, 24);
OFFSET(dwconv_f32_tiles, bias, TILES_BIAS, 32);
OFFSET(dwconv_f32_tiles, dst, TILES_DST, 40);
OFFSET(dwconv_f32_tiles, column, TILES_COLUMN, 48);
OFFSET(dwconv_f32_tiles, dst_column, TILES_DST_COLUMN, 56);
OFFSET(dwconv_f32_tiles, dst_row, TILES_DST_ROW, 64);
OFFSET(dwconv_f32_tiles, weights_tap, TILES_WEIGHTS_TAP, 72);
OFFSET(dwconv_f32_tiles, bias_mask, TILES_BIAS_MASK, 80);
OFFSET(dwconv_f32_tiles, first_channel, TILES_FIRST_CHANNEL, 88);
OFFSET(dwconv_f32_tiles, count, TILES_COUNT, 96);
OFFSET(dwconv_f32_tiles, clamp, TILES_CLAMP, 104);
OFFSET(dwconv_f32_tile, body, TILE_BODY, 16);
OFFSET(dwconv_f32_tile, edges, TILE_EDGES_AT, 24);
#ifdef __ASSEMBLER__
.set TILE_BYTES, 32
#else
_Static_assert(sizeof(struct dwconv_f32_tile) == 32, "TILE_BYTES");
#endif
