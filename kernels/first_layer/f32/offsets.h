/* struct rowconv_f32_task, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(rowconv_f32_task, task, 0, 8, rows, channels, kernel_rows, weights, dst, pixel, channel);
OFFSETS(rowconv_f32_task, task, 56, 8, tiles, from, bias);
OFFSETS(rowconv_f32_task, task, 80, 4, low, high);
