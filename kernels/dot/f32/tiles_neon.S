/* The whole rounds of dot.h for a tile of rows and columns:
 *
 *   void dot_f32_RxC_neon(rows, stride, x, x_stride, rounds, sums)
 *
 * where a round is eight values of k, and sums are R * C vectors, row by row. A tile keeps them in
 * the last vector registers, and two vectors of each column below them; rows come in pairs of
 * vectors, which rotate through the first registers: the second half of a row is multiplied `lag`
 * rows after its first one, so that no multiply-add waits for the one before. 16x1 takes 32 FMLA in
 * 51 instructions, 4x4 32 in 42. */
#include "kernels/dot/f32/tiles_neon.h"

    .set pointers_move, 1
    .set zeros_bytes, 32

/* Tiles below each other keep all multipliers busy: what clears their sums are loads, which those do
 * not wait for. */
    .macro clear_sums first, count
    each_by 2, n, \first, %(\count / 2), load_pair %(n), %(n + 1), [sp, #at_locals]
    .endm

    .macro load low, high, at
    ldp q\low, q\high, [x\at], #32
    .endm

    .macro load_row R, C, pairs, i
    set_row \i
    load %(2 * (\i % \pairs)), %(2 * (\i % \pairs) + 1), %(row)
    .endm

    .macro multiply_row R, C, pairs, i, half
    .set first, 32 - \R * \C
    each j, \C, fma %(first + \i * \C + j), %(2 * (\i % \pairs) + \half), %(first - 2 * \C + 2 * j + \half)
    .endm

    .macro round R, C, pairs, lag
    each n, \pairs, load_row \R, \C, \pairs, %(n)
    load %(32 - \R * \C - 2 * \C), %(32 - \R * \C - 2 * \C + 1), 2
    .set first, 32 - \R * \C - 2 * \C
    each_from n, 1, %(\C - 1), load %(first + 2 * n), %(first + 2 * n + 1), %(12 + n)
    .set n, 0
    .rept \R + \lag
    when %(n < \R), multiply_row \R, \C, \pairs, %(n), 0
    .if n >= \lag
    multiply_row \R, \C, \pairs, %(n - \lag), 1
    when %(n - \lag + \pairs < \R), load_row \R, \C, \pairs, %(n - \lag + \pairs)
    .endif
    .set n, n + 1
    .endr
    .endm

    .macro store_sums count
    each_by 4, n, %(32 - \count), %(\count / 4), several st1, 4, %(n), sums, #64
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

    .macro all_rounds R, C
1:  round \R, \C, %(count_pairs), %(lag)
    subs rounds, rounds, #1
    b.ne 1b
    .endm
    .set count_pairs, 4
    .set lag, 1
    use_registers_of_4x4
    tiles_below rows_of_4, 4, 4, store_rows
    tiles_below columns_4x4, 4, 4, store_columns
    .set adding, 1
    tiles_below adding_rows_of_4, 4, 4, store_rows
    tiles_below adding_columns_4x4, 4, 4, store_columns
    .set adding, 0
    tiles_below dense_4x3, 4, 3, store_dense
    tiles_below columns_4x3, 4, 3, store_columns
    use_registers_of_8x2
    .set count_pairs, 6
    .set lag, 2
    tiles_below dense_8x2, 8, 2, store_dense
    tiles_below columns_8x2, 8, 2, store_columns
    use_registers_of_16x1
    .set count_pairs, 7
    .set lag, 3
    tiles_below columns_16x1, 16, 1, store_dense
