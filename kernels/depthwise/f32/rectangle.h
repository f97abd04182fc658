/* Depthwise 3x3 convolution of planes (nchw): some columns of rows of dst whose outputs all have
 * the same taps.
 *
 * A tile has one to three rows that are a dilation apart: neighbours of them share rows of source,
 * each of which is loaded once, so that three rows with all taps load five vectors for nine
 * multiply-adds. */
#ifndef KERNELS_DEPTHWISE_F32_RECTANGLE_H
#define KERNELS_DEPTHWISE_F32_RECTANGLE_H

#include <stddef.h>

enum { RECTANGLE_KERNEL = 3, RECTANGLE_VECTORS = 4, RECTANGLE_ROWS = 3 };

/* Tiles by what they have along the height: one row of dst with 1 … 3 taps, then two rows and
 * three, each with all rows of source, without the last one, without the first one, and with
 * neither. */
enum {
    RECTANGLE_ONE_ROW = 0,
    RECTANGLE_MORE_ROWS = RECTANGLE_KERNEL,
    RECTANGLE_ENDS = 4,
    RECTANGLE_HEIGHTS = RECTANGLE_MORE_ROWS + (RECTANGLE_ROWS - 1) * RECTANGLE_ENDS
};

/* What all tiles of a plane share; the assembly knows the offsets, here and below, and all
 * distances are in bytes. */
struct dwconv_f32_rectangle {
    const float *src;               /* the first tap of output 0, if it exists */
    float *dst;                     /* of output 0 */
    ptrdiff_t src_apart, dst_apart; /* rows that are a dilation apart */
    ptrdiff_t tap_column;
    const float *limits; /* low and high; NULL: none */
    float bias[8];       /* the same value */
    /* three rows from any of them on are read as vectors, whose last values are not used */
    float weights[(2 * RECTANGLE_KERNEL - 1) * RECTANGLE_KERNEL + 1];
};

/* Code for tiles below each other, of 1, 2 or RECTANGLE_VECTORS vectors. Only strips know its
 * address, and only other such code goes there. */
typedef void dwconv_f32_rectangle_code(void);

struct dwconv_f32_rectangle_strip {
    dwconv_f32_rectangle_code *code;
    ptrdiff_t src,
        dst; /* from those of the job to the first row of source that exists, and of dst */
    size_t tiles, last; /* where the last vector begins, which may overlap the one before; of four
                         * vectors the last two */
    ptrdiff_t src_row; /* from the last column of a tile's taps to the first one of the next tile */
    ptrdiff_t dst_row; /* from a tile to the next */
    size_t weights;    /* of the job: of its RECTANGLE_KERNEL rows, or of its taps, what is as far
                        * before the first one as missing_columns says */
    size_t missing_columns; /* of RECTANGLE_KERNEL: the last ones are as many as there are taps */
};

/* Where the code for 1, 2 or RECTANGLE_VECTORS vectors begins, for all columns of taps and for
 * fewer; then that for one vector of two columns. */
enum { RECTANGLE_TWO_COLUMNS = 2 * 3, RECTANGLE_WIDTHS };

/* Three vectors are four, of which the last two overlap the first ones. */
static inline size_t rectangle_width(size_t vectors, size_t taps)
{
    if (vectors == 1 && taps == 2)
        return RECTANGLE_TWO_COLUMNS;
    return (vectors > 2 ? 2 : vectors - 1) * 2 + (taps < RECTANGLE_KERNEL);
}

/* By heights (see above), and rectangle_width(). */
extern dwconv_f32_rectangle_code *const dwconv_f32_rectangles[RECTANGLE_HEIGHTS][RECTANGLE_WIDTHS];

/* The last strip has the code dwconv_f32_rectangle_end. */
void dwconv_f32_rectangle_run(const struct dwconv_f32_rectangle *job,
                              const struct dwconv_f32_rectangle_strip *strips);
dwconv_f32_rectangle_code dwconv_f32_rectangle_end;

#endif
