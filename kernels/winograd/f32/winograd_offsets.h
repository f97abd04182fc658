/* struct winograd_f32_products, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(winograd_f32_products, task, 0, 8, k, a, b, point, c, panel, panels, heights);
OFFSETS(winograd_f32_products, task, 64, 8, ahead_step);
