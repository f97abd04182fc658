/* The tiles of panels.h, for C and assembly: KERNEL(height, full, middle, last).
 *
 * At most 24 sums, and wherever a height is, all lower ones. Panels by themselves, and two full
 * ones, are in gemm/f32/direct/direct.h. One row has those behind full ones with an even number of
 * these; with others it is as fast without. */
#include "kernels/asm/up_to.h"

KERNEL(1, 3, 0, 0)
KERNEL(1, 4, 0, 0)
KERNEL(1, 5, 0, 0)
KERNEL(1, 6, 0, 0)
KERNEL(1, 2, 0, 2)
KERNEL(1, 2, 2, 2)
KERNEL(1, 4, 0, 2)
KERNEL(2, 3, 0, 0)
KERNEL(2, 4, 0, 0)
KERNELS_UP_TO_6(0, 2, 2)
