/* The kernels of one small depth of gemm/f32/direct/direct.h, for C and assembly: KERNEL(depth,
 * width). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_4(4)
KERNELS_UP_TO_4(8)
KERNELS_UP_TO_4(12)
KERNELS_UP_TO_4(16)
