/* Whole tiles of gemm.h for cores that issue in order, with the steps of
 * kernels/gemm/f32/steps_in_order_neon.h: 8x12 with rows or with columns of C contiguous, and 8x8
 * with rows. Of rows A gives the lanes and B the vectors, of columns the other way round. */
#include "kernels/gemm/f32/steps_in_order_neon.h"
#include "kernels/gemm/f32/tile_neon.h"

    registers 6, count, scratch, at

    .macro next_vectors
    add in, in, #16 * VECTORS
    .endm

    .macro single_step
    several ld1, VECTORS, 0, in, %(16 * VECTORS)
    several ld1, %(LINES / 4), %(VECTORS), by, %(4 * LINES)
    each f, LINES * VECTORS, fma %(32 - LINES * VECTORS + f), %(f % VECTORS), %(VECTORS + f / VECTORS / 4), %(f / VECTORS % 4)
    .endm

    .macro kernel name
    set_kind VECTORS, LINES
    begin_tile \name
    lsr count, k, #2
    and k, k, #3
    subs count, count, #1
    b.lo 4f
    rounds_of_steps fmla, VECTORS, LINES
4:  cbz k, 6f
5:  single_step
    subs k, k, #1
    b.ne 5b
6:
    end_tile \name
    .endm

/* ---- columns of C ---- */

in .req x1
by .req x2

    .set LINE_STEP, tile.col
    .set LINES, 12
    .set VECTORS, 2
    kernel gemm_f32_8x12_columns_narrow_whole_neon

/* ---- rows of C ---- */

    .unreq in
    .unreq by
in .req x2
by .req x1

    .set LINE_STEP, tile.row
    .set LINES, 8
    .set VECTORS, 3
    kernel gemm_f32_8x12_narrow_whole_neon
    .set VECTORS, 2
    kernel gemm_f32_8x8_narrow_whole_neon
