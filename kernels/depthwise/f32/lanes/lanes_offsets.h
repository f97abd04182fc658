/* struct dwconv_f32_lanes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_lanes, job, 0, 8, lines, dst, dst_row, last, period, src_period, offsets, kw);
OFFSETS(dwconv_f32_lanes, job, 64, 8, weights_tap, clamp, weights, bias, phases, phases_end);
