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
OFFSET(dwconv_f32_wide, back_sum, JOB_BACK_SUM, 72);
OFFSET(dwconv_f32_wide, dst, JOB_DST, 80);
OFFSET(dwconv_f32_wide, dst_row, JOB_DST_ROW, 88);
OFFSET(dwconv_f32_wide, weights, JOB_WEIGHTS, 96);
OFFSET(dwconv_f32_wide, weights_row, JOB_WEIGHTS_ROW, 104);
OFFSET(dwconv_f32_wide, weights_back, JOB_WEIGHTS_BACK, 112);
OFFSET(dwconv_f32_wide, kernel_rows, JOB_KERNEL_ROWS, 120);
OFFSET(dwconv_f32_wide, inner, JOB_INNER, 128);
OFFSET(dwconv_f32_wide, bias, JOB_BIAS, 136);
OFFSET(dwconv_f32_wide, bias_next, JOB_BIAS_NEXT, 144);
OFFSET(dwconv_f32_wide, clamp, JOB_CLAMP, 152);
OFFSET(dwconv_f32_wide, constants, JOB_CONSTANTS, 160);
OFFSET(dwconv_f32_wide, planes, JOB_PLANES, 168);
OFFSET(dwconv_f32_wide, src_plane, JOB_SRC_PLANE, 176);
OFFSET(dwconv_f32_wide, dst_plane, JOB_DST_PLANE, 184);
OFFSET(dwconv_f32_wide, multiplier, JOB_MULTIPLIER, 192);
OFFSET(dwconv_f32_wide, outer, JOB_OUTER, 200);
OFFSET(dwconv_f32_wide, outer_step, JOB_OUTER_STEP, 208);
OFFSET(dwconv_f32_wide, weights_outer, JOB_WEIGHTS_OUTER, 216);
OFFSET(dwconv_f32_wide, singles, JOB_SINGLES, 224);
OFFSET(dwconv_f32_wide, pairs, JOB_PAIRS, 232);
