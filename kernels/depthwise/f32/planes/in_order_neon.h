/* Tiles of 3x3 planes in place (planes.h) for cores that issue in order: the same
 * products in the same order of each sum as in kernels/depthwise/f32/planes/tiles_neon.h.
 *
 * Rows of source go on from column to column of the kernel, each to the next of six places, in v6 …
 * v17; weights to five, v0 … v4. Two rows are on their way while one is used: a part of their loads
 * comes after each product. A row gives to three rows of dst from the lowest one on, so that
 * products of one sum are eight FMLA apart, of two vectors. */
/* clang-format off */
#ifndef KERNELS_DEPTHWISE_F32_PLANES_IN_ORDER_NEON_H
#define KERNELS_DEPTHWISE_F32_PLANES_IN_ORDER_NEON_H

#include "kernels/depthwise/f32/planes/tiles_neon.h"

    .set AHEAD, 2
    .set WEIGHTS, 5
    .set PLACES, 6

/* Upper halves on their way, and the bias twice. */
    registers 7, half, other_half
bias_pair .req x27

/* ---- loads: `part` is what comes next of row number `loaded` of all columns ---- */

    .macro start_loads V
    when %is_edge, mov in, base
    or_when %(kx == 0), sub in, base, #4
    otherwise add in, base, #(4 * (kx - 1))
    .endm

/* The lower half of each vector by itself, the upper one by a general register; then the zeros of an
 * edge. */
    .macro load_narrow V, x
    when %(part < 2), load_half %(part), \x, half, %(first_at)
    or_when %(part < 2 * \V), load_half %(part - 2), %(\x + 1), other_half, %(second_at)
    or_when %(part < 3 * \V), insert_by %(part - 2 * \V), \x
    or_when %((part == 3 * \V) & (loaded % rows + 1 < rows)), add in, in, row
    or_when %(part == row_parts - 1), arrange_row \V, \x
    .endm
    .macro load_half is_upper, x, by, at
    when \is_upper, ldur \by, [in, #(\at + 8)]
    otherwise ldur d\x, [in, #\at]
    .endm
    .macro insert_by vector, x
    when \vector, set_upper %(\x + 1), other_half
    otherwise set_upper \x, half
    .endm

/* As in load_edge. */
    .macro find_offsets V
    .set first_at, 0
    .set second_at, apart - 4 * ahead
    when %(\V == 2), .set first_at, 4 * beyond
    .endm

    .macro load_next V, side
    .if loaded < load_end
    .set kx, loaded / rows
    find_edge 3, \V, \side
    find_offsets \V
    when %((loaded % rows == 0) & (part == 0)), start_loads \V
    load_narrow \V, %(ZERO + 1 + loaded % PLACES * \V)
    .set part, (part + 1) % row_parts
    when %(part == 0), .set loaded, loaded + 1
    .endif
    .endm
/* Rows up to AHEAD behind this number, those behind the last one not. */
    .macro load_ahead number
    .set load_end, \number + AHEAD + 1
    when %(load_end > 3 * rows), .set load_end, 3 * rows
    .endm

/* Of column `column`, as soon as nothing uses what was in its register. */
    .macro load_weight_of column, ky
    load_weight_to %((\column * 3 + \ky) % WEIGHTS), \ky
    when %(\ky == 2), add w, w, w_tap
    .endm

/* The bias, to the sums of a row of dst that begins. */
    .macro begin_row V, R, r
    when %(\r < \R), for_all spread_pair, %(32 - (\R - \r) * \V), \V, bias_pair
    .endm

/* ---- products; loads go on after each one ---- */

    .macro take_row V, R, side
    .set column, n / rows
    .set i, top + n % rows
    load_ahead n
    when %(column == 0), begin_row \V, \R, %(i + 1)
    when %((column < 2) & (i >= \R - 2) & (i <= \R)), load_weight_of %(column + 1), %(i - \R + 2)
    each_by -1, r, %(\R - 1), \R, when %((i >= r) & (i - r < 3)), each v, \V, multiply_vector \V, \R, \side
    times %(2 * row_parts), load_next \V, \side
    .endm
    .macro multiply_vector V, R, side
    fma %(32 - (\R - r) * \V + v), %(ZERO + 1 + n % PLACES * \V + v), %((column * 3 + i - r) % WEIGHTS), 0
    load_next \V, \side
    .endm

    .macro take_columns_in_order V, R, side, padding
    .set top, \padding % 2
    .set rows, \R + 2 - top - \padding / 2
    .set row_parts, 3 * \V + 2
    .set loaded, 0
    .set part, 0
    load_ahead -1
    each ky, 3, load_weight_of 0, %ky
    times %(2 * row_parts), load_next \V, \side
    each r, %(top + 1), begin_row \V, \R, %r
    each n, %(3 * rows), take_row \V, \R, \side
    .endm

/* ST1, too, takes four cycles to move an address on. */
    .macro store_in_order V, R
    each_by \V, i, %(32 - \R * \V), \R, store_row_in_order \V
    .endm
    .macro store_row_in_order V
    when %(\V == 1), store_q %(i), [out]
    otherwise store_pair %(i), %(i + 1), [out]
    add out, out, dst_row
    .endm

#endif
