/* struct dwconv_f32_tall, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_tall, src, JOB_SRC, 0);
OFFSET(dwconv_f32_tall, weights, JOB_WEIGHTS, 8);
OFFSET(dwconv_f32_tall, bias, JOB_BIAS, 16);
OFFSET(dwconv_f32_tall, dst, JOB_DST, 24);
OFFSET(dwconv_f32_tall, row, JOB_ROW, 32);
OFFSET(dwconv_f32_tall, column, JOB_COLUMN, 40);
OFFSET(dwconv_f32_tall, dst_row, JOB_DST_ROW, 48);
OFFSET(dwconv_f32_tall, dst_column, JOB_DST_COLUMN, 56);
OFFSET(dwconv_f32_tall, weights_row, JOB_WEIGHTS_ROW, 64);
OFFSET(dwconv_f32_tall, weights_tap, JOB_WEIGHTS_TAP, 72);
OFFSET(dwconv_f32_tall, source_back, JOB_SOURCE_BACK, 80);
OFFSET(dwconv_f32_tall, weights_back, JOB_WEIGHTS_BACK, 88);
OFFSET(dwconv_f32_tall, groups, JOB_GROUPS, 96);
OFFSET(dwconv_f32_tall, out_cols, JOB_OUT_COLS, 104);
OFFSET(dwconv_f32_tall, first, JOB_FIRST, 112);
OFFSET(dwconv_f32_tall, columns, JOB_COLUMNS, 120);
OFFSET(dwconv_f32_tall, whole, JOB_WHOLE, 128);
OFFSET(dwconv_f32_tall, kw, JOB_KW, 136);
OFFSET(dwconv_f32_tall, stride_w, JOB_STRIDE_W, 144);
OFFSET(dwconv_f32_tall, column_step, JOB_COLUMN_STEP, 152);
OFFSET(dwconv_f32_tall, bias_next, JOB_BIAS_NEXT, 160);
OFFSET(dwconv_f32_tall, clamp, JOB_CLAMP, 168);
OFFSET(dwconv_f32_tall, rows, JOB_ROWS, 192);
OFFSET(dwconv_f32_tall, start, JOB_START, 200);
