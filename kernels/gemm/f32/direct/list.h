/* The tiles of direct.h, for C and assembly: KERNEL(height, width, vectors, group). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(4, 1, 1)
KERNELS_UP_TO_8(8, 2, 2)
KERNELS_UP_TO_7(12, 3, 3)
KERNELS_UP_TO_5(16, 4, 4)
KERNELS_UP_TO_4(2x12, 6, 3)
KERNELS_UP_TO_3(2x16, 8, 4)
KERNEL(1, 3x16, 12, 4)
