/* Depthwise 3x3 by tiles of one or two rows, some columns and eight channels, for NEON: see
 * tiles.h.
 *
 * A tile is as many steps of steps_neon.h as it has columns, without a branch; its weights
 * are loaded while multiply-adds of the one before go on. Two rows and seven columns of stride 1: 252
 * FMLA, 36 loads of source, 9 of weights, 14 of the bias and 14 stores, each of a pair of vectors, and
 * 30 instructions that find what the tile and the next one are. */

#include "kernels/depthwise/f32/rows/slide_neon.h"
#include "kernels/depthwise/f32/steps_neon.h"
#include "kernels/depthwise/f32/tiles_offsets.h"

/* x9 … x13 are rows of source, x14 and x15 of dst. */
job .req x0
channel_step .req x0
column .req x1
dst_column .req x2
bias .req x3
channel .req x4
count .req x5
list .req x6
first_channel .req x7
body .req x8
scratch .req x16
start .req x17
next_dst .req x19
first_bias .req x20
weights_back .req x21
weights .req x22
bias_mask .req x23
dst_row .req x24
clamp .req x25
tiles .req x26
tiles_begin .req x27
tiles_end .req x28
next_weights .req x29
three_taps .req x30

/* ---- parts of a tile ---- */

/* The slot of the output that column k of a tile's source reaches with kx, or 9. */
    .macro find_slot slot, k, kx, S
    .set \slot, 9
    .if \k >= \kx
    .if ((\k - \kx) / \S * \S == \k - \kx) & ((\k - \kx) / \S < width)
    .set \slot, (\k - \kx) / \S
    .set \slot, \slot - \slot / (4 - \S) * (4 - \S)
    .endif
    .endif
    .endm

    .macro take_column S, R, k
    find_slot slot_0, \k, 0, \S
    find_slot slot_1, \k, 1, \S
    find_slot slot_2, \k, 2, \S
    take 2, %(4 - \S), \R, %(slot_0), %(slot_1), %(slot_2)
    .endm

/* An output that is complete, and the beginning of the one that follows in its place. */
    .macro finish_column S, clamps, R, output
    .set slot, \output - \output / (4 - \S) * (4 - \S)
    finish 2, %(4 - \S), \R, \clamps, %(slot)
    .if \output + 4 - \S < width
    init 2, %(4 - \S), \R, %(slot)
    .endif
    .endm

/* The weights of column kx, which are the next ones; then those of the next column are. */
    .macro load_weights_column kx
    several ld1, 2, %(2 * \kx), next_weights, three_taps
    several ld1, 2, %(2 * (\kx + 3)), next_weights, three_taps
    several ld1, 2, %(2 * (\kx + 6)), next_weights, weights_back
    .endm
    .macro load_first_weights
    add next_weights, weights, channel
    load_weights_column 0
    .endm

/* All of the tile but the first `left` and the last `right` columns exist. The first weights are
 * there already, and so are the next tile's in the end; nothing else is loaded long before it is
 * needed, so that there are always multiply-adds among the next hundred instructions. */
    .macro tile_columns done, S, clamps, R, left, right
    .set next_at, 5
    .if columns < 7
    .set next_at, columns - 2
    .endif
    .set k, 0
    .rept columns
    .if (k >= 1) & (k < 3)
    load_weights_column %(k)
    .endif
    .if k == next_at
    next_tile \done, \S, \R
    .endif
    .if k == columns - 2
    load_first_weights
    .endif
    .if (k < 3) & (k / \S * \S == k) & (k / \S < 4 - \S)
    init 2, %(4 - \S), \R, %(k / \S)
    .endif
    .if (k >= \left) & (k < columns - \right)
    take_column \S, \R, %(k)
    .endif
    .if (k >= 2) & ((k - 2) / \S * \S == k - 2)
    finish_column \S, \clamps, \R, %((k - 2) / \S)
    .endif
    .set k, k + 1
    .endr
    .endm

/* ---- one row of outputs with stride 2 ---- */

/* Two outputs of two vectors are too few sums for multiply-adds that do not wait for each other. So
 * step t, row by row, completes output t - 1 with what it has of column 2 t, goes on with output t and
 * column 2 t + 1, and begins output t + 1 with column 2 t + 2, which stays in v24 … v29. */
    .macro give output, value, i, kx
    .set sum, 18 + 2 * (\output - \output / 3 * 3)
    fma %(sum), \value, %(6 * \i + 2 * \kx)
    fma %(sum + 1), %(\value + 1), %(6 * \i + 2 * \kx + 1)
    .endm
    .macro take_row_of_step t, i, left, right
    .if \t >= 1
    give %(\t - 1), %(24 + 2 * \i), \i, 2
    .endif
    .if (\t >= 0) & (\t < width)
    load_vectors 2, 30, %(9 + \i), column
    give \t, 30, \i, 1
    .endif
    .if (\t < width) & ((\t >= 0) | (\left == 0)) & ((\t < width - 1) | (\right == 0))
    load_vectors 2, %(24 + 2 * \i), %(9 + \i), column
    .if \t < width - 1
    give %(\t + 1), %(24 + 2 * \i), \i, 0
    .endif
    .endif
    .endm
    .macro tile_step t, clamps, left, right
    .if \t < width - 1
    init 2, 3, 1, %(\t + 1 - (\t + 1) / 3 * 3)
    .endif
    .if (\t < width) | (\right == 0)
    .set i, rows_above
    .rept 3 - rows_above - rows_below
    take_row_of_step \t, %(i), \left, \right
    .set i, i + 1
    .endr
    .endif
    .if \t >= 1
    finish 2, 3, 1, \clamps, %(\t - 1 - (\t - 1) / 3 * 3)
    .endif
    .endm
    .macro tile_steps done, clamps, left, right
    .set t, -1
    .rept width + 2
    .if (t >= 0) & (t < 2)
    load_weights_column %(t + 1)
    .endif
    .if t == width - 2
    next_tile \done, 2, 1
    .endif
    .if t == width - 1
    load_first_weights
    .endif
    tile_step %(t), \clamps, \left, \right
    .set t, t + 1
    .endr
    .endm

/* ---- tiles ---- */

/* Where the next channels are; after the last ones the next tile; after the last one of those the
 * first one, R rows further down; and its instructions. */
    .macro next_tile done, S, R
    adds channel, channel, channel_step
    csel channel, first_channel, channel, eq
    mov scratch, #TILE_BYTES
    csel scratch, scratch, xzr, eq
    add tiles, tiles, scratch
    cmp tiles, tiles_end
    csel tiles, tiles_begin, tiles, eq
    cset scratch, eq
    csel start, dst_row, xzr, eq
    add list, list, scratch, lsl #(1 + \S + \R)
    add next_dst, next_dst, start, lsl #(\R - 1)
    ldr body, [tiles, #TILE_BODY]
    adr scratch, \done
    subs count, count, #1
    csel body, scratch, body, eq
    .endm

/* R rows and N columns, for which it needs `columns` of source; and where a table has it. */
    .macro tile function, S, clamps, R, N, left, right
    tile_named .L\function\()_\R\()_\N\()_\left\()_\right\()_, %(rows_above), %(rows_below), .L\function\()_done, \S, \clamps, \R, \N, \left, \right
    .endm
    .macro tile_named name, above, below, done, S, clamps, R, N, left, right
    .p2align 4
    .set width, \N
    .set columns, (\N - 1) * \S + 3
\name\above\below\():
    accept_branch
    ldp start, x14, [tiles]
    add start, start, channel
    find_rows %((\R - 1) * \S + 3)
    and bias, channel, bias_mask
    add bias, bias, first_bias
    add x14, x14, next_dst
    add x14, x14, channel
    .if \R == 2
    add x15, x14, dst_row
    .endif
    .if (\S == 2) & (\R == 1)
    tile_steps \done, \clamps, \left, \right
    .else
    tile_columns \done, \S, \clamps, \R, \left, \right
    .endif
    br body
    table_entry \name\above\below
    .endm

/* By edges: left, middle, right, both. */
    .macro tiles_of_seven name, S, clamps, R, above, below
    .set rows_above, \above
    .set rows_below, \below
    tile \name, \S, \clamps, \R, 7, 1, 0
    tile \name, \S, \clamps, \R, 7, 0, 0
    tile \name, \S, \clamps, \R, 7, 0, 1
    tile \name, \S, \clamps, \R, 7, 1, 1
    .endm
/* Wide ones (stride 2), those of seven columns, and narrow ones (stride 1), where no row is padding.
 * Narrow ones are pairs: four columns have never the last one, three never the first one. */
    .macro tiles_of_two_rows name, S, clamps
    .set rows_above, 0
    .set rows_below, 0
    .if \S == 2
    tile \name, \S, \clamps, 2, 14, 1, 0
    tile \name, \S, \clamps, 2, 14, 0, 0
    no_entries 2
    tiles_of_seven \name, \S, \clamps, 2, 0, 0
    no_entries 8
    .else
    no_entries 4
    tiles_of_seven \name, \S, \clamps, 2, 0, 0
    tile \name, \S, \clamps, 2, 4, 1, 0
    tile \name, \S, \clamps, 2, 4, 0, 0
    no_entries 3
    tile \name, \S, \clamps, 2, 3, 0, 0
    tile \name, \S, \clamps, 2, 3, 0, 1
    no_entries 1
    .endif
    .endm
    .macro tiles_of_seven_padded name, S, clamps, R, above, below
    no_entries 4
    tiles_of_seven \name, \S, \clamps, \R, \above, \below
    no_entries 8
    .endm

/* ---- functions ---- */

    .macro tiles_function name, S, clamps
    begin_function \name
    save_registers 4, 30
    ldp list, tiles_begin, [job, #TILES_ROWS]
    ldp tiles_end, weights, [job, #TILES_END]
    ldp first_bias, next_dst, [job, #TILES_BIAS]
    ldp column, dst_column, [job, #TILES_COLUMN]
    ldp dst_row, scratch, [job, #TILES_DST_ROW]
    ldp bias_mask, first_channel, [job, #TILES_BIAS_MASK]
    ldp count, clamp, [job, #TILES_COUNT]
    ldr channel_step, [job, #TILES_CHANNEL_STEP] /* which is the same register */
    add three_taps, scratch, scratch, lsl #1
    sub weights_back, scratch, three_taps, lsl #1
    mov tiles, tiles_begin
    mov channel, first_channel
    load_first_weights
    ldr body, [tiles, #TILE_BODY]
    br body
    tiles_of_seven_padded \name, \S, \clamps, 1, 0, 0
    tiles_of_seven_padded \name, \S, \clamps, 1, 1, 0
    tiles_of_seven_padded \name, \S, \clamps, 1, 0, 1
    tiles_of_two_rows \name, \S, \clamps
    tiles_of_seven_padded \name, \S, \clamps, 2, 1, 0
    tiles_of_seven_padded \name, \S, \clamps, 2, 0, 1
.L\name\()_done:
    accept_branch
    pop_and_return
    end_function \name
    .endm

    begin_table dwconv_f32_tiles_bodies
    tiles_function dwconv_f32_tiles_s1, 1, 0
    tiles_function dwconv_f32_tiles_s2, 2, 0
    tiles_function dwconv_f32_tiles_s1_clamp, 1, 1
    tiles_function dwconv_f32_tiles_s2_clamp, 2, 1
    end_table dwconv_f32_tiles_bodies
