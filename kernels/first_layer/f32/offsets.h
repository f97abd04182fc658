/* struct rowconv_f32_task, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(rowconv_f32_task, rows, TASK_ROWS, 0);
OFFSET(rowconv_f32_task, channels, TASK_CHANNELS, 8);
OFFSET(rowconv_f32_task, kernel_rows, TASK_KERNEL_ROWS, 16);
OFFSET(rowconv_f32_task, weights, TASK_WEIGHTS, 24);
OFFSET(rowconv_f32_task, dst, TASK_DST, 32);
OFFSET(rowconv_f32_task, pixel, TASK_PIXEL, 40);
OFFSET(rowconv_f32_task, channel, TASK_CHANNEL, 48);
OFFSET(rowconv_f32_task, tiles, TASK_TILES, 56);
OFFSET(rowconv_f32_task, from, TASK_FROM, 64);
OFFSET(rowconv_f32_task, bias, TASK_BIAS, 72);
OFFSET(rowconv_f32_task, low, TASK_LOW, 80);
OFFSET(rowconv_f32_task, high, TASK_HIGH, 84);
