/* Whole 8x8 tiles of gemm/gemm.h (m = 8, n = 8, rows of C contiguous) for NEON cores that issue in
 * order; for the others the compiler's order is as good (rows_neon.c). The head of
 * 8x12_neon.S says what these cores can do in a cycle.
 *
 * Registers: 16 sums in v16 … v31, row i in v(16 + 2 i) and the next; x1 the packed rows of A, x2 the
 * panel of B; v0 … v3 rows of A, v4 and v5 vectors of B. */

    .set has_lines, 1
#include "kernels/gemm/f32/tile_neon.h"

    registers 6, half, scratch
at .req x7

    .set LINES, 8
    .set VECTORS, 2
    .set LINE_STEP, tile.row

    .macro load_line first
    load_one_or_two 2, \first, at
    add at, at, line
    .endm
    .macro store_line first
    store_two \first, %(\first + 1)
    .endm
    .macro store_two s0, s1
    stp q\s0, q\s1, [c]
    add c, c, line
    .endm
    .macro add_bias
    ldp q4, q5, [scratch]
    add_to_lines
    .endm
    .macro clamp_sums
    each_line clamp_line
    .endm
    .macro clamp_line first
    at_least \first, 4
    at_least %(\first + 1), 4
    at_most \first, 5
    at_most %(\first + 1), 5
    .endm

/* ---- a 64-bit load beside a multiply-add ---- */

/* All rows with the first vector of B; the second one and the last rows of A come in. */
    .macro first_vector
    upper 0, 0
    ldr d5, [b, #16]
    lower 0, 0
    ldr half, [b, #24]
    upper 1, 0
    lower 1, 0
    ldr d3, [a, #24]
    upper 2, 0
    add a, a, #32
    lower 2, 0
    mov v5.d[1], half
    upper 3, 0
    add b, b, #32
    lower 3, 0
    .endm

    begin_tile gemm_f32_8x8_a55_neon
    cbz k, 6f
    ldr d0, [a]
    ldr d1, [a, #8]
    ldr d2, [a, #16]
    ldr q4, [b]
    b 4f
3:  upper 0, 1
    ldr d4, [b]
    lower 0, 1
    ldr half, [b, #8]
    upper 1, 1
    ldr d0, [a]
    lower 1, 1
    upper 2, 1
    ldr d1, [a, #8]
    lower 2, 1
    mov v4.d[1], half
    upper 3, 1
    ldr d2, [a, #16]
    lower 3, 1
4:  subs k, k, #1
    first_vector
    b.ne 3b
    .set i, 0
    .rept 4
    upper %(i), 1
    lower %(i), 1
    .set i, i + 1
    .endr
6:
    end_tile gemm_f32_8x8_a55_neon
