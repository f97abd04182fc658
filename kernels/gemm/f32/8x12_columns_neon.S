/* Whole 8x12 tiles of gemm/gemm.h (m = 8, n = 12, columns of C contiguous) for NEON.
 *
 * Registers: 24 sums in v8 … v31, column j in v(8 + 2 j) and v(9 + 2 j); x1 the packed rows of A,
 * x2 the panel of B. Rows of A are the vectors and columns of B the lanes; else all is as in
 * gemm_f32_8x12_whole_neon: four steps of k take 96 FMLA, six loads of several registers and two
 * instructions of the loop. */

#include "kernels/gemm/f32/tile_neon.h"

    registers 7, scratch, at

    .set LINES, 12
    .set VECTORS, 2
    .set LINE_STEP, tile.col

    .macro add_bias
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    each j, 12, add_lane %(8 + 2 * j), 2, %(4 + j / 4), %(j % 4)
    .endm

/* Rows of A in va and va + 1. */
    .macro step va
    step_of_b
    each j, 12, multiply_row_by fmla, 2, %(8 + 2 * j), \va, %(4 + j / 4), %(j % 4)
    .endm

    begin_tile gemm_f32_8x12_columns_whole_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_columns_whole_neon

    .set packing, 1
    begin_tile gemm_f32_8x12_columns_packing_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_columns_packing_neon
