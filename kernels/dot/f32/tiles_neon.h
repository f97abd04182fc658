/* What the tiles of dot.h share: where rows, columns and sums are, and all that comes after
 * tiles that lie one below the other. The file that includes this has
 *
 *   pointers_move           a symbol: 1, or 0 if rounds leave the pointers as they are
 *   zeros_bytes             a symbol: of zeros that clear_sums reads from the stack
 *   clear_sums first, count sums of the tiles below each other, cleared
 *   all_rounds R, C         all rounds of a tile, at least one
 *   store_sums R, C         of a tile that is alone */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"

stride .req x1
    registers 3, x_stride, rounds, sums

/* Rows are at x0, x6 … x17, x19 … x21; columns at x2, x13 … x15. The register of row i's pointer: */
    .macro set_row i
    .set row, 0
    when \i, .set row, 5 + \i
    when %(\i > 12), .set row, 6 + \i
    .endm

/* Pointers, each of them so many bytes behind the one before. */
    .macro set_row_pointer i
    set_row %(\i - 1)
    .set before, row
    set_row \i
    add_x %row, %before, stride
    .endm
    .macro set_column_pointer j
    .set before, 11 + \j
    when %(\j == 1), .set before, 2
    add_x %(12 + \j), %before, x_stride
    .endm
    .macro set_pointers R, C
    lsl stride, stride, #2
    lsl x_stride, x_stride, #2
    each_from n, 1, %(\R - 1), set_row_pointer %n
    each_from n, 1, %(\C - 1), set_column_pointer %n
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
    registers 9, temp, to_next_rows, x_bytes
    registers 16, out_line, left
    .endm
    .macro use_registers_of_8x2
    .unreq temp
    .unreq to_next_rows
    .unreq x_bytes
    registers 14, temp, to_next_rows
x_bytes .req x22
    .endm
    .macro use_registers_of_16x1
    .unreq to_next_rows
    .unreq x_bytes
    .unreq left
    registers 22, to_next_rows, x_bytes, left
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
    when %pointers_move, sub to_next_rows, to_next_rows, x_bytes
    .endm

    .macro move_row i
    set_row \i
    add_x %row, %row, to_next_rows
    .endm
    .macro move_column column
    sub x\column, x\column, x_bytes
    .endm
    .macro move_pointers R, C
    each n, \R, move_row %n
    when %pointers_move, move_column 2
    when %pointers_move, each_from n, 1, %(\C - 1), move_column %(12 + n)
    .endm

/* Results are in registers of rows and columns, so that they do not wait for the next tile's sums. */
    .macro add_pairs to, first, second
    faddp v\to\().4s, v\first\().4s, v\second\().4s
    .endm

/* Where `adding` is 1, results are added to what is there. */
    .set adding, 0
    .macro add_old result, old, address:vararg
    .if adding
    ldr q\old, \address
    fadd v\result\().4s, v\result\().4s, v\old\().4s
    .endif
    .endm
    .macro store_row first
    add_old \first, %(\first + 1), [out]
    str q\first, [out]
    add out, out, out_line
    .endm
    .macro store_rows R, C
    .irp sum, 16, 20, 24, 28
    add_pairs %(\sum - 16), %(\sum), %(\sum + 1)
    add_pairs %(\sum - 14), %(\sum + 2), %(\sum + 3)
    .endr
    .irp result, 0, 4, 8, 12
    add_pairs \result, \result, %(\result + 2)
    .endr
    .irp result, 0, 4, 8, 12
    store_row \result
    .endr
    .endm

/* Of sums, which begin at `from`, pairs `distance` of them apart become results, which lie as far
 * apart as those. */
    .macro add_rows R, C, distance, from
    .set n, 0
    .rept \R * \C / 2 / \distance
    .set result, 16 - \R * \C + n / \C * 2 * \distance * \C + n % \C
    add_pairs %(result), %(result + \from), %(result + \from + \distance * \C)
    .set n, n + 1
    .endr
    .endm

/* Sums of two rows of a column become a vector, then those of four. ST1 takes a place among products
 * for each vector that it stores, STR may take two; `rounds` are counted anew for each tile. */
    .macro store_columns R, C
    add_rows \R, \C, 1, 16
    add_rows \R, \C, 2, 0
    .if \C == 4
    add temp, out, out_line
    add x12, out, out_line, lsl #1
    add rounds, temp, out_line, lsl #1
    add_old 0, 8, [out]
    add_old 1, 9, [temp]
    add_old 2, 10, [x12]
    add_old 3, 11, [rounds]
    st1 {v0.4s}, [out], #16
    st1 {v1.4s}, [temp]
    st1 {v2.4s}, [x12]
    st1 {v3.4s}, [rounds]
    .elseif \C == 3
    add temp, out, out_line, lsl #1
    str q6, [temp]
    str q5, [out, out_line]
    str q4, [out], #16
    .else
    add temp, out, out_line
    stp q0, q8, [out], #32
    stp q1, q9, [temp]
    .endif
    .endm

/* Sums of four results that follow each other become a vector. */
    .macro store_dense R, C
    add_rows %(\R * \C), 1, 1, 16
    add_rows %(\R * \C), 1, 2, 0
    .if \C == 3
    str q12, [out, #32]
    stp q4, q8, [out], #48
    .else
    stp q0, q4, [out], #32
    stp q8, q12, [out], #32
    .endif
    .endm

    .macro tiles_below name, R, C, stores
    begin_function dot_f32_\name\()_neon
    when %(\R > 4), save_registers 4, 24, zeros_bytes
    otherwise save_registers 4, 18, zeros_bytes
    .if zeros_bytes
    stp xzr, xzr, [sp, #at_locals]
    stp xzr, xzr, [sp, #at_locals + 16]
    .endif
    set_lines \R
    set_pointers \R, \C
4:  clear_sums %(32 - \R * \C), %(\R * \C)
    lsr rounds, x_bytes, #5
    all_rounds \R, \C
    move_pointers \R, \C
    \stores \R, \C
    subs left, left, #\R
    b.ne 4b
    pop_and_return
    end_function dot_f32_\name\()_neon
    .endm

/* ---- all of a file's, whose names end with `kind` ---- */

    .macro tile R, C, kind
    begin_function dot_f32_\R\()x\C\kind\()_neon
    when %(\R > 13), save_registers 4, 21
    otherwise save_registers 4
    set_pointers \R, \C
    clear_all %(32 - \R * \C), %(\R * \C)
    cbz rounds, 3f
    all_rounds \R, \C
3:  store_sums \R, \C
    pop_and_return
    end_function dot_f32_\R\()x\C\kind\()_neon
    .endm

    .macro all_tiles kind
    tile 16, 1, \kind
    tile 4, 1, \kind
    tile 8, 2, \kind
    tile 4, 2, \kind
    tile 4, 3, \kind
    tile 4, 4, \kind
    use_registers_of_4x4
    tiles_below rows_of_4\kind, 4, 4, store_rows
    tiles_below columns_4x4\kind, 4, 4, store_columns
    .set adding, 1
    tiles_below adding_rows_of_4\kind, 4, 4, store_rows
    tiles_below adding_columns_4x4\kind, 4, 4, store_columns
    .set adding, 0
    tiles_below dense_4x3\kind, 4, 3, store_dense
    tiles_below columns_4x3\kind, 4, 3, store_columns
    use_registers_of_8x2
    tiles_below dense_8x2\kind, 8, 2, store_dense
    tiles_below columns_8x2\kind, 8, 2, store_columns
    use_registers_of_16x1
    tiles_below columns_16x1\kind, 16, 1, store_dense
    .endm
