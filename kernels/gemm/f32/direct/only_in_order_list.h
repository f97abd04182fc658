/* Tiles that only cores that issue in order have kernels for, for C and assembly: KERNEL(height,
 * width, vectors, group). Others are given higher ones (gemm/f32/panels/list.h). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_2(2x8, 4, 2)
KERNEL(1, 3x12, 9, 3)
