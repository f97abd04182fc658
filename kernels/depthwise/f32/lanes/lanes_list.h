/* Kernels of how many rows, and at which stride, lanes_tiles_neon.S has functions for. */
KERNEL(1, 1)
KERNEL(2, 1)
KERNEL(3, 1)
KERNEL(5, 1)
KERNEL(7, 1)
KERNEL(2, 2)
KERNEL(3, 2)
