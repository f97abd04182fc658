/* struct dwconv_f32_row and dwconv_f32_row_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_row_tile, src, TILE_SRC, 0);
OFFSET(dwconv_f32_row_tile, column, TILE_COLUMN, 8);
OFFSET(dwconv_f32_row_tile, dst, TILE_DST, 16);
OFFSET(dwconv_f32_row_tile, weights, TILE_WEIGHTS, 24);
OFFSET(dwconv_f32_row_tile, eights, TILE_EIGHTS, 32);
OFFSET(dwconv_f32_row_tile, last, TILE_LAST, 40);
OFFSET(dwconv_f32_row_tile, body, TILE_BODY, 48);

OFFSET(dwconv_f32_row, tiles, JOB_TILES, 0);
OFFSET(dwconv_f32_row, tiles_end, JOB_TILES_END, 8);
OFFSET(dwconv_f32_row, bias, JOB_BIAS, 16);
OFFSET(dwconv_f32_row, groups, JOB_GROUPS, 24);
OFFSET(dwconv_f32_row, weights_tap, JOB_WEIGHTS_TAP, 32);
OFFSET(dwconv_f32_row, dst_column, JOB_DST_COLUMN, 40);
OFFSET(dwconv_f32_row, clamp, JOB_CLAMP, 48);

#ifdef __ASSEMBLER__
.set TILE_BYTES, 56
#else
_Static_assert(sizeof(struct dwconv_f32_row_tile) == 56, "TILE_BYTES");
#endif
