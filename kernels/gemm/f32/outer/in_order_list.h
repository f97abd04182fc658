/* The tiles of list.h that cores which issue in order have their own for, for C and assembly:
 * KERNEL(height, width). */
KERNEL(4, 8)
KERNEL(5, 8)
KERNEL(6, 8)
KERNEL(7, 8)
KERNEL(8, 8)
KERNEL(4, 12)
KERNEL(5, 12)
KERNEL(6, 12)
KERNEL(7, 12)
KERNEL(8, 12)
