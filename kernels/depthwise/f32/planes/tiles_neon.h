/* Tiles of planes in place (planes.h): what is in their assembly files.
 *
 * A tile of R rows of V vectors keeps its sums in the last R V registers. For each column of the
 * kernel its K weights are in lane 0 of v0 … v(K - 1), and each row of source is loaded once, into
 * one of three places, which follow a vector of zeros: in v5 and v6 … v11.
 * 3x3, eight columns, seven rows: 126 FMLA, 27 LD1 of two registers and 9 loads of weights; at an
 * edge, 9 EXT and 18 other loads more. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

/* Of a tile; WHOLE is columns 0 … 3 and 3 … 6 of a plane of seven. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set WHOLE, 3

    .set ZERO, 5
    .set copies, 0 /* does something beside the tile come with each row, by `copy_next`? */

w .req x3
/* x5 … x8: from the first row of weights to the others */

/* ---- a row of source ---- */

    .macro load_part size, x, at
    ldur \size\x, [in, #\at]
    .endm

/* The V vectors of source that V vectors of dst need; these are `apart` bytes from each other.
 * `ahead` elements of the first one lie before the plane, or `beyond` of the last one behind it:
 * LDR of half a vector, or of one element, makes the others zeros. */
    .macro load_edge V, x
    .set j, 0
    .rept \V
    .set at, j * apart
    when %(j > 0), .set at, at - 4 * ahead
    when %(j < \V - 1), .set at, at + 4 * beyond
    when %((j < \V - 1) | (beyond < 2)), load_part q, %(\x + j), %(at)
    or_when %(beyond == 2), load_part d, %(\x + j), %(at + 8)
    otherwise load_part s, %(\x + j), %(at + 12)
    .set j, j + 1
    .endr
    add in, in, row
    .endm
    .macro load_row V, x
    when %is_edge, load_edge \V, \x
    otherwise several ld1, \V, \x, in, row
    .endm

/* The zeros of an edge. */
    .macro arrange_row V, x
    when %(ahead > 0), shift_in \x, %ZERO, \x, %(16 - 4 * ahead)
    when %(beyond == 1), shift_in %(\x + \V - 1), %(\x + \V - 1), %ZERO, %(4 * beyond)
    .endm

/* What row i of source, in registers from x on, gives to every output it reaches, from the lowest one
 * on: so the products of an output are as far from each other as they can be, which cores that issue
 * in order wait for. */
    .macro reach K, V, R, x
    each_by -1, r, %(\R - 1), \R, when %((i >= r) & (i - r < \K)), multiply_vectors \V, %(32 - (\R - r) * \V), \x
    .endm
    .macro multiply_vectors V, sum, x
    each v, \V, fma %(\sum + v), %(\x + v), %(i - r), 0
    .endm

/* ---- a tile ---- */

    .macro load_weight_to x, ky
    when %(\ky == 0), ldr s\x, [w]
    otherwise load_weight_by \x, w, %(4 + \ky)
    .endm
    .macro load_weight_by to, from, offset
    ldr s\to, [\from, x\offset]
    .endm

/* What is ahead of the tile and beyond it at column kx of the kernel. */
    .macro find_edge K, V, side
    .set from_middle, kx - \K / 2
    .set ahead, 0
    .set beyond, 0
    when %((\side != RIGHT) & (\side > 0) & (from_middle < 0)), .set ahead, 0 - from_middle
    when %((\side >= RIGHT) & (from_middle > 0)), .set beyond, from_middle
    .set apart, 16
    .set is_edge, ahead + beyond
    .if \side == WHOLE
    .set apart, 12
    .set is_edge, 1
    .endif
    .endm

/* Each row is loaded while the one before is used. */
    .macro take_column K, V, R, side, padding
    find_edge \K, \V, \side
    when %is_edge, mov in, base
    or_when %(kx < \K / 2), sub in, base, #(4 * (\K / 2 - kx))
    otherwise add in, base, #(4 * (kx - \K / 2))
    load_row \V, %(ZERO + 1)
    each ky, \K, load_weight_to %ky, %ky
    when %(kx + 1 < \K), add w, w, w_tap
    arrange_row \V, %(ZERO + 1)
    .set i, \padding % 2 * (\K / 2)
    .set end, \R - 1 + \K - \padding / 2 * (\K / 2)
    .set slot, 0
    .rept end - i
    .if i + 1 < end
    load_row \V, %(ZERO + 1 + (slot + 1) % 3 * \V)
    arrange_row \V, %(ZERO + 1 + (slot + 1) % 3 * \V)
    .endif
    reach \K, \V, \R, %(ZERO + 1 + slot * \V)
    when copies, copy_next
    .set slot, (slot + 1) % 3
    .set i, i + 1
    .endr
    .endm

    .macro load_bias sum, V
    when %(\V == 2), load_pair \sum, %(\sum + 1), [sp, #at_locals]
    otherwise load_q \sum, [sp, #at_locals]
    .endm

    .macro store_rows V, R, side, to
    when %(\side == WHOLE), add scratch, \to, #12
    each_by \V, i, %(32 - \R * \V), \R, store_row \V, \side, \to
    .endm
    .macro store_row V, side, to
    when %(\side == WHOLE), several st1, 1, %(i + 1), scratch, dst_row
    when %(\side == WHOLE), several st1, 1, %(i), \to, dst_row
    otherwise several st1, \V, %(i), \to, dst_row
    .endm

    .macro take_columns K, V, R, side, padding
    .if kind
    take_columns_in_order \V, \R, \side, \padding
    .else
    each_by \V, i, %(32 - \R * \V), \R, load_bias %i, \V
    each kx, \K, take_column \K, \V, \R, \side, \padding
    .endif
    .endm

    .macro limit V, R
    ldp q0, q1, [clamp]
    clamp_all %(32 - \R * \V), %(\R * \V), 0, 1
    .endm

/* From the first row of weights to the others, and zeros. */
    .macro begin_tiles K
    ldr x5, [job, #job.weights_row]
    lsl x6, x5, #1
    add x7, x6, x5
    lsl x8, x5, #2
    clear %(ZERO)
    .endm
