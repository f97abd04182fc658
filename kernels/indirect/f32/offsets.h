/* struct indirect_f32_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(indirect_f32_tile, tile, 0, 8, taps, channels, pixels, offset, weights);
OFFSETS(indirect_f32_tile, tile, 48, 8, dst, row);
OFFSETS(indirect_f32_tile, tile, 80, 8, bias);
OFFSETS(indirect_f32_tile, tile, 88, 4, low, high);
