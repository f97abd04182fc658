/* The kernels of struct gemm_f32_listed_columns, for C and assembly: KERNEL(height, vectors,
 * columns).
 *
 * As high as registers allow, and wherever a height is, all lower ones. */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_6(0, 1)
KERNELS_UP_TO_6(0, 2)
KERNELS_UP_TO_6(0, 3)
KERNELS_UP_TO_6(1, 1)
KERNELS_UP_TO_6(1, 2)
KERNELS_UP_TO_6(1, 3)
