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

/* For the valid elements, i < m and j < n:
 *
 *   sum = accumulate ? c[i * row + j * col] : 0
 *   for p < k in this order:  sum = fma(a[p * mr + i], b[p * nr + j], sum)
 *   c[i * row + j * col] = min(max(sum + (bias ? bias[j] : 0), low), high)
 *
 * The order is the same in every kernel, so an element's value does not depend on the tile that
 * computes it. Nothing but the valid part of C is read or written; A and B are read in full:
 * k * mr and k * nr values. NaN stays NaN.
 *
 * Kernels that pack compute whole tiles, m = mr and n = nr. They read a plain B instead, and leave
 * it at `to` as b would be:  to[p * nr + j] = from[p * from_row + j] */
struct gemm_f32_tile {
    size_t k;
    const float *a, *b;
    float *c;
    size_t row, col;   /* row kernels: col is 1; column kernels: row is 1 */
    size_t m, n;       /* 1 <= m <= mr, 1 <= n <= nr */
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
    uint32_t needs;  /* CPU_* bits that run() executes */
    uint8_t mr, nr;  /* tile, in elements */
    uint8_t columns; /* 0: C's rows are contiguous; 1: its columns are */
    gemm_f32_fn *run;
    uint8_t
        in_order; /* IN_ORDER_*: for cores that issue in this way, slower on others; 0: for all */
};

/* Fastest first; every (mr, nr, columns) has one that needs nothing. */
extern const struct gemm_f32_kernel *const gemm_f32_kernels[];
extern const size_t gemm_f32_kernel_count;

/* The fastest kernel of this tile that the features allow and that is for such cores. Never NULL
 * for mr in 1..8, nr in {4, 8, 12}, columns in {0, 1}; NULL for tiles that do not exist. */
const struct gemm_f32_kernel *gemm_f32_find(const struct cpu *cpu, size_t mr, size_t nr,
                                            int columns);

/* All of them, tiles[nr / 4 - 1][mr - 1]; in_order is the core's. */
void gemm_f32_find_tiles(gemm_f32_fn *tiles[][GEMM_F32_MR], uint32_t features, int in_order,
                         int columns);

/* Kernels that pack, fastest first: 8x12, for rows and for columns. */
extern const struct gemm_f32_kernel *const gemm_f32_packing_kernels[];
extern const size_t gemm_f32_packing_kernel_count;

/* The fastest that the features allow; NULL for cores that issue in order, which would wait for the
 * stores. */
gemm_f32_fn *gemm_f32_find_packing(uint32_t features, int in_order, int columns);

/* Tables of kernels, fastest first; a new one is a name here, of one of these sizes. */
enum { GEMM_F32_ONE_TILE = 1, GEMM_F32_IN_ORDER_TILES = 2, GEMM_F32_TILES = 24 };
/* clang-format off */
#if NEO_PORTABLE
#define GEMM_F32_TABLES(TABLE) \
    TABLE(rows_ref, TILES) \
    TABLE(columns_ref, TILES)
#else
#define GEMM_F32_TABLES(TABLE) \
    TABLE(in_order_neon, IN_ORDER_TILES) \
    TABLE(columns_in_order_neon, ONE_TILE) \
    TABLE(rows_neon, TILES) \
    TABLE(columns_neon, TILES) \
    TABLE(rows_ref, TILES) \
    TABLE(columns_ref, TILES)
#endif
/* clang-format on */

#define DECLARED(name, size) extern const struct gemm_f32_kernel gemm_f32_##name[GEMM_F32_##size];
GEMM_F32_TABLES(DECLARED)
#undef DECLARED
extern const struct gemm_f32_kernel gemm_f32_packing_neon[2], gemm_f32_packing_ref[2];

#endif
