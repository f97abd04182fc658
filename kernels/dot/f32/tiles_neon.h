/* What the tiles of dot.h share: where rows, columns and sums are, and all that comes after
 * tiles that lie one below the other. The file that includes this has
 *
 *   pointers_move      a symbol: 1, or 0 if rounds leave the pointers as they are
 *   all_rounds R, C    all rounds of a tile, at least one */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"

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

/* Tiles one below the other, and all that comes after them:
 *
 *   void dot_f32_NAME_neon(rows, stride, x, x_stride, rounds, out, out_line, count)
 *
 * for at least one round, and as many rows as are whole tiles, one at least. `stores` says where
 * results are: store_rows, of a 4x4 tile, the four results of a row follow each other, and rows are
 * `out_line` values apart; store_columns, results of a column follow each other, and columns are;
 * store_dense, all results follow each other, row by row. The registers here are those that no row
 * has. */
out .req x5

    .macro use_registers_of_4x4
temp .req x9
to_next_rows .req x10
x_bytes .req x11
out_line .req x16
left .req x17
    .endm
    .macro use_registers_of_8x2
    .unreq temp
    .unreq to_next_rows
    .unreq x_bytes
temp .req x14
to_next_rows .req x15
x_bytes .req x22
    .endm
    .macro use_registers_of_16x1
    .unreq to_next_rows
    .unreq x_bytes
    .unreq left
to_next_rows .req x22
x_bytes .req x23
left .req x24
    .endm

    .macro set_lines R
    .if \R <= 8
    mov out_line, x6
    lsl out_line, out_line, #2
    .endif
    mov to_next_rows, #4 * \R
    mul to_next_rows, to_next_rows, stride
    mov left, x7
    lsl x_bytes, rounds, #5
    .if pointers_move
    sub to_next_rows, to_next_rows, x_bytes
    .endif
    .endm

    .macro move_row row
    add x\row, x\row, to_next_rows
    .endm
    .macro move_column column
    sub x\column, x\column, x_bytes
    .endm
    .macro move_pointers R, C
    .set n, 0
    .rept \R
    set_row %(n)
    move_row %(row)
    .set n, n + 1
    .endr
    .if pointers_move
    move_column 2
    .set n, 1
    .rept \C - 1
    move_column %(12 + n)
    .set n, n + 1
    .endr
    .endif
    .endm

    .macro add_pairs to, first, second
    faddp v\to\().4s, v\first\().4s, v\second\().4s
    .endm
    .macro store_row first
    str q\first, [out]
    add out, out, out_line
    .endm
    .macro store_rows R, C
    .irp sum, 16, 20, 24, 28
    add_pairs \sum, \sum, %(\sum + 1)
    add_pairs %(\sum + 2), %(\sum + 2), %(\sum + 3)
    .endr
    .irp sum, 16, 20, 24, 28
    add_pairs \sum, \sum, %(\sum + 2)
    .endr
    .irp sum, 16, 20, 24, 28
    store_row \sum
    .endr
    .endm

/* Sums of two rows of a column become a vector, then those of four. */
    .macro add_rows R, C, distance
    .set n, 0
    .rept \R * \C / 2 / \distance
    .set sum, 32 - \R * \C + n / \C * 2 * \distance * \C + n % \C
    add_pairs %(sum), %(sum), %(sum + \distance * \C)
    .set n, n + 1
    .endr
    .endm
    .macro store_columns R, C
    add_rows \R, \C, 1
    add_rows \R, \C, 2
    .if \C == 4
    add temp, out, out_line, lsl #1
    str q17, [out, out_line]
    str q16, [out], #16
    str q18, [temp]
    str q19, [temp, out_line]
    .elseif \C == 3
    add temp, out, out_line, lsl #1
    str q22, [temp]
    str q21, [out, out_line]
    str q20, [out], #16
    .else
    add temp, out, out_line
    stp q16, q24, [out], #32
    stp q17, q25, [temp]
    .endif
    .endm

/* Sums of four results that follow each other become a vector. */
    .macro store_dense R, C
    add_rows %(\R * \C), 1, 1
    add_rows %(\R * \C), 1, 2
    .if \C == 3
    str q28, [out, #32]
    stp q20, q24, [out], #48
    .else
    stp q16, q20, [out], #32
    stp q24, q28, [out], #32
    .endif
    .endm

    .macro tiles_below name, R, C, stores
    begin_function dot_f32_\name\()_neon
    .if \R > 4
    save_registers 4, 24
    .else
    save_registers 4
    .endif
    set_lines \R
    set_pointers \R, \C
4:  clear_all %(32 - \R * \C), %(\R * \C)
    lsr rounds, x_bytes, #5
    all_rounds \R, \C
    move_pointers \R, \C
    \stores \R, \C
    subs left, left, #\R
    b.ne 4b
    pop_and_return
    end_function dot_f32_\name\()_neon
    .endm
