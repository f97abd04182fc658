/* The tiles of tiles_in_order_neon.S, for C and assembly: KERNEL(pixels, columns).
 * Narrow cores have no tile of 8 x 8: two registers for a pixel's channels leave too few for
 * sums; and one or two pixels have too few multiply-adds for what these cores load meanwhile. */
KERNEL(3, 4)
KERNEL(4, 4)
KERNEL(5, 4)
KERNEL(6, 4)
KERNEL(7, 4)
KERNEL(8, 4)
KERNEL(3, 8)
KERNEL(4, 8)
KERNEL(5, 8)
KERNEL(6, 8)
KERNEL(7, 8)
