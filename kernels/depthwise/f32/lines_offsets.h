/* struct dwconv_f32_lines, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_lines, rows, LINES_ROWS, 0);
OFFSET(dwconv_f32_lines, weights, LINES_WEIGHTS, 8);
OFFSET(dwconv_f32_lines, dst, LINES_DST, 16);
OFFSET(dwconv_f32_lines, column, LINES_COLUMN, 24);
OFFSET(dwconv_f32_lines, dst_column, LINES_DST_COLUMN, 32);
OFFSET(dwconv_f32_lines, dst_row, LINES_DST_ROW, 40);
OFFSET(dwconv_f32_lines, start, LINES_START, 48);
OFFSET(dwconv_f32_lines, count, LINES_COUNT, 56);
OFFSET(dwconv_f32_lines, down, LINES_DOWN, 64);
OFFSET(dwconv_f32_lines, rounds, LINES_ROUNDS, 72);
OFFSET(dwconv_f32_lines, edges, LINES_EDGES, 80);
OFFSET(dwconv_f32_lines, clamp, LINES_CLAMP, 88);
