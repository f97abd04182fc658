/* C = A B, f32, from matrices as they lie: rows of A and rows of B are read in place, one strip of
 * C's columns at a time. For products that are too small, or have too few rows, for packing to pay.
 */
#ifndef KERNELS_GEMM_F32_DIRECT_DIRECT_H
#define KERNELS_GEMM_F32_DIRECT_DIRECT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

/* Panels of packed weights side by side: `full` ones of 12 columns, then one of 4 * middle and one
 * of 4 * last, unless these are 0. tail: the last vector has so many columns, and a kernel for
 * them; or 0. */
struct gemm_f32_panels {
    uint8_t full, middle, last, tail;
};

/* For i < tiles * height, and kernels that go on lower for as many more as low_tiles tiles of one
 * row less have, j < 4 * vectors, with k = 4 * rounds + tail:
 *
 *   sum = A(i, 0) * B(0, j), or 0 if k is 0
 *   for 0 < p < k in this order:  sum = fma(A(i, p), B(p, j), sum)
 *   C(i, j) = min(max(sum + (adds ? C(i, j) : 0) + (bias ? bias[j] : 0), low), high)
 *
 *   A(i, p) = a[i * lda + p]
 *   B(p, j) = b[p * ldb + j], but columns come in groups of 4 * group (the kernel's), and column j
 * of group g is at b[p * ldb + g * gap + j]: the panels of packed weights
 *   C(i, j) = c[i * ldc + j], stored for j < 4 * (vectors - 1) + lanes only
 *
 * If b_tail is not NULL the last `tail` rows of B are b_tail[(p - 4 * rounds) * tail_ldb + j]: rows
 * of an array that ends before the last vector does have to be copied. Kernels of more than one
 * group, or more than four vectors, take no b_tail. B and bias are read in full, A exactly. With
 * GEMM_F32_SPECIAL_ADDS a product may be made of parts of k, one call each; lanes is 4 then.
 * Kernels of one small depth, of columns of A or with a tail have no such calls.
 *
 * Kernels with four parts add what rounds multiply to four sums in turn, and the first of the steps
 * before them to the first one; then (1 + 2) + (3 + 4), and to that what comes after rounds. */
enum {
    GEMM_F32_SPECIAL_SUMS = 1,  /* bias or b_tail is not NULL, clamp is not 0, or C is added */
    GEMM_F32_SPECIAL_LANES = 2, /* lanes is not 4 */
    GEMM_F32_SPECIAL_ADDS = 4   /* what is in C is added */
};
struct gemm_f32_direct {
    size_t lda, ldc, ldb;
    size_t tiles;        /* >= 1 */
    size_t rounds, tail; /* tail <= 4 */
    size_t special;      /* GEMM_F32_SPECIAL_* */
    size_t gap;
    const float *b_tail;
    size_t tail_ldb;
    size_t clamp; /* 0: low and high do not matter */
    size_t lanes; /* 1 … 4 */
    float low, high;
    size_t first, later;           /* gemm_f32_direct_set_depth() */
    struct gemm_f32_panels panels; /* for kernels of gemm/f32/panels/panels.h */
    uint8_t ending;                /* gemm_f32_direct_set_ending() */
    uint8_t low_tiles;             /* for kernels that go on lower */
};

/* Sets rounds, tail, b_tail, and for kernels that take odd steps first: the bytes of a row of A in
 * those (0: the row is too short to be read as a vector), and the rounds after them. */
static inline void gemm_f32_direct_set_depth(struct gemm_f32_direct *strip, size_t k,
                                             const float *b_tail)
{
    size_t odd = b_tail ? 0 : k % 4;
    strip->rounds = (b_tail ? k - 1 : k) / 4;
    strip->tail = k - 4 * strip->rounds;
    strip->b_tail = b_tail;
    strip->first = strip->rounds ? odd ? 4 * odd : 16 : 0;
    strip->later = strip->rounds && !odd ? strip->rounds - 1 : strip->rounds;
}

/* Rows that a kernel computes which goes on lower. */
static inline size_t gemm_f32_direct_rows(const struct gemm_f32_direct *strip, size_t height)
{
    return strip->tiles * height + strip->low_tiles * (height - 1);
}

/* Once all else is set: what becomes of a tile's sums, so that kernels need not ask at each tile.
 * Nothing special; so many lanes of the last vector; whole, but rows are short or low tiles follow;
 * something is added first. */
enum { GEMM_F32_ENDING_PLAIN, GEMM_F32_ENDING_WHOLE = 4, GEMM_F32_ENDING_SUMS };

static inline void gemm_f32_direct_set_ending(struct gemm_f32_direct *strip)
{
    size_t whole = strip->low_tiles || !strip->first ? GEMM_F32_ENDING_WHOLE : 0;
    size_t lanes = strip->lanes < 4 ? strip->lanes : whole;
    strip->ending =
        (uint8_t)(strip->special & GEMM_F32_SPECIAL_SUMS ? GEMM_F32_ENDING_SUMS : lanes);
}

typedef void gemm_f32_direct_fn(const struct gemm_f32_direct *strip, const float *a, const float *b,
                                float *c, const float *bias);

/* What tiles have in common, whatever their height; each way has a list of kernels:
 *
 * ROWS     as above
 * PARTS    the same with four parts, of one group
 * SHALLOW  the same for one small depth, row by row (height 1), of one group
 * COLUMNS  columns of A are contiguous: A(i, p) = a[p * lda + i]; of one group
 * PANELS   gemm/f32/panels/panels.h */
enum gemm_f32_way {
    GEMM_F32_ROWS,
    GEMM_F32_PARTS,
    GEMM_F32_SHALLOW,
    GEMM_F32_COLUMNS,
    GEMM_F32_PANELS,
    GEMM_F32_WAYS
};
struct gemm_f32_kind {
    uint8_t way, vectors, group;
    uint8_t depth;                 /* the only k that SHALLOW ones take; others: 0 */
    struct gemm_f32_panels panels; /* but for PANELS all 0 */
};

struct gemm_f32_direct_kernel {
    const char *name;
    uint32_t needs;
    uint8_t in_order; /* IN_ORDER_*: for such cores, slower on others; 0: for all */
    uint8_t height;
    struct gemm_f32_kind kind;
    gemm_f32_direct_fn *run;
};

/* By their way. Fastest first; each (height, kind) has one that needs nothing. */
struct gemm_f32_direct_list {
    const struct gemm_f32_direct_kernel *kernels;
    size_t count;
};
extern const struct gemm_f32_direct_list gemm_f32_direct_lists[GEMM_F32_WAYS];

/* The fastest; NULL if there is none. */
const struct gemm_f32_direct_kernel *gemm_f32_direct_find(const struct cpu *cpu, size_t height,
                                                          struct gemm_f32_kind kind);

/* The largest height that a core should be given, 0 if there is none: where there are tiles for
 * cores like it, from one row on, the largest of those. */
size_t gemm_f32_direct_height(const struct core *core, struct gemm_f32_kind kind);

/* There is such a tile for cores that issue in order like this one. */
int gemm_f32_direct_is_tuned(const struct core *core, size_t height, struct gemm_f32_kind kind);

static inline int gemm_f32_direct_goes_on_lower(const struct gemm_f32_direct_kernel *kernel)
{
    return kernel->height > 1 && !kernel->in_order && kernel->kind.way != GEMM_F32_COLUMNS;
}

#endif
