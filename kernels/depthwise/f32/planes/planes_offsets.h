/* struct dwconv_f32_planes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_planes, src, JOB_SRC, 0);
OFFSET(dwconv_f32_planes, dst, JOB_DST, 8);
OFFSET(dwconv_f32_planes, row, JOB_ROW, 16);
OFFSET(dwconv_f32_planes, dst_row, JOB_DST_ROW, 24);
OFFSET(dwconv_f32_planes, weights, JOB_WEIGHTS, 32);
OFFSET(dwconv_f32_planes, weights_tap, JOB_WEIGHTS_TAP, 40);
OFFSET(dwconv_f32_planes, weights_row, JOB_WEIGHTS_ROW, 48);
OFFSET(dwconv_f32_planes, bias, JOB_BIAS, 56);
OFFSET(dwconv_f32_planes, bias_next, JOB_BIAS_NEXT, 64);
OFFSET(dwconv_f32_planes, clamp, JOB_CLAMP, 72);
OFFSET(dwconv_f32_planes, tiles, JOB_TILES, 80);
OFFSET(dwconv_f32_planes, planes, JOB_PLANES, 88);
OFFSET(dwconv_f32_planes, src_plane, JOB_SRC_PLANE, 96);
OFFSET(dwconv_f32_planes, dst_plane, JOB_DST_PLANE, 104);
OFFSET(dwconv_f32_planes, multiplier, JOB_MULTIPLIER, 112);
OFFSET(dwconv_f32_planes, vectors, JOB_VECTORS, 120);
OFFSET(dwconv_f32_planes, last_src, JOB_LAST_SRC, 128);
OFFSET(dwconv_f32_planes, last_dst, JOB_LAST_DST, 136);
OFFSET(dwconv_f32_planes, left, JOB_LEFT, 144);
OFFSET(dwconv_f32_planes, ends_even, JOB_ENDS_EVEN, 152);
OFFSET(dwconv_f32_planes, row_bytes, JOB_ROW_BYTES, 160);
CONSTANT(PLANES_HIGHEST_BAND, 7);
CONSTANT(PLANES_LOWEST_BAND, 3);
