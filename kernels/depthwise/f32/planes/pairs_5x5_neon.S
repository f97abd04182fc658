/* Depthwise 5x5 convolution of planes in place with stride 2 in pairs (planes.h): lists of bands,
 * and planes of 7x7, which are one block.
 *
 * A tile adds the pairs of two columns of the kernel in all its rows, those of two more, and then
 * the single column. Four rows: 100 FMLA, 11 UZP2, 4 FADDP and 33 LD1 of two vectors. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_bands_neon.h"

    .set KERNEL, 5

/* Vector registers: weights of a step by row of the kernel, of pairs or, in lane 0, of the single
 * column; zeros in v8; four rows of source; two vectors of sums, later one, for each row of dst. */
    .set ROWS, 4
    .set AHEAD, 2
    .set ZERO, 8
    .set SOURCE, 9
    .set SUMS, 18
    .set is_whole, 0

/* The sides of whole planes: columns 1 … 4 of dst are as in the middle; columns 0, 5 and 6 are one
 * tile, whose lane 1 is left over. So nothing has to be shifted in at the edges, and most of what is
 * padding is left out: column 0 has nothing of the first pair, and half a vector of the other one. */
    .set OUTER, 4

/* ---- rows of source: to v(x) and v(x + 1), and what their sums need of them in v(x) ---- */

    .macro load_row x
    several ld1, 2, \x, in, row
    .endm
    .macro load_parts first, size, second, offset
    ldr q\first, [in]
    ldr \size\second, [in, #\offset]
    add in, in, row
    .endm

/* Two columns of the kernel, number `pair` of them. The left edge may lack two columns. */
    .macro start_pairs side
    .set is_cut, (\side == LEFT) & (step == 0)
    when %(\side == OUTER), add in, base, #(32 + 8 * step)
    or_when %((is_cut) | (step == 1)), mov in, base
    otherwise sub in, base, #8
    .endm
    .macro load_pairs side, x
    when %is_cut, load_parts \x, q, %(\x + 1), 8
    or_when %(\side != OUTER), load_row \x
    or_when %step, load_half_before \x, %(\x + 1)
    otherwise several ld1, 1, %(\x + 1), in, row
    .endm
    .macro load_half_before first, second
    ldur d\first, [in, #-40]
    ldr q\second, [in]
    add in, in, row
    .endm
    .macro arrange_pairs side, x
    when is_cut, shift_in \x, %ZERO, \x, 8
    .endm
    .macro use_pairs side, x, r, ky
    when %((\side != OUTER) | (step > 0)), fma %(SUMS + 2 * \r), \x, %(\ky)
    fma %(SUMS + 2 * \r + 1), %(\x + 1), %(\ky)
    .endm

/* The last column, of which tiles that are not the last one load nothing beyond what they need. */
    .macro start_single side
    when %(\side < RIGHT), add in, base, #4
    otherwise add in, base, #8
    .endm
    .macro load_single side, x
    when %(\side == OUTER), load_parts \x, d, %(\x + 1), 40
    or_when %(\side == RIGHT), load_parts \x, d, %(\x + 1), 16
    otherwise load_row \x
    .endm
    .macro arrange_single side, x
    when %(\side < RIGHT), floats uzp2, \x, \x, %(\x + 1)
    otherwise floats uzp1, \x, \x, %(\x + 1)
    .endm
    .macro use_single side, x, r, ky
    fma %(SUMS + \r), \x, %(\ky), 0
    .endm

/* ---- a tile ---- */

/* Weights of a step are on the stack, 32 bytes behind the bias. */
    .set STEP_BYTES, 5 * 16
    .macro load_weights size
    each ky, 5, load_stacked \size, %ky, %(step * STEP_BYTES + 16 * ky)
    .endm
    .macro load_stacked size, to, at
    ldr \size\to, [sp, #at_locals + 32 + \at]
    .endm

/* What is done while the first rows come. */
    .macro prepare_pairs R
    load_weights q
    when %(step == 0), each_by 2, sum, SUMS, \R, load_pair %sum, %(sum + 1), [sp, #at_locals]
    .endm
    .macro prepare_single R
    load_weights s
    each r, \R, floats faddp, %(SUMS + r), %(SUMS + 2 * r), %(SUMS + 2 * r + 1)
    .endm

/* All rows of source that exist; each is loaded while the ones before it are used. */
    .macro walk R, padding, side, what
    .set top, \padding % 2 * 2
    .set end, 2 * \R + 3 - \padding / 2
    start_\what \side
    .set i, top - AHEAD
    .rept end - top + AHEAD
    when %(i + AHEAD < end), load_\what \side, %((i + AHEAD - top) % ROWS * 2 + SOURCE)
    when %(i + 1 == top), prepare_\what \R
    when %((i + 1 >= top) & (i + 1 < end)), arrange_\what \side, %((i + 1 - top) % ROWS * 2 + SOURCE)
    .if i >= top
    reach \R, use_\what \side, %((i - top) % ROWS * 2 + SOURCE)
    when is_whole, take_next \side
    .endif
    .set i, i + 1
    .endr
    .endm
/* Each row of dst that row i of source reaches. */
    .macro reach R, what:vararg
    each r, \R, when %((i >= 2 * r) & (i < 2 * r + 5)), \what, %(r), %(i - 2 * r)
    .endm

    .macro store_outer sum
    st1 {v\sum\().s}[0], [to], dst_row
    st1 {v\sum\().d}[1], [out], dst_row
    .endm

    .macro add_all R, padding, side
    each step, 2, walk \R, \padding, \side, pairs
    walk \R, \padding, \side, single
    mov to, out
    .endm
    .macro tile R, padding, side
    add_all \R, \padding, \side
    each_from sum, SUMS, \R, several st1, 1, %sum, to, dst_row
    add base, base, #32
    add out, out, #16
    .endm

/* ---- a plane ---- */

    .macro load_weight register, kx, from
    when %(\kx == 0), ldr \register, [\from]
    otherwise load_weight_at \register, %(3 + \kx), \from
    .endm
    .macro load_weight_at register, offset, from
    ldr \register, [\from, x\offset]
    .endm
    .macro take_pair ky, step, from
    load_weight w16, %(2 * \step), \from
    load_weight w27, %(2 * \step + 1), \from
    orr x16, x16, x27, lsl #32
    stp x16, x16, [sp, #at_locals + 32 + \step * STEP_BYTES + 16 * \ky]
    .endm
    .macro take_single ky, from
    load_weight w16, 4, \from
    str w16, [sp, #at_locals + 32 + 2 * STEP_BYTES + 16 * \ky]
    .endm
    .macro take_row ky
    take_pair \ky, 0, in
    take_pair \ky, 1, in
    take_single \ky, in
    add in, in, weights_row
    .endm

    .macro begin_function_constants
    clear %(ZERO)
    lsl x5, w_tap, #1
    add x6, x5, w_tap
    lsl x7, w_tap, #2
    .endm
    .macro stack_bias
    load_bias w16
    stp x16, x16, [sp, #at_locals]
    stp x16, x16, [sp, #at_locals + 16]
    .endm
    .macro begin_plane_constants
    stack_bias
    mov in, weights
    each ky, 5, take_row %ky
    .endm

/* ---- planes of 7x7: one block of instructions ---- */

next_weights .req x28

/* A part of the next plane's weights, as soon as those that are there have been loaded for the last
 * time; or those of the last plane once more. */
    .macro take_next side
    .set ky, (i - top) / 2
    .if (\side == OUTER) & (step > 0)
    when %(i == top), find_next_weights
    .if ky >= 5
    .elseif i % 2
    when %(step == 2), take_single %(ky), next_weights
    add next_weights, next_weights, weights_row
    .else
    take_pair %(ky), %(step - 1), next_weights
    .endif
    .endif
    .endm
    .macro find_next_weights
    cmp planes, #1
    cset next_weights, ne
    add next_weights, weights, next_weights, lsl #2
    .endm
    .macro whole_planes
    .set is_whole, 1
    mov in, weights
    each ky, 5, take_row %ky
15: stack_bias
    add base, src, #8
    add out, dst, #4
    add_all 7, 3, MIDDLE
    each_from sum, SUMS, 7, several st1, 1, %sum, to, dst_row
    mov base, src
    mov out, dst
    add_all 7, 3, OUTER
    add out, dst, #20
    for_all store_outer, %(SUMS), 7
    .set is_whole, 0
    next_whole_plane 7, 15b
    b 12b
    .endm

    function dwconv_f32_planes_pairs_5x5
