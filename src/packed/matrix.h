/* Plain weights as a matrix: its columns are lanes, its rows channels, or taps (outer) by channels
 * for a convolution. */
#ifndef SRC_PACKED_MATRIX_H
#define SRC_PACKED_MATRIX_H

#include <stdbool.h>

#include "neoprene/memory.h"
#include "src/packed/side.h"

enum { MATRIX_TAP_DIMS = 3 };
struct weights_matrix {
    size_t taps, channels;
    neo_dim lane, channel; /* strides in elements */
    neo_dim tap_count[MATRIX_TAP_DIMS], tap[MATRIX_TAP_DIMS];
};

/* Of the last two dimensions, or of (groups ×) lanes × channels × space. */
struct weights_matrix weights_matrix_of(const neo_memory_desc *plain);
struct weights_matrix weights_matrix_of_convolution(const neo_memory_desc *plain, bool grouped);

/* Rows [row, row + depth) of columns [first, first + lanes): panel element (i, p) is that of column
 * first + i and row `row` + p. data: the tensor's first element; matrix: the offset of the
 * matrix's. Packing adds to sums, if they are not NULL. */
struct weights_panel {
    void *data;
    neo_dim matrix;
    size_t first, lanes, width, row, depth;
    void *panel;
    int32_t *sums;
};
void weights_matrix_pack(const struct weights_matrix *matrix, const struct gemm_side *side,
                         const struct weights_panel *panel);

/* Back into elements of type `to`, which panels of `type` hold. */
void weights_matrix_unpack(const struct weights_matrix *matrix, const struct gemm_type *type,
                           neo_data_type to, const struct weights_panel *panel);

#endif
