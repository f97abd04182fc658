/* The tiles of tiles_neon.S, for C and assembly: KERNEL(pixels, columns). */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(4)
KERNELS_UP_TO_8(8)
KERNELS_UP_TO_4(12)
