/* struct depthwise_taps, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(depthwise_taps, taps, 0, 8, pixels, groups);
OFFSETS(depthwise_taps, taps, 40, 8, lines, list, offset, weights, start, sums, row);
OFFSETS(depthwise_taps, taps, 104, 8, below, end, height, list_below);
