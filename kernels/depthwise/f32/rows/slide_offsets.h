/* struct dwconv_f32_slide, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_slide, rows, JOB_ROWS, 0);
OFFSET(dwconv_f32_slide, weights, JOB_WEIGHTS, 8);
OFFSET(dwconv_f32_slide, bias, JOB_BIAS, 16);
OFFSET(dwconv_f32_slide, dst, JOB_DST, 24);
OFFSET(dwconv_f32_slide, column, JOB_COLUMN, 32);
OFFSET(dwconv_f32_slide, dst_column, JOB_DST_COLUMN, 40);
OFFSET(dwconv_f32_slide, dst_row, JOB_DST_ROW, 48);
OFFSET(dwconv_f32_slide, weights_tap, JOB_WEIGHTS_TAP, 56);
OFFSET(dwconv_f32_slide, groups, JOB_GROUPS, 64);
OFFSET(dwconv_f32_slide, out_rows, JOB_OUT_ROWS, 72);
OFFSET(dwconv_f32_slide, start, JOB_START, 80);
OFFSET(dwconv_f32_slide, rounds, JOB_ROUNDS, 88);
OFFSET(dwconv_f32_slide, entry, JOB_ENTRY, 96);
OFFSET(dwconv_f32_slide, edges, JOB_EDGES, 104);
OFFSET(dwconv_f32_slide, bias_next, JOB_BIAS_NEXT, 112);
OFFSET(dwconv_f32_slide, clamp, JOB_CLAMP, 120);
