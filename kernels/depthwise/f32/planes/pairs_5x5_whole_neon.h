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
    .if kind == IN_ORDER_WIDE
    find_taps
    .endif
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
    .if kind == IN_ORDER_WIDE
    walk_whole_by_rows \columns, \step, \clamps
    .else
    walk_whole_down \columns, \step, \clamps
    .endif
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

/* For wide cores that issue in order, a step for each row of the kernel, as above, of what the rows of
 * dst need of it: each of these has an address, two rows above its middle one. Loads are four products
 * ahead, and UZP1 two. */
place_0 .req x0
place_1 .req x1
place_2 .req x11
place_3 .req x12
place_4 .req x28
place_5 .req x29
place_6 .req x30
first_column .req x9 /* `to` and `out` come afterwards */
second_column .req x3
    .set WHOLE_SLOTS, 6
    .set WHOLE_PRODUCTS, 32 /* of a vector's sums, by rows of dst and of the kernel */
    .macro find_places
    sub place_0, src, row, lsl #1
    mov place_1, src
    add place_2, src, row, lsl #1
    add place_3, src, row, lsl #2
    add place_4, place_2, row, lsl #2
    add place_5, src, row, lsl #3
    add place_6, place_2, row, lsl #3
    .endm
    .macro first_place of
    .set ky_\of, 0
    .set r_\of, 1
    .endm
    .macro next_place of
    .set r_\of, r_\of + 1
    .if 2 * r_\of + ky_\of - 2 >= 2 * WHOLE_ROWS
    .set r_\of, WHOLE_ROWS
    .endif
    .if r_\of == WHOLE_ROWS
    .set ky_\of, ky_\of + 1
    .set r_\of, 0 - (ky_\of < 2)
    .endif
    .endm
    .macro find_columns columns, step
    .if ky_load
    add first_column, first_column, row
    add second_column, second_column, row
    .elseif \columns == INNER
    mov first_column, #(8 * \step)
    mov second_column, #(8 * \step + 16)
    .else
    mov first_column, #(8 * (\step / SINGLE))
    mov second_column, #(32 + 8 * \step)
    .endif
    .endm
    .macro load_place columns, step, x
    .if r_load == 0 - (ky_load < 2)
    find_columns \columns, \step
    .endif
    .if \columns == INNER
    load_place_of q, \x, q, %(\x + 1), %(r_load)
    .elseif \step == 0
    load_by_column q, %(\x + 1), %(r_load), second_column
    .elseif \step == 1
    load_place_of d, \x, q, %(\x + 1), %(r_load)
    .else
    load_place_of q, \x, d, %(\x + 1), %(r_load)
    .endif
    next_place load
    .endm
    .macro load_place_of size, x, y_size, y, r
    load_by_column \size, \x, \r, first_column
    load_by_column \y_size, \y, \r, second_column
    .endm
    .macro load_by_column size, x, r, at
    ldr \size\x, [place_\r, \at]
    .endm
    .macro use_place columns, step, x
    use_in_row \columns, \step, \x, %(r_use), %(ky_use)
    next_place use
    .endm
    .macro walk_whole_by_rows columns, step, clamps
    first_place load
    first_place use
    .set i, 0 - 4
    .rept WHOLE_PRODUCTS + 4
    .if i + 4 < WHOLE_PRODUCTS
    load_place \columns, \step, %(WHOLE_SOURCE + (i + 4) % WHOLE_SLOTS * 2)
    .endif
    .if i == 0 - 4
    begin_whole_step \columns, \step
    .endif
    .if (\step == SINGLE) & (i + 2 >= 0) & (i + 2 < WHOLE_PRODUCTS)
    separate_whole %(WHOLE_SOURCE + (i + 2) % WHOLE_SLOTS * 2)
    .endif
    .if i >= 0
    use_place \columns, \step, %(WHOLE_SOURCE + i % WHOLE_SLOTS * 2)
    .if (\columns == OUTER) & (\step > 0)
    stack_next \step, %(i)
    .endif
    .endif
    .set i, i + 1
    .endr
    .if \step == SINGLE
    find_whole_dst \columns
    .set r, 0
    .rept WHOLE_ROWS
    store_whole \columns, %(WHOLE_SUMS + r), \clamps
    .set r, r + 1
    .endr
    .endif
    .endm
    .macro begin_whole_step columns, step
    .if \step == 0
    for_all load_whole_bias, 0, WHOLE_ROWS
    .endif
    load_step_weights \step
    .if (\columns == OUTER) & (\step > 0)
    find_next_weights
    .endif
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
    .if kind != IN_ORDER_WIDE
    find_whole_dst \columns
    .endif
    walk_whole \columns, SINGLE, \clamps
    .endm
    .macro whole_plane clamps
    stack_bias
    .if kind == IN_ORDER_WIDE
    find_places
    .endif
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
