/* struct dwconv_f32_tiles and its tiles, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_tiles, job, 0, 8, rows, tiles, tiles_end, weights, bias, dst, column,
        dst_column);
OFFSETS(dwconv_f32_tiles, job, 64, 8, dst_row, weights_tap, bias_mask, first_channel, count, clamp);
OFFSETS(dwconv_f32_tile, tile, 0, 8, src, dst, body, edges);
SIZE(dwconv_f32_tile, TILE_BYTES, 32);
