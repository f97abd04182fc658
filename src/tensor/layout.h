/* Packed layouts of weights: what is where in them.
 *
 * All f32 GEMM-like algorithms read panels of GEMM_F32_NR columns: for a matrix of K rows and N
 * columns, the columns are divided into panels (layout_panel()), and a panel of width w holds its K
 * × w elements row by row; columns beyond N are 0. Panels follow one another. The last N % 4
 * columns come once more after them, one by one, for kernels that multiply several steps of k at a
 * time: vectors that they do not fill would be multiplied for nothing. (Not in weights that are
 * transformed.) The matrices of a batch, or of the groups of a convolution, follow one another,
 * too. There may be a gap of zeros after each (layout_shape.step). */
#ifndef SRC_TENSOR_LAYOUT_H
#define SRC_TENSOR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "neoprene/memory.h"

enum { LAYOUT_PANEL = 12, LAYOUT_ALIGNMENT = 64 };

/* Identifiers are for ever: a changed arrangement gets a new version. */
enum layout_id {
    LAYOUT_NONE,
    LAYOUT_MATMUL_F32,      /* … × K × N: one matrix per batch index */
    LAYOUT_CONVOLUTION_F32, /* (G ×) O × I × space: K is space (outer) × I, N is O, one matrix a
                               group */
    LAYOUT_DEPTHWISE_F32,   /* G × 1 × 1 × space: space × G, one row of G channels a tap */
    /* (1 ×) O × I (× H) × W, H and W 3 or 1 but not both 1, transformed for F(m, 3) in the
     * dimensions of 3, m = 2, 4, 6: K is I, N is O, one matrix for each of the points, m + 2 in
     * such a dimension */
    LAYOUT_WINOGRAD_2_F32,
    LAYOUT_WINOGRAD_4_F32,
    LAYOUT_WINOGRAD_6_F32,
    LAYOUT_MATMUL_TYPED = 64,      /* + GEMM_…: see typed_layout.h */
    LAYOUT_CONVOLUTION_TYPED = 96, /* the same */
    LAYOUT_MATMUL_BLOCKS = 128,    /* + …: see block_layout.h */
    LAYOUT_DEPTHWISE_TYPED = 192,  /* + …: see depthwise_layout.h */
};

/* Is the id one of those that f32 is multiplied from, by algorithms of f32 alone? */
static inline bool layout_is_f32(uint16_t id)
{
    return id >= LAYOUT_MATMUL_F32 && id <= LAYOUT_WINOGRAD_6_F32;
}

/* The matrices that a packed descriptor stands for, but for depthwise_layout.h's. */
struct layout_shape {
    size_t matrices, k, n;
    size_t columns; /* n with the padding of the panels */
    size_t step;    /* elements from a matrix to the next one: at least k × columns, and with those
                     * that come once more k × layout_all_columns() */
};

/* Panel number index of n columns: first column, how many are valid, and how many it has with
 * padding. Full panels have LAYOUT_PANEL columns; the rest becomes panels of 12, 8 or 4, of which
 * only the last has padding, three columns at most. */
struct layout_panel {
    size_t first, valid, width;
};
size_t layout_panel_count(size_t n);
size_t layout_full_panels(size_t n); /* of LAYOUT_PANEL columns without padding; they are first */
struct layout_panel layout_panel(size_t n, size_t index);

/* Panels whose vectors have `unit` times as many columns: those of n / unit columns, rounded up,
 * where each of these is so many of n. */
static inline struct layout_panel layout_widen(struct layout_panel panel, size_t n, size_t unit)
{
    size_t first = panel.first * unit, valid = panel.valid * unit, rest = n - first;
    return (struct layout_panel){first, valid < rest ? valid : rest, panel.width * unit};
}

static inline struct layout_panel layout_full_panel(size_t index)
{
    return (struct layout_panel){index * LAYOUT_PANEL, LAYOUT_PANEL, LAYOUT_PANEL};
}

/* The same for panels that are not kept, where none of them should have one vector only: however
 * many columns there are, they end as few columns do. */
size_t layout_wide_panel_count(size_t n);
size_t layout_wide_full_panels(size_t n);
struct layout_panel layout_wide_panel(size_t n, size_t index);

/* The place of a panel in its matrix, in columns of k elements: the padded columns before it. */
size_t layout_panel_offset(size_t n, size_t index);

/* The columns that come once more, and the place of the first one. */
static inline size_t layout_tail_columns(size_t n)
{
    return n % 4;
}
size_t layout_tail_offset(size_t n);

/* All columns: with padding, and those that come once more. */
size_t layout_all_columns(size_t n);

/* Points along a dimension of more than one tap in a layout for Winograd's algorithm, m + 2 for m
 * outputs of three taps; 0 for others. */
static inline size_t layout_winograd_points(enum layout_id id)
{
    return id == LAYOUT_WINOGRAD_2_F32   ? 4
           : id == LAYOUT_WINOGRAD_4_F32 ? 6
           : id == LAYOUT_WINOGRAD_6_F32 ? 8
                                         : 0;
}

/* How many dimensions of three, five or seven taps such weights have, as many in each: one or two;
 * 0: no layout of Winograd's algorithm is for them. */
int layout_winograd_dimensions(const neo_memory_desc *weights, bool grouped);

/* Their taps: 3, 5 or 7. */
size_t layout_winograd_taps(const neo_memory_desc *weights);

/* NULL, or why this layout of Winograd's algorithm is not for them. */
const char *layout_winograd_refuse(enum layout_id id, const neo_memory_desc *weights, bool grouped);

/* NULL, or what is wrong with a packed descriptor's layout. */
const char *layout_wrong(const neo_memory_desc *desc);

struct layout_shape layout_shape(const neo_memory_desc *desc);

/* Elements from a point of Winograd's weights to the next one; SIZE_MAX: too many. */
size_t layout_winograd_step(size_t ic, size_t oc);

/* The exact bytes; desc is well formed. */
size_t layout_bytes(const neo_memory_desc *desc);

/* Makes an `any` descriptor packed. */
void layout_set(neo_memory_desc *desc, enum layout_id id, bool grouped);

#endif
