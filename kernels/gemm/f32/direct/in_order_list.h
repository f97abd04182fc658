/* The tiles for cores that issue in order, for C and assembly: KERNEL(height, width, vectors,
 * group). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(4, 1, 1)
KERNELS_UP_TO_8(8, 2, 2)
KERNELS_UP_TO_6(12, 3, 3)
KERNELS_UP_TO_4(16, 4, 4)
#include "kernels/gemm/f32/direct/only_in_order_list.h"
KERNELS_UP_TO_2(2x12, 6, 3)
KERNEL(1, 2x16, 8, 4)
