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

/* How many pairs there are room for, and a lag that sums need. */
    .macro set_pairs_and_lag R, C
    .set pairs, 4
    .set lag, 1
    when %(\C < 3), .set lag, 2
    when %(\R == 8), .set pairs, 6
    .if \R == 16
    .set pairs, 7
    .set lag, 3
    .endif
    .endm

    .macro all_rounds R, C
    set_pairs_and_lag \R, \C
1:  round \R, \C, %(pairs), %(lag)
    subs rounds, rounds, #1
    b.ne 1b
    .endm

    .macro store_sums R, C
    each_by 4, n, %(32 - \R * \C), %(\R * \C / 4), several st1, 4, %(n), sums, #64
    .endm

    all_tiles
