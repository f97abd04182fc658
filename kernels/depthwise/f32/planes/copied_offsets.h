/* struct dwconv_f32_copied, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(dwconv_f32_copied, job, 0, 8, taps, weights, rows, dst, row, dst_row, last);
OFFSETS(dwconv_f32_copied, job, 64, 8, count, clamps, bias);
OFFSETS(dwconv_f32_copied, job, 112, 8, low);
