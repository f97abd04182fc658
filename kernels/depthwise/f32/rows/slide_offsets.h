/* struct dwconv_f32_slide, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_slide, job, 0, 8, rows, weights, bias, dst, column, dst_column, dst_row);
OFFSETS(dwconv_f32_slide, job, 56, 8, weights_tap, groups, out_rows, start, rounds, entry, edges);
OFFSETS(dwconv_f32_slide, job, 112, 8, bias_next, clamp);
