/* Whole tiles of gemm/gemm.h (columns of C contiguous) for cores that issue in order, with the steps
 * of kernels/gemm/f32/columns_in_order_neon.h: 8x12, 8x8, 8x4, and the same of four rows. */
#include "kernels/gemm/f32/columns_in_order_neon.h"
#include "kernels/gemm/f32/tile_neon.h"

in .req x1
    registers 6, count, scratch, at

    .set LINE_STEP, tile.col

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

    .macro kernel kind, name, V, width
    .set LINES, \width
    .set VECTORS, \V
    set_kind \V, \width
    begin_tile gemm_f32_\name\()_columns_\kind\()_whole_neon
    lsr count, k, #2
    and k, k, #3
    subs count, count, #1
    b.lo 4f
    rounds_of_steps fmla, \V, \width
4:  cbz k, 6f
5:  single_step
    subs k, k, #1
    b.ne 5b
6:
    end_tile gemm_f32_\name\()_columns_\kind\()_whole_neon
    .endm
    .macro kernels kind
    kernel \kind, 8x12, 2, 12
    kernel \kind, 8x8, 2, 8
    kernel \kind, 8x4, 2, 4
    kernel \kind, 4x12, 1, 12
    kernel \kind, 4x8, 1, 8
    kernel \kind, 4x4, 1, 4
    .endm
    kernels narrow
