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

    .macro load_line first
    several ld1, 2, \first, at, line
    .endm
    .macro store_line first
    several st1, 2, \first, c, line
    .endm
    .macro add_bias
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    each j, 12, add_to_column %(8 + 2 * j), %(9 + 2 * j), %(4 + j / 4), %(j % 4)
    .endm
    .macro add_to_column s0, s1, bias, lane
    dup v0.4s, v\bias\().s[\lane]
    add_to \s0, 0
    add_to \s1, 0
    .endm
    .macro clamp_sums
    clamp_all 8, 24, 4, 5
    .endm

/* Rows of A in va and va + 1. */
    .macro step va
    step_of_b
    .set j, 0
    .rept 12
    fma %(8 + 2 * j), %(\va), %(4 + j / 4), %(j % 4)
    fma %(9 + 2 * j), %(\va + 1), %(4 + j / 4), %(j % 4)
    .set j, j + 1
    .endr
    .endm

    begin_tile gemm_f32_8x12_columns_whole_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_columns_whole_neon

    .set packing, 1
    begin_tile gemm_f32_8x12_columns_packing_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_columns_packing_neon
