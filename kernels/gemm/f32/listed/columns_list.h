/* The kernels of struct gemm_f32_listed_columns, for C and assembly: KERNEL(height, vectors,
 * columns).
 *
 * Wherever a height is, all lower ones are. One row more is worth hardly two percent, but seven or
 * more for six columns. */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_6(0, 1)
KERNELS_UP_TO_6(0, 2)
KERNELS_UP_TO_6(0, 3)
KERNELS_UP_TO_6(1, 1)
KERNELS_UP_TO_7(1, 2)
KERNELS_UP_TO_6(1, 3)
KERNELS_UP_TO_5(2, 1)
KERNELS_UP_TO_5(2, 2)
