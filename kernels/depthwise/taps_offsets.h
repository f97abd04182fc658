/* struct depthwise_taps, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(depthwise_taps, pixels, TAPS_PIXELS, 0);
OFFSET(depthwise_taps, groups, TAPS_GROUPS, 8);
OFFSET(depthwise_taps, lines, TAPS_LINES, 40);
OFFSET(depthwise_taps, list, TAPS_LIST, 48);
OFFSET(depthwise_taps, offset, TAPS_OFFSET, 56);
OFFSET(depthwise_taps, weights, TAPS_WEIGHTS, 64);
OFFSET(depthwise_taps, start, TAPS_START, 72);
OFFSET(depthwise_taps, sums, TAPS_SUMS, 80);
OFFSET(depthwise_taps, row, TAPS_ROW, 88);
OFFSET(depthwise_taps, below, TAPS_BELOW, 104);
OFFSET(depthwise_taps, end, TAPS_END, 112);
OFFSET(depthwise_taps, height, TAPS_HEIGHT, 120);
OFFSET(depthwise_taps, list_below, TAPS_LIST_BELOW, 128);
