/* struct dwconv_f32_tall, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_tall, job, 0, 8, src, weights, bias, dst, row, column, dst_row, dst_column);
OFFSETS(dwconv_f32_tall, job, 64, 8, weights_row, weights_tap, source_back, weights_back, groups);
OFFSETS(dwconv_f32_tall, job, 104, 8, out_cols, first, columns, whole, kw, stride_w, column_step);
OFFSETS(dwconv_f32_tall, job, 160, 8, bias_next, clamp);
OFFSETS(dwconv_f32_tall, job, 192, 8, rows, start);
