/* Whole 8x12 tiles of gemm/gemm.h (m = 8, n = 12, rows of C contiguous) for NEON cores that reorder;
 * those for cores that do not are in in_order_neon.S.
 *
 * Registers: 24 sums in v8 … v31, row i in v(8 + 3 i) …; x1 the packed rows of A, x2 the panel of B.
 * Four steps of k take 96 FMLA, six loads of several registers and two instructions of the loop.
 * gemm_f32_8x12_packing_neon also packs B: such cores store beside FMLA. */

#include "kernels/gemm/f32/tile_neon.h"

    registers 7, scratch, at

    .set LINES, 8
    .set VECTORS, 3
    .set LINE_STEP, tile.row

    .macro add_bias
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    add_to_lines
    .endm

/* Rows of A in va and va + 1. */
    .macro step va
    step_of_b
    each i, 8, each j, 3, multiply_row %(i), %(j), %(\va + i / 4), %(i % 4)
    .endm

    begin_tile gemm_f32_8x12_whole_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_whole_neon

    .set packing, 1
    begin_tile gemm_f32_8x12_packing_neon
    multiply_in_fours
    end_tile gemm_f32_8x12_packing_neon
