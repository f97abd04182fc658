/* struct dwconv_f32_rectangle, to assembly. */
#include "kernels/offsets.h"

OFFSET(dwconv_f32_rectangle, src, RECTANGLE_SRC, 0);
OFFSET(dwconv_f32_rectangle, dst, RECTANGLE_DST, 8);
OFFSET(dwconv_f32_rectangle, rows, RECTANGLE_ROWS, 16);
OFFSET(dwconv_f32_rectangle, dst_row, RECTANGLE_DST_ROW, 24);
OFFSET(dwconv_f32_rectangle, src_row, RECTANGLE_SRC_ROW, 32);
OFFSET(dwconv_f32_rectangle, tap_row, RECTANGLE_TAP_ROW, 40);
OFFSET(dwconv_f32_rectangle, tap_column, RECTANGLE_TAP_COLUMN, 48);
OFFSET(dwconv_f32_rectangle, last, RECTANGLE_LAST, 56);
OFFSET(dwconv_f32_rectangle, weights, RECTANGLE_WEIGHTS, 64);
OFFSET(dwconv_f32_rectangle, limits, RECTANGLE_LIMITS, 72);
OFFSET(dwconv_f32_rectangle, bias, RECTANGLE_BIAS, 80);
