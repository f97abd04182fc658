/* Tiles of gemm_f32_direct.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, four steps of each row of A in the first `height` ones, and a group of B's vectors
 * between them. Four steps of k take `height` loads of A, four LD1 for each group of B, 4 * height *
 * vectors FMLA and two instructions of the loop: 7x12 has 84 FMLA in 97 instructions, 5x16 80 in
 * 91, 4x24 96 in 110.
 *
 * The first step multiplies without adding, so that nothing need be cleared: the first round is
 * apart from the others. The steps after the whole rounds use lanes of the last four values of each
 * row, so they too need one load a row; only rows of fewer than four values are loaded lane by
 * lane. */
#include "kernels/gemm_f32_direct_neon.h"

    .macro round height, vectors, group, first_op=fmla
    .set i, 0
    .rept \height
    load %(i), %(8 + i)
    .set i, i + 1
    .endr
    step \height, \vectors, \group, 0, \first_op
    step \height, \vectors, \group, 1
    step \height, \vectors, \group, 2
    step \height, \vectors, \group, 3
    .endm

    .macro kernel name, height, vectors, group
    begin_kernel direct_\name, \height, \vectors, %(\height + \group), 0
11: begin_tile \height, \vectors, \group
    cbz rounds, 16f
    round \height, \vectors, \group, fmul
    subs rounds, rounds, #1
    b.eq 13f
12: round \height, \vectors, \group
    subs rounds, rounds, #1
    b.ne 12b
    end_kernel direct_\name, \height, \vectors, \group
    .endm

    kernel 1x4, 1, 1, 1
    kernel 2x4, 2, 1, 1
    kernel 3x4, 3, 1, 1
    kernel 4x4, 4, 1, 1
    kernel 5x4, 5, 1, 1
    kernel 6x4, 6, 1, 1
    kernel 7x4, 7, 1, 1
    kernel 8x4, 8, 1, 1
    kernel 1x8, 1, 2, 2
    kernel 2x8, 2, 2, 2
    kernel 3x8, 3, 2, 2
    kernel 4x8, 4, 2, 2
    kernel 5x8, 5, 2, 2
    kernel 6x8, 6, 2, 2
    kernel 7x8, 7, 2, 2
    kernel 8x8, 8, 2, 2
    kernel 1x12, 1, 3, 3
    kernel 2x12, 2, 3, 3
    kernel 3x12, 3, 3, 3
    kernel 4x12, 4, 3, 3
    kernel 5x12, 5, 3, 3
    kernel 6x12, 6, 3, 3
    kernel 7x12, 7, 3, 3
    kernel 1x16, 1, 4, 4
    kernel 2x16, 2, 4, 4
    kernel 3x16, 3, 4, 4
    kernel 4x16, 4, 4, 4
    kernel 5x16, 5, 4, 4
    kernel 1x2x12, 1, 6, 3
    kernel 2x2x12, 2, 6, 3
    kernel 3x2x12, 3, 6, 3
    kernel 4x2x12, 4, 6, 3
    kernel 1x2x16, 1, 8, 4
    kernel 2x2x16, 2, 8, 4
    kernel 3x2x16, 3, 8, 4
    kernel 1x4x12, 1, 12, 3
    kernel 1x3x16, 1, 12, 4
