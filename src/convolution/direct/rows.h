/* Convolution of few input channels: what its parts share. What they do is told in
 * rows.c. */
#ifndef SRC_CONVOLUTION_ROWS_H
#define SRC_CONVOLUTION_ROWS_H

#include "kernels/first_layer/f32/rowconv.h"
#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"
#include "src/tensor/layout.h"

enum { ROWS_PANEL_WIDTHS = LAYOUT_PANEL / 4 };

struct convolution_rows {
    struct convolution_shape shape;
    struct layout_shape weights;
    rowconv_f32_fn *run[ROWS_PANEL_WIDTHS]; /* by width / 4 - 1 */
    copy_f32_fn *copy;
    const char *kernel;
    const struct cpu *cpu;
    float low, high;
    bool planes;   /* pixels of dst, or of the staged sums, are contiguous; else channels are */
    bool staged;   /* sums of a row are in the scratchpad until they are finished */
    bool finishes; /* there is more to do than a bias and a clamp */
    size_t tiles;  /* of a row of dst; */
    size_t part;   /* so many that all panels come for before the next ones */
    size_t pixel, channel;           /* strides of what the kernel writes */
    size_t ring, row_floats;         /* rows of source, and their padded length */
    size_t packed_bytes, bias_bytes; /* of the scratchpad; then for each task: */
    size_t held_bytes, table_bytes, ring_bytes, stage_bytes, task_bytes;
};

void rows_run(const void *plan, const struct execution *execution);

#endif
