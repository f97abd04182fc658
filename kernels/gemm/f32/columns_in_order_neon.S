/* Whole tiles of 8x12 of gemm/gemm.h, columns of C contiguous, for cores that issue in order, with
 * the steps of kernels/gemm/f32/columns_in_order_neon.h. */
#include "kernels/gemm/f32/columns_in_order_neon.h"
#include "kernels/gemm/f32/tile_neon.h"

in .req x1
    registers 6, count, scratch, at

    .set LINE_STEP, tile.col
    .set LINES, 12
    .set VECTORS, 2
    set_kind VECTORS, LINES

    .macro add_bias
    several_at ld1, %(LINES / 4), 4, scratch
    each j, LINES, add_lane %(32 - (LINES - j) * VECTORS), VECTORS, %(4 + j / 4), %(j % 4)
    .endm

    .macro next_a
    add in, in, #16 * VECTORS
    .endm
    .macro single_step
    several ld1, VECTORS, 0, in, %(16 * VECTORS)
    several ld1, %(LINES / 4), 4, b, %(4 * LINES)
    .set f, 0
    .rept LINES * VECTORS
    fma %(32 - LINES * VECTORS + f), %(f % VECTORS), %(4 + f / VECTORS / 4), %(f / VECTORS % 4)
    .set f, f + 1
    .endr
    .endm

    begin_tile gemm_f32_8x12_columns_narrow_whole_neon
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
    end_tile gemm_f32_8x12_columns_narrow_whole_neon
