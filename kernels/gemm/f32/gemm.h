/* C = A B on one tile of registers, f32: the contract of the kernels, and their table.
 *
 * Packed operands: a panel of A holds element (i, p) at a[p * mr + i], a panel of B holds element
 * (p, j) at b[p * nr + j]. B's panels are GEMM_F32_NR wide, its last ones may be 8 or 4 wide. */
#ifndef KERNELS_GEMM_F32_GEMM_H
#define KERNELS_GEMM_F32_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

enum { GEMM_F32_MR = 8, GEMM_F32_NR = 12 };

/* For i < mr, the kernel's, and j < n:
 *
 *   sum = accumulate ? c[i * row + j * col] : 0
 *   for p < k in this order:  sum = fma(a[p * mr + i], b[p * nr + j], sum)
 *   c[i * row + j * col] = min(max(sum + (bias ? bias[j] : 0), low), high)
 *
 * The order is the same in every kernel, so an element's value does not depend on the tile that
 * computes it. Nothing but this part of C is read or written; A and B are read in full: k * mr and
 * k * nr values. NaN stays NaN.
 *
 * Kernels that pack compute whole tiles, n = nr. They read a plain B instead, and leave
 * it at `to` as b would be:  to[p * nr + j] = from[p * from_row + j] */
struct gemm_f32_tile {
    size_t k;
    const float *a, *b;
    float *c;
    size_t row, col;   /* row kernels: col is 1; column kernels: row is 1 */
    size_t n;          /* 1 … nr */
    const float *bias; /* n values, or NULL */
    int accumulate;
    float low, high;   /* -INFINITY, INFINITY: no clamp */
    const float *from; /* kernels that pack: */
    size_t from_row;
    float *to;
};
typedef void gemm_f32_fn(const struct gemm_f32_tile *tile);

struct gemm_f32_kernel {
    const char *name;
    uint32_t needs;   /* CPU_* bits that run() executes */
    uint8_t mr, nr;   /* tile, in elements */
    uint8_t columns;  /* 0: C's rows are contiguous; 1: its columns are */
    uint8_t packs;    /* B, too */
    uint8_t in_order; /* IN_ORDER_*: for cores that issue in this way, slower on others; 0: all */
    gemm_f32_fn *run;
};

/* Fastest first; every (mr, nr, columns) has one that needs nothing. */
extern const struct gemm_f32_kernel gemm_f32_kernels[];
extern const size_t gemm_f32_kernel_count;

/* The fastest kernel of this tile that the features allow and that is for such cores. Never NULL
 * for mr in 1..8, nr in {4, 8, 12}, columns in {0, 1}; NULL for tiles that do not exist. */
const struct gemm_f32_kernel *gemm_f32_find(const struct cpu *cpu, size_t mr, size_t nr,
                                            int columns);

/* All of them, tiles[nr / 4 - 1][mr - 1]; in_order is the core's. */
void gemm_f32_find_tiles(gemm_f32_fn *tiles[][GEMM_F32_MR], uint32_t features, int in_order,
                         int columns);

/* The fastest that packs, 8x12, which the features allow; NULL for cores that issue in order, which
 * would wait for the stores. */
gemm_f32_fn *gemm_f32_find_packing(uint32_t features, int in_order, int columns);

#define ENTRY(name, run, ...) gemm_f32_fn run;
#include "kernels/gemm/f32/table.h"
#undef ENTRY

#endif
