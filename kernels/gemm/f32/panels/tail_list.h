/* Tiles of one panel of panels.h whose last vector has one to three columns, for C and assembly:
 * KERNEL(height, vectors, columns). Wherever a height is, all lower ones; beside other panels such
 * columns are worth too little, as are two or three beside whole vectors. */
#include "kernels/asm/up_to.h"

KERNELS_UP_TO_8(1, 1)
KERNELS_UP_TO_8(2, 1)
KERNELS_UP_TO_7(3, 1)
KERNELS_UP_TO_7(1, 2)
KERNELS_UP_TO_7(1, 3)
