/* Lists of the addresses of taps: of the same tap of eight pixels at a time, two in a vector, and
 * without a branch for the padding. */
#ifndef SRC_CONVOLUTION_TAP_LISTS_H
#define SRC_CONVOLUTION_TAP_LISTS_H

#include "src/convolution/address_pairs.h"
#include "src/convolution/convolution.h"

enum { TAP_LIST = 8, TAP_PAIRS = TAP_LIST / 2 };

/* A row of the kernel that lies in the padding. Taps and rows after it do, too. */
#define TAP_NOWHERE ((uint64_t)INT64_MAX)

/* Eight pixels: where their taps begin, as addresses and as coordinates in src. Both are numbers
 * that wrap around: coordinates before src are large ones. */
struct tap_lanes {
    uint64_t address[TAP_LIST], column[TAP_LIST], line[TAP_LIST];
};

/* What all lists of a plane of the kernel have in common. */
struct tap_grid {
    size_t taps;                   /* of a row of the kernel */
    pair height, width;            /* of src */
    pair line, column;             /* steps down and to the right */
    pair down, right;              /* the same in bytes */
    pair inner_line, inner_column; /* all taps are inside if the first one is before this place */
};

/* For so many rows of the kernel, and rows and columns of src that are so far apart. */
struct tap_grid tap_grid(const struct convolution_shape *s, size_t rows, neo_dim row_stride,
                         neo_dim column_stride);

/* Lists so many taps, from number `tap` of the first row of the kernel on; zeros stand for those
 * that are not inside. */
void tap_list(const struct tap_grid *grid, const struct tap_lanes *lanes, size_t tap, size_t count,
              const float *zeros, const float **out);

#endif
