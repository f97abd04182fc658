/* Tiles of 3x3 planes in place (planes.h) for cores that issue in order: the same
 * products in the same order of each sum as in kernels/depthwise/f32/planes/tiles_neon.h.
 *
 * A step is row `step` % R of dst with column `step` / R of the kernel: that row gets its products
 * of the kernel's first row, the row above those of the second, and the row above that those of the
 * third. It goes on so from column to column, so that products of one sum are always three rows of
 * others apart: eight FMLA, of two vectors. What a step needs is loaded AHEAD steps before, among
 * the products of others: rows of source to six places in turn, in v6 … v17, and weights to five,
 * v0 … v4. */
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

/* ---- where things are ---- */

/* Row `load_i` of source for column `load_kx` of the kernel, or i for kx. */
    .macro find_place kx, i, V, R
    .set place, ZERO + 1 + ((\kx * (\R + 2) + \i) % PLACES) * \V
    .endm

/* ---- loads: `part` is what comes next of what this step has to load ---- */

    .macro start_loads V
    when %is_edge, mov in, base
    or_when %(kx == 0), sub in, base, #4
    otherwise add in, base, #(4 * (kx - 1))
    .endm

/* The lower half of each vector by itself, the upper one by a general register. */
    .macro load_narrow V, x
    .set of_row, part % row_parts
    when %(of_row == row_parts - 1), when %(load_i + 1 < end), add in, in, row
    or_when %(of_row >= 2 * \V), insert_by %(of_row - 2 * \V), \x
    or_when %(of_row < 2), load_half %(of_row), \x, half, %(first_at)
    otherwise load_half %(of_row - 2), %(\x + 1), other_half, %(second_at)
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

/* Rows of a step: the one that it begins with, and one more in the last and the first step of a
 * column, which has two more rows than steps. */
    .macro find_rows R
    .set target, step + AHEAD
    .set load_kx, target / \R
    .set load_i, target % \R
    .set rows_left, 1
    .set part, 0
    .if load_i == \R - 1
    .set rows_left, 2
    .elseif (load_i == 0) & (load_kx > 0)
    .set load_kx, load_kx - 1
    .set load_i, \R + 1
    .set rows_left, 2
    .elseif target >= 3 * \R
    .set rows_left, 0
    .endif
    skip_rows \R
    .endm
    .macro skip_rows R
    .rept 2
    when %((rows_left > 0) & ((load_kx > 2) | (load_i < top) | (load_i >= end))), next_row \R
    .endr
    .endm
    .macro next_row R
    .set load_i, load_i + 1
    .if load_i == \R + 2
    .set load_i, 0
    .set load_kx, load_kx + 1
    .endif
    .set rows_left, rows_left - 1
    .set part, 0
    .endm

    .macro load_next V, R, side
    .if rows_left > 0
    .set kx, load_kx
    find_edge 3, \V, \side
    find_offsets \V
    when %((load_i == top) & (part == 0)), start_loads \V
    find_place load_kx, load_i, \V, \R
    load_narrow \V, %(place)
    .set part, part + 1
    .if part == row_parts
    next_row \R
    skip_rows \R
    .endif
    .endif
    .endm

/* Zeros for a row of the next step, a step after it was loaded. */
    .macro arrange_next kx_of, i_of, V, R, side
    .if (\kx_of >= 0) & (\kx_of < 3) & (\i_of >= top) & (\i_of < end)
    .set kx, \kx_of
    find_edge 3, \V, \side
    find_place \kx_of, \i_of, \V, \R
    arrange_row \V, %(place)
    .endif
    .endm
    .macro arrange_rows V, R, side
    .set target, step + 1
    .if target >= 0
    .set target_kx, target / \R
    .set target_i, target % \R
    arrange_next target_kx, target_i, \V, \R, \side
    when %(target_i < 2), arrange_next (target_kx - 1), (\R + target_i), \V, \R, \side
    .endif
    .endm

/* One weight in each of the first steps of a column. */
    .macro load_weight_to x, ky
    when %(\ky == 0), ldr s\x, [w]
    otherwise load_weight_by \x, w, %(4 + \ky)
    .endm
    .macro load_next_weight R
    .set target, step + AHEAD
    .if (target < 3 * \R) & (target % \R < 3)
    .set target_i, target % \R
    load_weight_to %((target / \R * 3 + target_i) % WEIGHTS), %(target_i)
    when %(target_i == 2), add w, w, w_tap
    .endif
    .endm

/* The bias, to the sums of a row of dst that begins. */
    .macro begin_row V, R, r
    .if \r < \R
    .set sum, 32 - \R * \V + (\r) * \V
    for_all spread_pair, %(sum), \V, bias_pair
    .endif
    .endm

/* What a step loads beside rows: one of these at a time. */
    .macro load_extra V, R
    when %(extra == 0), load_next_weight \R
    or_when %(extra == 1), begin_row \V, \R, (step + AHEAD)
    .set extra, extra + 1
    .endm

/* ---- products ---- */

/* Of row ky of the kernel; loads go on after each one. */
    .macro multiply_row ky, V, R, side
    .set target, step - \ky
    .if (target >= 0) & (target < 3 * \R)
    .set r, target % \R
    .set i, r + \ky
    .set product_kx, target / \R
    when %((i >= top) & (i < end)), each v, \V, multiply_vector \ky, \V, \R, \side
    .endif
    .endm
    .macro multiply_vector ky, V, R, side
    find_place product_kx, i, \V, \R
    fma %(32 - (\R - r) * \V + v), %(place + v), %((product_kx * 3 + \ky) % WEIGHTS), 0
    load_next \V, \R, \side
    .endm

    .macro take_step V, R, side
    find_rows \R
    arrange_rows \V, \R, \side
    .set extra, 0
    multiply_row 0, \V, \R, \side
    multiply_row 1, \V, \R, \side
    multiply_row 2, \V, \R, \side
    times %(2 * row_parts), load_next \V, \R, \side
    times %(2 - extra), load_extra \V, \R
    .endm

    .macro take_columns_in_order V, R, side, padding
    .set top, \padding % 2
    .set end, \R + 2 - \padding / 2
    .set row_parts, 3 * \V + 1
    each_from step, %(-AHEAD), %(3 * \R + 2 + AHEAD), take_step \V, \R, \side
    .endm

/* ---- stores: ST1, too, takes four cycles to move an address on. With each row goes a part of what
 * next_tile does ---- */

    .macro store_row_in_order V
    when %(\V == 1), store_q %(i), [out]
    otherwise store_pair %(i), %(i + 1), [out]
    add out, out, dst_row
    next_tile_part
    .endm

/* An instruction of it. */
next_out .req x7
    .macro next_tile_part
    when %(tile_part == 0), ldp base, next_out, [tiles], #16
    or_when %(tile_part == 1), ldr scratch, [tiles], #8
    or_when %(tile_part == 2), add base, base, src
    or_when %(tile_part == 3), ldrsw scratch, [bodies, scratch, lsl #2]
    or_when %(tile_part == 4), add next_out, next_out, dst
    or_when %(tile_part == 5), mov w, weights
    or_when %(tile_part == 6), add scratch, scratch, bodies
    .set tile_part, tile_part + 1
    .endm
    .macro store_and_next_tile V, R
    .set tile_part, 0
    each_by \V, i, %(32 - \R * \V), \R, store_row_in_order \V
    times %(7 - tile_part), next_tile_part
    mov out, next_out
    .endm

#endif
