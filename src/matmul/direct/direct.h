/* Matrix multiplication in place: the parts of its plan, which several files share. */
#ifndef SRC_MATMUL_DIRECT_DIRECT_H
#define SRC_MATMUL_DIRECT_DIRECT_H

#include "kernels/gemm/f32/panels/panels.h"
#include "kernels/pack/f32/pack.h"
#include "src/core/checked.h"
#include "src/matmul/batch.h"

enum { MAX_RUNS = 6, MAX_HEIGHT = 8, MAX_CALLS = 8, MAX_TURNED_COLUMNS = 16 };
enum { ROOM_ON_STACK = 512 }; /* values of a strip of turned weights, or of copied rows */

/* Strips next to each other of the same kind: a single panel of packed weights or so many columns
 * of plain ones, or several panels. */
struct strips {
    uint32_t count;
    struct gemm_f32_panels panels;         /* all 0: not several */
    uint8_t vectors, group, lanes, height; /* height: the largest */
    uint8_t depth;                         /* 0, or that of kernels for one small depth */
    bool has_parts;                        /* kernels have four sums of each element */
    bool a_columns;                        /* kernels read columns of src */
    size_t b_step;                         /* from one strip's weights to the next */
};

/* All strips of a matrix. */
struct columns {
    struct strips runs[MAX_RUNS];
    size_t run_count, strip_count;
    bool a_columns;
};

/* How the rows of a strip are divided: tiles of equal heights as far as possible, and below them
 * tiles that are one row lower, by the same call or one of their own. */
struct tiling {
    gemm_f32_direct_fn *tall, *low;
    size_t tall_tiles;             /* >= 1 */
    uint32_t same_call, low_tiles; /* low ones: fewer than a tile has rows; those of another call */
    size_t low_row, low_a;         /* begin here: in dst's rows, and src's elements */
};

/* One call of a kernel: offsets in elements from where a matrix begins. */
struct call {
    gemm_f32_direct_fn *run;
    size_t a, b, c, column;
    struct gemm_f32_direct strip;
};

/* What decides about strips. */
struct direct_shape {
    size_t m, n, k, l1_bytes;
    bool panels;    /* weights are packed */
    bool a_columns; /* src's columns are contiguous, not its rows */
    bool b_leaves;  /* the L1 cache before the next tile: a strip of plain weights */
    bool b_runs;    /* panels, or rows so short that a strip reads lines one after the other */
    bool turned;    /* each strip of plain weights is packed: their columns are contiguous, not
                     * their rows, or these are too short */
};

/* How strips go through k: so many steps of it for all strips before the next ones, from rows of
 * src or from copies of them. */
struct passes {
    size_t depth; /* k: one pass */
    bool copies;  /* rows lie side by side then, as long as a pass is deep */
};

/* overlaps: a ragged strip of plain weights, always the last one, begins so many columns before its
 * place that it is a whole one, and computes these once more. It does so in every call: a ragged
 * one may add up sums in another order, or zeros of other signs. */
struct matmul_direct {
    size_t count, m, n, k; /* count: matrices */
    size_t chunk;          /* rows that all strips come for before the next ones; m: all */
    struct passes passes;
    struct columns columns;
    struct matmul_batch batch;
    bool packed, bias_fused, finish; /* finish: lines still need bias or post-operations */
    bool overlaps;
    bool a_columns, turned;       /* as in direct_shape */
    size_t a_row;                 /* from a row that kernels read to the next, */
    size_t src_row;               /* from a row of src, and */
    size_t b_row, b_column;       /* from a row or column of turned weights */
    struct gemm_f32_direct strip; /* what all strips have in common; packed weights: not ldb */
    struct call calls[MAX_CALLS]; /* all of a small matrix, */
    size_t call_count;            /* or 0 */
    gemm_f32_direct_fn *only;     /* the kernel of a single call that is all, or NULL */
    const char *kernel;
    struct tiling tilings[MAX_RUNS];        /* of m rows */
    uint16_t kernels[MAX_RUNS][MAX_HEIGHT]; /* numbers in the list of their way */
};

/* columns.c: the strips that cost least, and the cycles they take. Sizes are at least 1. */
double direct_columns_choose(struct columns *best, const struct core *core,
                             const struct direct_shape *shape);

/* A single ragged strip becomes a whole one and a ragged vector, which has a left neighbour. */
void direct_columns_split(struct columns *columns, const struct core *core);

/* The tiles of so many rows, in the plan's strips number r. */
void direct_tile_rows(struct tiling *out, const struct matmul_direct *plan, size_t r, size_t rows);

static inline bool direct_has_panels(const struct strips *strips)
{
    return gemm_f32_panels_vectors(strips->panels) > 0;
}

/* What their tiles have in common. */
static inline struct gemm_f32_kind direct_kind(const struct strips *strips)
{
    int has_panels = direct_has_panels(strips);
    return (struct gemm_f32_kind){
        .way = strips->a_columns   ? GEMM_F32_COLUMNS
               : has_panels        ? GEMM_F32_PANELS
               : strips->has_parts ? GEMM_F32_PARTS
               : strips->depth     ? GEMM_F32_SHALLOW
                                   : GEMM_F32_ROWS,
        .vectors = strips->vectors,
        .group = has_panels ? 3 : strips->group,
        .depth = strips->depth,
        .panels = strips->panels,
    };
}

/* Packed columns of several widths side by side are found from k, so that no part of it can be
 * taken by itself. */
static inline bool direct_is_divisible(const struct strips *strips)
{
    return strips->panels.middle == 0 && strips->panels.last == 0;
}

/* Do strips come for parts of k, or for copies of rows? */
static inline bool direct_has_passes(const struct matmul_direct *plan)
{
    return plan->passes.depth < plan->k || plan->passes.copies;
}

/* How many columns before their place such strips begin. */
static inline size_t direct_overlap(const struct matmul_direct *plan, const struct strips *strips)
{
    return plan->overlaps ? 4u - strips->lanes : 0;
}

static inline const struct gemm_f32_direct_kernel *direct_tile(const struct strips *strips,
                                                               size_t number)
{
    return &gemm_f32_direct_lists[direct_kind(strips).way].kernels[number];
}

/* What depends on the kind of strip. */
static inline void direct_set_kind(struct gemm_f32_direct *strip, const struct matmul_direct *plan,
                                   const struct strips *kind)
{
    strip->lanes = kind->lanes;
    strip->special = plan->strip.special | (kind->lanes < 4 ? GEMM_F32_SPECIAL_LANES : 0);
    if (plan->packed || plan->turned)
        strip->ldb = 4u * (direct_has_panels(kind) ? plan->k : kind->group);
    if (plan->packed)
        strip->gap = 4u * kind->group * plan->k;
    strip->panels = kind->panels;
}

/* The scratchpad of one task: room for a strip of turned weights, or for copied rows, if that is
 * too large for the stack. */
static inline size_t direct_room_bytes(const struct matmul_direct *plan)
{
    size_t values = plan->turned          ? plan->k * MAX_TURNED_COLUMNS
                    : plan->passes.copies ? plan->m * plan->passes.depth
                                          : 0;
    return values > ROOM_ON_STACK ? round_up(values * sizeof(float), 64) : 0;
}

/* run.c */
run_fn direct_run;
run_fn *direct_run_alone(const void *plan);

#endif
