/* Planes of 7x7 of depthwise 5x5 convolution in place with stride 2 in pairs: a part of
 * pairs_5x5_neon.h.
 *
 * All seven rows of columns 1 … 4 of dst, and then those of columns 0, 5 and 6. So pairs of columns
 * of source begin with column 0 or 2, nothing has to be shifted in at the edges, and most of what
 * is padding is left out: column 0 has nothing of the first pair, and half a vector of the other
 * one. 288 FMLA, 28 UZP1, 14 FADDP and 21 stores, where tiles of four columns took 320, 34, 14 and
 * 14, and 17 EXT.
 *
 * Weights of one step are in v0 … v4: pairs, from the stack; or the single column in lanes of v0
 * and v1. Rows of source, of two vectors each, are in v5 … v16, sums in v18 … v31: two vectors of a
 * row; then one. */
/* clang-format off */

    .set WHOLE_ROWS, 7
    .set WHOLE_SOURCE, 5
    .set WHOLE_SUMS, 18
    .set WHOLE_AHEAD, 2
    .set INNER, 0
    .set OUTER, 1
    .set SINGLE, 2
next_weights .req x17
rows_apart .req x27 /* of weights, as x8 is lost */

/* On the stack: the bias; weights of pairs, and those of the single column. */
    .macro find_stacked
    .set stacked, at_locals + 48
    .endm
    .macro stack_bias
    load_bias w16
    stp x16, x16, [sp, #at_locals]
    stp x16, x16, [sp, #at_locals + 16]
    .endm

/* Parts of row ky of the kernel's weights. The next plane's, or the last one's once more, go there among
 * multiply-adds, as soon as those that are there have been loaded for the last time. */
    .macro stack_first_pair ky
    ldr w16, [next_weights]
    ldr w8, [next_weights, w_tap]
    stack_pair %(16 * \ky)
    .endm
    .macro stack_second_pair ky
    ldr w16, [next_weights, x5]
    ldr w8, [next_weights, x6]
    stack_pair %(16 * (5 + \ky))
    .endm
    .macro stack_pair at
    orr x16, x16, x8, lsl #32
    stp x16, x16, [sp, #stacked + \at]
    .endm
    .macro stack_single ky
    ldr w16, [next_weights, x7]
    str w16, [sp, #(stacked + 160 + 4 * \ky)]
    .endm
    .macro stack_row ky
    stack_first_pair \ky
    stack_second_pair \ky
    stack_single \ky
    next_weights_row
    .endm
    .macro next_weights_row
    add next_weights, next_weights, rows_apart
    .endm
    .macro begin_whole
    find_stacked
    mov rows_apart, weights_row
    mov next_weights, weights
    for_all stack_row, 0, 5
    .endm
    .macro find_next_weights
    cmp planes, #1
    cset next_weights, ne
    add next_weights, weights, next_weights, lsl #2
    .endm
    .macro stack_next step, i
    .if \i >= 10
    .elseif \i % 2
    .if \step == 1
    stack_second_pair %(\i / 2)
    .endif
    next_weights_row
    .elseif \step == 1
    stack_first_pair %(\i / 2)
    .elseif \step == SINGLE
    stack_single %(\i / 2)
    .endif
    .endm
    .macro load_stacked to, at
    ldr q\to, [sp, #\at]
    .endm
    .macro load_step_weights step
    .if \step == SINGLE
    load_stacked 0, %(stacked + 160)
    load_stacked 1, %(stacked + 176)
    .else
    .set ky, 0
    .rept 5
    load_stacked %(ky), %(stacked + 16 * (5 * \step + ky))
    .set ky, ky + 1
    .endr
    .endif
    .endm

/* Columns of source; a column of dst whose half a vector it is comes first, as LDR of it clears the
 * other half. Where UZP1 takes every other column, what is not needed is of lane 1. */
    .macro start_whole columns, step
    .if \columns == INNER
    add in, src, #(8 * \step)
    .elseif \step == SINGLE
    add in, src, #8
    .else
    add in, src, #(32 + 8 * \step)
    .endif
    .endm
    .macro load_whole columns, step, x
    .if \columns == INNER
    load_row \x
    .elseif \step == 0
    several ld1, 1, %(\x + 1), in, row
    .elseif \step == 1
    load_half_before \x, %(\x + 1)
    .else
    load_parts \x, d, %(\x + 1), 40
    .endif
    .endm
    .macro load_half_before first, second
    ldur d\first, [in, #-40]
    ldr q\second, [in]
    add in, in, row
    .endm
/* What a row of source gives to row r of dst by row ky of the kernel. */
    .macro use_in_row columns, step, x, r, ky
    .if \step == SINGLE
    fma %(WHOLE_SUMS + \r), \x, %(\ky / 4), %(\ky % 4)
    .else
    .if (\columns == INNER) | (\step == 1)
    fma %(WHOLE_SUMS + 2 * \r), \x, \ky
    .endif
    fma %(WHOLE_SUMS + 2 * \r + 1), %(\x + 1), \ky
    .endif
    .endm
    .macro use_whole columns, step, x
    .set r, 0
    .rept WHOLE_ROWS
    .set ky, i + 2 - 2 * r
    .if (ky >= 0) & (ky < 5)
    use_in_row \columns, \step, \x, %(r), %(ky)
    .endif
    .set r, r + 1
    .endr
    .endm

    .macro load_whole_bias r
    load_bias_to %(WHOLE_SUMS + 2 * \r), %(WHOLE_SUMS + 2 * \r + 1)
    .endm
    .macro add_whole_pairs r
    add_neighbours %(WHOLE_SUMS + \r), %(WHOLE_SUMS + 2 * \r), %(WHOLE_SUMS + 2 * \r + 1)
    .endm
    .macro load_bias_of_row i
    .if \i == 0
    load_whole_bias 0
    .endif
    .if (\i % 2 == 0) & (\i / 2 + 1 < WHOLE_ROWS)
    load_whole_bias %(\i / 2 + 1)
    .endif
    .endm

/* Going down: each row of source is loaded while the ones before it are used. */
    .macro walk_whole columns, step, clamps
    walk_whole_down \columns, \step, \clamps
    .endm
    .macro walk_whole_down columns, step, clamps
    start_whole \columns, \step
    load_step_weights \step
    .if (\columns == OUTER) & (\step > 0)
    find_next_weights
    .endif
    .set i, 0 - WHOLE_AHEAD
    .rept 2 * WHOLE_ROWS + WHOLE_AHEAD
    .if i + WHOLE_AHEAD < 2 * WHOLE_ROWS
    load_whole \columns, \step, %(WHOLE_SOURCE + (i + WHOLE_AHEAD) % 4 * 2)
    .if \step == 0
    load_bias_of_row %(i + WHOLE_AHEAD)
    .endif
    .endif
    .if i >= 0
    .if \step == SINGLE
    separate_whole %(WHOLE_SOURCE + i % 4 * 2)
    .endif
    use_whole \columns, \step, %(WHOLE_SOURCE + i % 4 * 2)
    .if \step == SINGLE
    finish_row \columns, \clamps
    .endif
    .if (\columns == OUTER) & (\step > 0)
    stack_next \step, %(i)
    .endif
    .endif
    .set i, i + 1
    .endr
    .endm

    .macro separate_whole x
    every_other uzp1, \x, \x, %(\x + 1)
    .endm

/* Stores among multiply-adds cost less than all together: row r has all of its products after row
 * 2 r + 2 of source, the last one before. */
    .macro finish_row columns, clamps
    .if (i == 2 * WHOLE_ROWS - 1) | ((i >= 2) & (i % 2 == 0))
    store_whole \columns, %(WHOLE_SUMS + (i - 1) / 2), \clamps
    .endif
    .endm
    .macro store_whole columns, sum, clamps
    .if \clamps
    clamp_to \sum, 2, 3
    .endif
    .if \columns == INNER
    store \sum
    .else
    st1 {v\sum\().s}[0], [to], dst_row
    st1 {v\sum\().d}[1], [out], dst_row
    .endif
    .endm
    .macro find_whole_dst columns
    .if \columns == INNER
    add to, dst, #4
    .else
    mov to, dst
    add out, dst, #20
    .endif
    .endm
    .macro whole_columns columns, clamps
    walk_whole \columns, 0
    walk_whole \columns, 1
    for_all add_whole_pairs, 0, WHOLE_ROWS
    .if \clamps
    ldp q2, q3, [clamp]
    .endif
    find_whole_dst \columns
    walk_whole \columns, SINGLE, \clamps
    .endm
    .macro whole_plane clamps
    stack_bias
    whole_columns INNER, \clamps
    whole_columns OUTER, \clamps
    .endm

    .macro whole_planes clamps
    begin_whole
15: whole_plane \clamps
    next_plane
    b.ne 15b
    b 12b
    .endm
