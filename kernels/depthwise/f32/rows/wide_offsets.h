/* struct dwconv_f32_wide, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_wide, copies, JOB_COPIES, 0);
OFFSET(dwconv_f32_wide, copies_count, JOB_COPIES_COUNT, 8);
OFFSET(dwconv_f32_wide, chunks, JOB_CHUNKS, 16);
OFFSET(dwconv_f32_wide, quads, JOB_QUADS, 24);
OFFSET(dwconv_f32_wide, rest, JOB_REST, 32);
OFFSET(dwconv_f32_wide, second, JOB_SECOND, 40);
OFFSET(dwconv_f32_wide, tiles, JOB_TILES, 48);
OFFSET(dwconv_f32_wide, row, JOB_ROW, 56);
OFFSET(dwconv_f32_wide, back, JOB_BACK, 64);
OFFSET(dwconv_f32_wide, back_sum, JOB_BACK_SUM, 96);
OFFSET(dwconv_f32_wide, dst, JOB_DST, 128);
OFFSET(dwconv_f32_wide, dst_row, JOB_DST_ROW, 136);
OFFSET(dwconv_f32_wide, weights, JOB_WEIGHTS, 144);
OFFSET(dwconv_f32_wide, weights_row, JOB_WEIGHTS_ROW, 152);
OFFSET(dwconv_f32_wide, weights_back, JOB_WEIGHTS_BACK, 160);
OFFSET(dwconv_f32_wide, inner, JOB_INNER, 168);
OFFSET(dwconv_f32_wide, bias, JOB_BIAS, 176);
OFFSET(dwconv_f32_wide, bias_next, JOB_BIAS_NEXT, 184);
OFFSET(dwconv_f32_wide, clamp, JOB_CLAMP, 192);
OFFSET(dwconv_f32_wide, constants, JOB_CONSTANTS, 200);
OFFSET(dwconv_f32_wide, planes, JOB_PLANES, 208);
OFFSET(dwconv_f32_wide, src_plane, JOB_SRC_PLANE, 216);
OFFSET(dwconv_f32_wide, dst_plane, JOB_DST_PLANE, 224);
OFFSET(dwconv_f32_wide, multiplier, JOB_MULTIPLIER, 232);
OFFSET(dwconv_f32_wide, outer, JOB_OUTER, 240);
OFFSET(dwconv_f32_wide, outer_step, JOB_OUTER_STEP, 248);
OFFSET(dwconv_f32_wide, weights_outer, JOB_WEIGHTS_OUTER, 256);
