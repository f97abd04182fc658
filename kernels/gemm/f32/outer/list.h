/* The tiles of direct.h that read columns of A, for C and assembly: KERNEL(height, width). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(4)
KERNELS_UP_TO_8(8)
KERNELS_UP_TO_8(12)
KERNELS_UP_TO_4(16)
