/* Matrix multiplication in place: the parts of its plan, which several files share. */
#ifndef SRC_MATMUL_DIRECT_H
#define SRC_MATMUL_DIRECT_H

#include "kernels/gemm_f32_direct.h"
#include "src/matmul/batch.h"

enum { MAX_RUNS = 8, MAX_HEIGHT = 8, MAX_CALLS = 8 };

/* Strips next to each other of the same kind. */
struct strips {
    uint32_t count;
    uint8_t vectors, group, lanes, height; /* height: the largest */
    uint8_t depth;                         /* 0, or that of kernels for one small depth */
    size_t b_step;                         /* from one strip's weights to the next */
};

/* All strips of a matrix. */
struct columns {
    struct strips runs[MAX_RUNS];
    size_t run_count, strip_count;
};

/* How the rows of a strip are divided: tiles of equal heights as far as possible, and below them
 * tiles that are one row lower. */
struct tiling {
    gemm_f32_direct_fn *tall, *low;
    size_t tall_tiles, low_tiles; /* tall_tiles >= 1 */
    size_t low_row;
};

/* One call of a kernel: offsets in elements from where a matrix begins. */
struct call {
    gemm_f32_direct_fn *run;
    size_t a, b, c, column;
    struct gemm_f32_direct strip;
};

struct matmul_direct {
    size_t batch, m, n, k;
    size_t matrix_elements; /* of packed weights */
    struct columns columns;
    struct matmul_steps steps;
    bool constant_steps;
    bool packed, bias_fused, finish; /* finish: lines still need bias or post-operations */
    struct gemm_f32_direct strip;    /* what all strips have in common; packed weights: not ldb */
    struct call calls[MAX_CALLS];    /* all of a small matrix, */
    size_t call_count;               /* or 0 */
    const char *kernel;
    struct tiling tilings[MAX_RUNS];       /* of m rows */
    uint8_t kernels[MAX_RUNS][MAX_HEIGHT]; /* numbers in gemm_f32_direct_kernels */
};

/* direct_columns.c: the strips that cost least, and the cycles they take. Sizes are at least 1. */
double direct_columns_choose(struct columns *best, const struct core *core, size_t m, size_t n,
                             size_t k, bool packed);

/* A single ragged strip becomes a whole one and a ragged vector, which has a left neighbour. */
void direct_columns_split(struct columns *columns, const struct core *core);

/* matmul_direct.c: the tiles of so many rows, in the plan's strips number r. */
void direct_tile_rows(struct tiling *out, const struct matmul_direct *plan, size_t r, size_t rows);

/* What depends on the kind of strip. */
static inline void direct_set_kind(struct gemm_f32_direct *strip, const struct matmul_direct *plan,
                                   const struct strips *kind)
{
    strip->lanes = kind->lanes;
    strip->special = plan->strip.special | (kind->lanes < 4);
    if (plan->packed)
        strip->ldb = 4u * kind->group;
}

/* direct_run.c */
void direct_run(const void *plan, const struct execution *execution);

#endif
