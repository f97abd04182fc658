/* struct dwconv_f32_rectangle and its strips, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_rectangle, job, 0, 8, src, dst, src_apart, dst_apart, tap_column, limits, bias);
OFFSETS(dwconv_f32_rectangle_strip, strip, 0, 8, code, src, dst, tiles, last, src_row, dst_row);
OFFSETS(dwconv_f32_rectangle_strip, strip, 56, 8, weights, missing_columns);
SIZE(dwconv_f32_rectangle_strip, STRIP_BYTES, 72);
