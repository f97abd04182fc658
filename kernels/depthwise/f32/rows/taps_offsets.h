/* struct dwconv_f32_taps and its tiles, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_taps, job, 0, 8, tiles, dst, dst_column, bias, clamp);
OFFSETS(dwconv_f32_taps_tile, tile, 0, 8, entry, taps, src, weights, dst);
