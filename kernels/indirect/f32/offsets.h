/* struct indirect_f32_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(indirect_f32_tile, taps, TILE_TAPS, 0);
OFFSET(indirect_f32_tile, channels, TILE_CHANNELS, 8);
OFFSET(indirect_f32_tile, pixels, TILE_PIXELS, 16);
OFFSET(indirect_f32_tile, offset, TILE_OFFSET, 24);
OFFSET(indirect_f32_tile, weights, TILE_WEIGHTS, 32);
OFFSET(indirect_f32_tile, dst, TILE_DST, 48);
OFFSET(indirect_f32_tile, row, TILE_ROW, 56);
OFFSET(indirect_f32_tile, bias, TILE_BIAS, 80);
OFFSET(indirect_f32_tile, low, TILE_LOW, 88);
OFFSET(indirect_f32_tile, high, TILE_HIGH, 92);
