/* struct winograd_f32_products, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(winograd_f32_products, k, TASK_K, 0);
OFFSET(winograd_f32_products, a, TASK_A, 8);
OFFSET(winograd_f32_products, b, TASK_B, 16);
OFFSET(winograd_f32_products, point, TASK_POINT, 24);
OFFSET(winograd_f32_products, c, TASK_C, 32);
OFFSET(winograd_f32_products, panel, TASK_PANEL, 40);
OFFSET(winograd_f32_products, panels, TASK_PANELS, 48);
OFFSET(winograd_f32_products, heights, TASK_HEIGHTS, 56);
OFFSET(winograd_f32_products, ahead_step, TASK_AHEAD_STEP, 64);
