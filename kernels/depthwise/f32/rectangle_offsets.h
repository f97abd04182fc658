/* struct dwconv_f32_rectangle and its strips, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_rectangle, src, RECTANGLE_SRC, 0);
OFFSET(dwconv_f32_rectangle, dst, RECTANGLE_DST, 8);
OFFSET(dwconv_f32_rectangle, src_apart, RECTANGLE_SRC_APART, 16);
OFFSET(dwconv_f32_rectangle, dst_apart, RECTANGLE_DST_APART, 24);
OFFSET(dwconv_f32_rectangle, tap_column, RECTANGLE_TAP_COLUMN, 32);
OFFSET(dwconv_f32_rectangle, limits, RECTANGLE_LIMITS, 40);
OFFSET(dwconv_f32_rectangle, bias, RECTANGLE_BIAS, 48);
OFFSET(dwconv_f32_rectangle, weights, RECTANGLE_WEIGHTS, 80);

OFFSET(dwconv_f32_rectangle_strip, src, STRIP_SRC, 8);
OFFSET(dwconv_f32_rectangle_strip, dst, STRIP_DST, 16);
OFFSET(dwconv_f32_rectangle_strip, tiles, STRIP_TILES, 24);
OFFSET(dwconv_f32_rectangle_strip, last, STRIP_LAST, 32);
OFFSET(dwconv_f32_rectangle_strip, src_row, STRIP_SRC_ROW, 40);
OFFSET(dwconv_f32_rectangle_strip, dst_row, STRIP_DST_ROW, 48);
OFFSET(dwconv_f32_rectangle_strip, weights, STRIP_WEIGHTS, 56);
OFFSET(dwconv_f32_rectangle_strip, missing_columns, STRIP_MISSING_COLUMNS, 64);

#ifdef __ASSEMBLER__
.set STRIP_BYTES, 72
#else
_Static_assert(sizeof(struct dwconv_f32_rectangle_strip) == 72, "STRIP_BYTES");
#endif
