/* What the tiles of dot_f32.h share: where rows, columns and sums are. */

/* clang-format off */
#include "kernels/assembly_neon.h"

stride .req x1
x_stride .req x3
rounds .req x4
sums .req x5

/* Rows are at x0, x6 … x17, x19 … x21; columns at x2, x13 … x15. */
    .macro next_row row, before
    add x\row, x\before, stride
    .endm
    .macro next_column column, before
    add x\column, x\before, x_stride
    .endm

/* The register of row i's pointer: */
    .macro set_row i
    .set row, 0
    .if \i
    .set row, 5 + \i
    .endif
    .if \i > 12
    .set row, 6 + \i
    .endif
    .endm

    .macro set_pointers R, C
    lsl stride, stride, #2
    lsl x_stride, x_stride, #2
    .set n, 1
    .set before, 0
    .rept \R - 1
    set_row %(n)
    next_row %(row), %(before)
    .set before, row
    .set n, n + 1
    .endr
    .set n, 1
    .set before, 2
    .rept \C - 1
    next_column %(12 + n), %(before)
    .set before, 12 + n
    .set n, n + 1
    .endr
    .endm

    .macro begin_tile name, R, C
    begin_function dot_f32_\name\()_neon
    .if \R > 13
    save_registers 4, 21
    .else
    save_registers 4
    .endif
    set_pointers \R, \C
    clear_all %(32 - \R * \C), %(\R * \C)
    .endm

    .macro end_tile name
    pop_and_return
    end_function dot_f32_\name\()_neon
    .endm
