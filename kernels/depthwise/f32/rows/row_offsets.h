/* struct dwconv_f32_row and dwconv_f32_row_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_row_tile, tile, 0, 8, src, column, dst, weights, blocks, last, body);

OFFSETS(dwconv_f32_row, job, 0, 8, tiles, tiles_end, bias, groups, weights_tap, dst_column, clamp);
SIZE(dwconv_f32_row_tile, TILE_BYTES, 56);
