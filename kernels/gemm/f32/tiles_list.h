/* The tiles of gemm.h before the last one, 8x12: KERNEL(mr, nr). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(4)
KERNELS_UP_TO_8(8)
KERNELS_UP_TO_7(12)
