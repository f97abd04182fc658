/* Depthwise convolution: the heights of tiles that kernels for columns of taps have. */
#ifndef KERNELS_DEPTHWISE_F32_HEIGHTS_H
#define KERNELS_DEPTHWISE_F32_HEIGHTS_H

#include <stddef.h>

enum { TILE_HEIGHTS = 4, TALLEST_TILE = 7 };
static const size_t tile_heights[TILE_HEIGHTS] = {TALLEST_TILE, 4, 2, 1};

/* Of the next tile, by its place in the list: the highest for so many rows, or the next higher one
 * if it does but two of the rows before, of `done`, again. A tile of one row waits for its own
 * sums: two of four rows are faster than seven rows and one. */
static inline size_t tile_heights_choose(size_t done, size_t left)
{
    size_t height = 0;
    if (left == TALLEST_TILE + 1)
        return 1;
    while (tile_heights[height] > left)
        height++;
    if (height == 0 || tile_heights[height] == left)
        return height;
    size_t again = tile_heights[height - 1] - left;
    return again <= 2 && again <= done ? height - 1 : height;
}

#endif
