/* Convolution of a few pixels of all groups at a time: what its parts share. What they do is told
 * in indirect.c. */
#ifndef SRC_CONVOLUTION_INDIRECT_H
#define SRC_CONVOLUTION_INDIRECT_H

#include "kernels/indirect/f32/indirect.h"
#include "kernels/pack/f32/copy.h"
#include "src/convolution/convolution.h"
#include "src/convolution/tap_lists.h"
#include "src/tensor/layout.h"

enum { INDIRECT_PANELS = 3 }; /* of a group, most of which have few channels */
enum { MOST_PIECES = 32 };

struct convolution_indirect {
    struct convolution_shape shape;
    size_t taps, channels, outputs; /* channels and outputs: of all groups */
    struct span reached;            /* of the taps: the others lie in the padding always */
    struct layout_shape weights;
    size_t panel_count;
    struct layout_panel panels[INDIRECT_PANELS]; /* the first ones, and where their weights are */
    size_t panel_values[INDIRECT_PANELS];
    const struct indirect_f32_kernel *kernel;
    size_t piece; /* pixels of dst, at most */
    copy_f32_fn *copy;
    const struct cpu *cpu;
    float low, high;
    bool crosses_rows;        /* a piece may have pixels of more than one */
    bool gathers;             /* rows of source are transposed */
    bool staged;              /* sums are in the scratchpad until they are finished */
    bool finishes;            /* there is more to do than a bias and a clamp */
    size_t rows, source_rows; /* of dst, done together; of source, that these need */
    size_t pieces;            /* at most, for which so many groups come before the next ones, */
    size_t groups_together;   /* as their weights stay in the L1 cache until then */
    size_t packed_bytes;      /* of the scratchpad; then for each task: */
    size_t pixel_bytes, zero_bytes, stage_bytes, task_bytes;
};

/* Up to eight pixels of dst that follow each other, from the one at `at` on. */
struct piece {
    neo_dim n, at[SPACE];
    size_t count;
};

/* One with the addresses of its pixels' taps, and where its results go. */
struct listed_piece {
    struct piece piece;
    struct indirect_f32_tile tile;
    float *values, *dst;
};

struct run {
    const struct convolution_indirect *plan;
    const struct execution *execution;
    const float *weights;
};

/* One task's parts of the scratchpad, and where the source of its rows is: row `top` of it is at
 * origin. */
struct task {
    const struct run *run;
    const float **pixels;
    float *zeros, *stage, *source;
    const float *origin;
    neo_dim top, row_stride, column_stride;
    struct tap_grid grid;
    struct listed_piece *pieces; /* that are not computed yet, MOST_PIECES at most */
    size_t piece_count;
};

/* Rows of src with its padding that rows of dst reach. */
static inline size_t indirect_reached_rows(const struct convolution_shape *s, size_t rows)
{
    return (rows - 1) * (size_t)s->stride[HEIGHT] +
           (size_t)((s->kernel[HEIGHT] - 1) * s->dilation[HEIGHT]) + 1;
}

/* Where the weights of a panel begin, at the first tap that is reached. */
static inline size_t indirect_panel_values(const struct convolution_indirect *plan, size_t panel)
{
    const struct layout_shape *weights = &plan->weights;
    size_t skipped = plan->reached.begin * (size_t)plan->shape.ic;
    return layout_panel_offset(weights->n, panel) * weights->k +
           skipped * layout_panel(weights->n, panel).width;
}

void indirect_run(const void *plan, const struct execution *execution);

/* Lists the addresses of all taps of a piece's pixels. */
void indirect_list_pixels(const struct task *task, const struct piece *piece, const float **out);

#endif
