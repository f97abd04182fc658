/* The tiles of direct.h with four sums of each element, for C and assembly:
 * KERNEL(height, width). Wherever a height is, all lower ones. */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_6(4)
KERNELS_UP_TO_3(8)
KERNELS_UP_TO_2(12)
KERNEL(1, 16)
