/* More tiles for cores that issue in order, of several groups: KERNEL(name, height, vectors,
 * group). */
KERNEL(1x2x8, 1, 4, 2)
KERNEL(2x2x8, 2, 4, 2)
KERNEL(1x2x12, 1, 6, 3)
KERNEL(2x2x12, 2, 6, 3)
KERNEL(1x3x12, 1, 9, 3)
KERNEL(1x2x16, 1, 8, 4)
