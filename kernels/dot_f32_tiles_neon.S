/* The whole rounds of dot_f32.h for a tile of rows and columns:
 *
 *   void dot_f32_RxC_neon(rows, stride, x, x_stride, rounds, sums)
 *
 * where a round is eight values of k, and sums are R * C vectors, row by row. A tile keeps them in
 * the last vector registers, and two vectors of each column below them; rows come in pairs of
 * vectors, which rotate through the first registers: the second half of a row is multiplied `lag`
 * rows after its first one, so that no multiply-add waits for the one before. 16x1 takes 32 FMLA in
 * 51 instructions, 4x4 32 in 42. */
#include "kernels/dot_f32_tiles_neon.h"

    .macro load low, high, at
    ldp q\low, q\high, [x\at], #32
    .endm

    .macro load_row R, C, pairs, i
    set_row \i
    load %(2 * (\i % \pairs)), %(2 * (\i % \pairs) + 1), %(row)
    .endm

    .macro multiply_row R, C, pairs, i, half
    .set j, 0
    .rept \C
    fma %(32 - \R * \C + \i * \C + j), %(2 * (\i % \pairs) + \half), %(32 - \R * \C - 2 * \C + 2 * j + \half)
    .set j, j + 1
    .endr
    .endm

    .macro round R, C, pairs, lag
    .set n, 0
    .rept \pairs
    load_row \R, \C, \pairs, %(n)
    .set n, n + 1
    .endr
    load %(32 - \R * \C - 2 * \C), %(32 - \R * \C - 2 * \C + 1), 2
    .set n, 1
    .rept \C - 1
    load %(32 - \R * \C - 2 * \C + 2 * n), %(32 - \R * \C - 2 * \C + 2 * n + 1), %(12 + n)
    .set n, n + 1
    .endr
    .set n, 0
    .rept \R + \lag
    .if n < \R
    multiply_row \R, \C, \pairs, %(n), 0
    .endif
    .if n >= \lag
    multiply_row \R, \C, \pairs, %(n - \lag), 1
    .if n - \lag + \pairs < \R
    load_row \R, \C, \pairs, %(n - \lag + \pairs)
    .endif
    .endif
    .set n, n + 1
    .endr
    .endm

    .macro store_sums count
    .set n, 32 - \count
    .rept \count / 4
    several st1, 4, %(n), sums, #64
    .set n, n + 4
    .endr
    .endm

    .macro tile R, C, pairs, lag
    begin_tile \R\()x\C, \R, \C
    cbz rounds, 2f
1:  round \R, \C, \pairs, \lag
    subs rounds, rounds, #1
    b.ne 1b
2:  store_sums %(\R * \C)
    end_tile \R\()x\C
    .endm

    tile 16, 1, 7, 3
    tile 4, 1, 4, 2
    tile 8, 2, 6, 2
    tile 4, 2, 4, 2
    tile 4, 3, 4, 1
    tile 4, 4, 4, 1

/* The same with 4x4 tiles one below the other, and all that comes after them:
 *
 *   void dot_f32_rows_of_4_neon(rows, stride, x, x_stride, rounds, out, out_row, tiles)
 *
 * for at least one round and one tile. The four results of a row follow each other. */
out .req x5
out_row .req x9
tiles .req x10
all_rounds .req x11
to_next_rows .req x12
x_bytes .req x16

    .macro add_pairs to, first, second
    faddp v\to\().4s, v\first\().4s, v\second\().4s
    .endm
    .macro store_row first
    str q\first, [out]
    .endm
    .macro move_row row
    add x\row, x\row, to_next_rows
    .endm

    begin_function dot_f32_rows_of_4_neon
    save_registers 4
    lsl out_row, x6, #2
    mov tiles, x7
    mov all_rounds, rounds
    set_pointers 4, 4
    lsl x_bytes, rounds, #5
    lsl to_next_rows, stride, #2
    sub to_next_rows, to_next_rows, x_bytes
1:  clear_all 16, 16
    mov rounds, all_rounds
2:  round 4, 4, 4, 1
    subs rounds, rounds, #1
    b.ne 2b
    .irp row, 0, 6, 7, 8
    move_row \row
    .endr
    .irp column, x2, x13, x14, x15
    sub \column, \column, x_bytes
    .endr
    .irp sum, 16, 20, 24, 28
    add_pairs \sum, \sum, %(\sum + 1)
    add_pairs %(\sum + 2), %(\sum + 2), %(\sum + 3)
    .endr
    .irp sum, 16, 20, 24, 28
    add_pairs \sum, \sum, %(\sum + 2)
    .endr
    .irp sum, 16, 20, 24, 28
    store_row \sum
    add out, out, out_row
    .endr
    subs tiles, tiles, #1
    b.ne 1b
    pop_and_return
    end_function dot_f32_rows_of_4_neon
