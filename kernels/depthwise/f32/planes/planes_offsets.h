/* struct dwconv_f32_planes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_planes, job, 0, 8, src, dst, row, dst_row, weights, weights_tap, weights_row);
OFFSETS(dwconv_f32_planes, job, 56, 8, bias, bias_next, clamp, tiles, planes, src_plane, dst_plane);
OFFSETS(dwconv_f32_planes, job, 112, 8, multiplier, vectors, last_src, last_dst, left, ends_even);
OFFSETS(dwconv_f32_planes, job, 160, 8, row_bytes);
CONSTANT(PLANES_HIGHEST_BAND, 7);
CONSTANT(PLANES_LOWEST_BAND, 3);
