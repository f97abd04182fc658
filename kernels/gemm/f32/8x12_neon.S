/* Whole 8x12 tiles of gemm/gemm.h (m = 8, n = 12, rows of C contiguous) for NEON, in three orders
 * of instructions that compute the same.
 *
 * Registers: 24 sums in v8 … v31, row i in v(8 + 3 i) …; x1 the packed rows of A, x2 the panel of B.
 *
 * gemm_f32_8x12_whole_neon is for cores that reorder: four steps of k take 96 FMLA, six loads of
 * several registers and two instructions of the loop. gemm_f32_8x12_packing_neon also packs B: such
 * cores store beside FMLA.
 *
 * gemm_f32_8x12_a55_neon is for cores that do not. There a 128-bit load takes both issue slots for
 * two cycles, while a 64-bit load into a vector register, one into a general register, or an insert
 * from there shares a cycle with an FMLA (on a Cortex-A53 only the second kind does; there a vector
 * load and an insert share one with each other). So pairs of rows of A are 64-bit loads, used by
 * lanes 0 and 1, and vectors of B come in halves. Each register is loaded again right after its
 * last use: in a step the first 8 FMLA use v4, the next v5, the last v6, each with the pairs of rows
 * in v0 … v3. So while a step runs the others come in:
 *
 *   FMLA  0 …  7   own v3 and v6
 *   FMLA  8 … 15   next v4
 *   FMLA 16 … 23   next v5, v0, v1, v2 */

#include "kernels/gemm/f32/tile_neon.h"

    registers 6, half, scratch, at

    .set LINES, 8
    .set VECTORS, 3
    .set LINE_STEP, tile.row

    .macro add_bias
    ld1 {v4.4s, v5.4s, v6.4s}, [scratch]
    add_to_lines
    .endm

/* ---- for cores that reorder ---- */

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
    .set packing, 0

/* ---- for cores that do not ---- */

/* The first third of a step, with the loads that are its own. A half of a vector is inserted three
 * cycles or more after the other one was loaded. */
    .macro own_loads
    upper 0, 0
    ldr d6, [b, #32]
    lower 0, 0
    ldr half, [b, #40]
    upper 1, 0
    lower 1, 0
    ldr d3, [a, #24]
    mov v6.d[1], half
    upper 2, 0
    add a, a, #32
    lower 2, 0
    add b, b, #48
    upper 3, 0
    subs k, k, #1
    lower 3, 0
    .endm

/* The rest of it, with the loads of the next step. */
    .macro next_loads
    upper 0, 1
    ldr d4, [b]
    lower 0, 1
    ldr half, [b, #8]
    upper 1, 1
    lower 1, 1
    upper 2, 1
    lower 2, 1
    upper 3, 1
    lower 3, 1
    upper 0, 2
    ldr d5, [b, #16]
    mov v4.d[1], half
    lower 0, 2
    ldr half, [b, #24]
    upper 1, 2
    ldr d0, [a]
    lower 1, 2
    upper 2, 2
    ldr d1, [a, #8]
    mov v5.d[1], half
    lower 2, 2
    upper 3, 2
    ldr d2, [a, #16]
    lower 3, 2
    .endm

    begin_tile gemm_f32_8x12_a55_neon
    cbz k, 6f
    ldr d0, [a]
    ldr d1, [a, #8]
    ldr d2, [a, #16]
    ldp q4, q5, [b]
    subs k, k, #1
    b.eq 4f
3:  own_loads
    next_loads
    b.ne 3b
4:  own_loads
    .set j, 1
    .rept 2
    .set i, 0
    .rept 4
    upper %(i), %(j)
    lower %(i), %(j)
    .set i, i + 1
    .endr
    .set j, j + 1
    .endr
6:
    end_tile gemm_f32_8x12_a55_neon
