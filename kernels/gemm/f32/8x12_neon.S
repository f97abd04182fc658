/* Whole 8x12 tiles of gemm.h for NEON cores that reorder; those for cores that do not are in
 * in_order_neon.S.
 *
 * Registers: 24 sums in v8 … v31; x1 the packed rows of A, x2 the panel of B. Where rows of C are
 * contiguous, rows of B are the vectors and those of A the lanes; where columns are, the other way
 * round. Four steps of k take 96 FMLA, six loads of several registers and two instructions of the
 * loop. Kernels that also pack B are here only: such cores store beside FMLA. */

#include "kernels/gemm/f32/tile_neon.h"

    registers 7, scratch, at

/* The next twelve values of B in v4 … v6, which come from the panel, or go there: by general
 * registers, since the stores of others take pipes of FMLA. */
    .macro step_of_b
    .if packing
    .irp at, 0, 16, 32
    ldp copied, copied_too, [from, #\at]
    stp copied, copied_too, [b], #16
    .endr
    ld1 {v4.4s, v5.4s, v6.4s}, [from], from_row
    .else
    ld1 {v4.4s, v5.4s, v6.4s}, [b], #48
    .endif
    .endm

/* Eight values of A are in v(a) and the next register. */
    .macro step a
    step_of_b
    when %(LINE_STEP == tile.row), each i, LINES, multiply_line %i, 4, \a
    otherwise each i, LINES, multiply_line %i, \a, 4
    .endm
    .macro multiply_line i, vectors, lanes
    multiply_row_by fmla, VECTORS, %(32 - (LINES - \i) * VECTORS), \vectors, %(\lanes + \i / 4), %(\i % 4)
    .endm

    .macro kernel name
    begin_tile \name
    lsr scratch, k, #2
    and k, k, #3
    cbz scratch, 4f
3:  ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [a], #64
    step 0
    step 2
    ld1 {v0.4s, v1.4s, v2.4s, v3.4s}, [a], #64
    step 0
    step 2
    subs scratch, scratch, #1
    b.ne 3b
4:  cbz k, 6f
5:  ld1 {v0.4s, v1.4s}, [a], #32
    step 0
    subs k, k, #1
    b.ne 5b
6:
    end_tile \name
    .endm
    .macro kernels name
    .set packing, 0
    kernel gemm_f32_\name\()_whole_neon
    .set packing, 1
    kernel gemm_f32_\name\()_packing_neon
    .endm

    .set LINES, 8
    .set VECTORS, 3
    .set LINE_STEP, tile.row
    kernels 8x12

    .set LINES, 12
    .set VECTORS, 2
    .set LINE_STEP, tile.col
    kernels 8x12_columns
