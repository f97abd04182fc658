/* The tiles of direct.h with four sums of each element, for C and assembly:
 * KERNEL(height, width). Wherever a height is, all lower ones. */
KERNEL(1, 4)
KERNEL(2, 4)
KERNEL(3, 4)
KERNEL(4, 4)
KERNEL(5, 4)
KERNEL(6, 4)
KERNEL(1, 8)
KERNEL(2, 8)
KERNEL(3, 8)
KERNEL(1, 12)
KERNEL(2, 12)
KERNEL(1, 16)
