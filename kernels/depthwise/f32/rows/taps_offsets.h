/* struct dwconv_f32_taps and its tiles, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_taps, tiles, JOB_TILES, 0);
OFFSET(dwconv_f32_taps, dst, JOB_DST, 8);
OFFSET(dwconv_f32_taps, dst_column, JOB_DST_COLUMN, 16);
OFFSET(dwconv_f32_taps, bias, JOB_BIAS, 24);
OFFSET(dwconv_f32_taps, clamp, JOB_CLAMP, 32);
OFFSET(dwconv_f32_taps_tile, entry, TILE_ENTRY, 0);
OFFSET(dwconv_f32_taps_tile, rounds, TILE_ROUNDS, 8);
OFFSET(dwconv_f32_taps_tile, src, TILE_SRC, 16);
OFFSET(dwconv_f32_taps_tile, weights, TILE_WEIGHTS, 24);
OFFSET(dwconv_f32_taps_tile, dst, TILE_DST, 32);
