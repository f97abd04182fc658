/* Depthwise 3x3 of stride 2 by tiles whose lines of channels stay in few places of the L1 cache:
 * what the assembly wants to know. */
#ifndef KERNELS_DEPTHWISE_F32_LINES_H
#define KERNELS_DEPTHWISE_F32_LINES_H

#include <stddef.h>

#include "kernels/depthwise/f32/bands.h"

/* Two rows (or one) of some columns of dst, sixteen channels: a line of the cache. Registers have
 * room for half of them; so four columns of source are added to the sums of one half, then to those
 * of the other half, before the next four: their lines are read again while only as many others,
 * and a few of dst, have come since. Weights are read for each of these parts, from a copy that
 * lies together.
 *
 * The assembly knows the offsets: everything is a word of eight bytes. Distances are in bytes. */
enum { LINES_CHANNELS = 16, LINES_TAPS = 9, LINES_COPY = LINES_CHANNELS * (LINES_TAPS + 1) };

/* Bits: the first or the last column of source is padding; the number of columns of dst is odd. */
enum { LINES_LEFT = 1, LINES_RIGHT = 2, LINES_ODD = 4 };

struct dwconv_f32_lines {
    const float *const *rows; /* of source, of the first tile */
    const float *weights;     /* of each line, of each half: nine taps and the bias */
    float *dst;
    size_t column, dst_column, dst_row;
    size_t start;  /* from a row to the first column that exists */
    size_t count;  /* of lines */
    size_t down;   /* tiles */
    size_t rounds; /* columns of dst / 2 - 1 */
    size_t edges;
    const float *clamp; /* four times low, four times high */
};

typedef void dwconv_f32_lines_fn(const struct dwconv_f32_lines *job);

/* By the number of rows - 1 and what is left out (TILE_*); NULL: there is none. */
extern dwconv_f32_lines_fn
    *const dwconv_f32_lines_functions[2 /* clamps */][TILES_HEIGHTS][TILES_ROWS_LEFT_OUT];

/* Dense tasks: `lines` of channels, from c on. Rows of padding are NULL; one at either end is left
 * out. 0: nothing was done, for there are no tiles for these rows or columns. */
int dwconv_f32_lines_run(const struct dwconv_f32_task *task, const float *const *rows, size_t c,
                         size_t lines);

#endif
