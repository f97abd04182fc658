/* struct dwconv_f32_copied, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(dwconv_f32_copied, taps, COPIED_TAPS_LIST, 0);
OFFSET(dwconv_f32_copied, rows, COPIED_ROWS, 16);
OFFSET(dwconv_f32_copied, row, COPIED_ROW, 32);
OFFSET(dwconv_f32_copied, last, COPIED_LAST, 48);
OFFSET(dwconv_f32_copied, count, COPIED_COUNT, 64);
OFFSET(dwconv_f32_copied, clamps, COPIED_CLAMPS, 72);
OFFSET(dwconv_f32_copied, bias, COPIED_BIAS, 80);
OFFSET(dwconv_f32_copied, low, COPIED_LOW, 112);
