/* Depthwise 3x3 by tiles of one or two rows, some columns and eight channels, for NEON: see
 * tiles.h.
 *
 * A tile is as many steps of steps_neon.h as it has columns, without a branch; its weights are
 * loaded while multiply-adds of the one before go on. Two rows and seven columns of stride 1: 252 FMLA, 36
 * loads of source, 9 of weights, 14 of the bias and 14 stores, each of a pair of vectors, and 30
 * instructions that find what the tile and the next one are. */

#include "kernels/depthwise/f32/rows/slide_neon.h"
#include "kernels/depthwise/f32/steps_neon.h"
#include "kernels/depthwise/f32/tiles_offsets.h"

/* x9 … x13 are rows of source, x14 and x15 of dst. */
job .req x0
    registers 0, edges, column, dst_column, bias, channel
    registers 5, count, list, first_channel, body
    registers 16, scratch, start
    registers 19, next_dst, first_bias, weights_back, weights, bias_mask
    registers 24, dst_row, clamp, tiles, tiles_begin, tiles_end
    registers 29, next_weights, three_taps
zeros .req x17 /* a pixel of padding, where the rows are found */

/* ---- parts of a tile ---- */

/* The slot of the output that column k of a tile's source reaches with kx, or 9. */
    .macro find_slot slot, k, kx, S
    .set \slot, 9
    when %((\k >= \kx) & ((\k - \kx) % \S == 0) & ((\k - \kx) / \S < width)), .set \slot, (\k - \kx) / \S % (4 - \S)
    .endm

    .macro take_column S, R, k
    find_slot slot_0, \k, 0, \S
    find_slot slot_1, \k, 1, \S
    find_slot slot_2, \k, 2, \S
    take 2, %(4 - \S), \R, %(slot_0), %(slot_1), %(slot_2)
    .endm

/* An output that is complete, and the beginning of the one that follows in its place. */
    .macro finish_column S, R, output
    .set slot, \output % (4 - \S)
    finish 2, %(4 - \S), \R, %(slot)
    when %(\output + 4 - \S < width), init 2, %(4 - \S), \R, %(slot)
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

/* The first and the last column may be padding, which `known_edges` leaves out, or SEEN: then the
 * tile reads zeros instead, as branches would part its multiply-adds. The first weights are there
 * already, and so are the next tile's in the end; nothing else is loaded long before it is needed,
 * so that there are always multiply-adds among the next hundred instructions. */
    .set SEEN, 4
    .macro begin_edge bit
    when %(known_edges == SEEN), tst edges, #(1 << \bit)
    when %(known_edges == SEEN), .set edge, 1 << \bit
    .endm
    .macro load_edge V, first, row
    csel scratch, zeros, x\row, ne
    several_at ld1, \V, \first, scratch
    when %(edge == 1), add x\row, x\row, column
    .endm
    .macro take_column_if_there bit, S, R, k
    begin_edge \bit
    when %((known_edges == SEEN) | ((known_edges >> \bit) & 1 == 0)), take_column \S, \R, \k
    .set edge, 0
    .endm
    .macro tile_columns name, function, S, R
    .set k, 0
    .rept columns
    when %((\S == 1) & (\R == 2)), place_to_enter \function, %(k)
    when %((k >= 1) & (k < 3)), load_weights_column %(k)
    when %(k == width - 2), next_tile \name, \function, \S, \R
    when %(k == columns - 2), load_first_weights
    when %((k < 3) & (k % \S == 0) & (k / \S < 4 - \S)), init 2, %(4 - \S), \R, %(k / \S)
    when %(k == 0), take_column_if_there 0, \S, \R, 0
    or_when %(k == columns - 1), take_column_if_there 1, \S, \R, %(k)
    otherwise take_column \S, \R, %(k)
    when %((k >= 2) & ((k - 2) % \S == 0)), finish_column \S, \R, %((k - 2) / \S)
    .set k, k + 1
    .endr
    .endm

/* ---- the last few columns of two rows with stride 1 ---- */

/* Tiles of three and of five columns begin with two columns of source of their own, and then are what a
 * tile of seven does from there on. */
    .macro place_to_enter function, k
    when %((rows_above + rows_below == 0) & (known_edges % 2 == 0) & ((\k == 4) | (\k == 6))), enter_here \function, \k, %(known_edges)
    .endm
    .macro enter_here function, k, which
.L\function\()_from_\k\()_\which\():
    .endm
    .macro go_on_from function, k
    tbz edges, #1, .L\function\()_from_\k\()_0
    b .L\function\()_from_\k\()_2
    .endm
    .macro narrow_tile function, N
    .set rows_above, 0
    .set rows_below, 0
    .set known_edges, SEEN
    .set first, (7 - \N) % 3 /* slots of the first outputs */
    .set second, (8 - \N) % 3
    .set third, (9 - \N) % 3
    begin_tile \function\()_narrow_\N, 2, 4
    ldr edges, [tiles, #tile.edges]
    init 2, 3, 2, %(first)
    take 2, 3, 2, %(first), 9, 9
    load_weights_column 1
    when %(\N == 3), next_tile \function\()_7, \function, 1, 2
    init 2, 3, 2, %(second)
    take 2, 3, 2, %(second), %(first), 9
    load_weights_column 2
    init 2, 3, 2, %(third)
    go_on_from \function, %(9 - \N)
    table_entry .L\function\()_narrow_\N
    .endm

/* ---- tiles ---- */

/* Where the next channels are; after the last ones the next tile; after the last one of those the
 * first one, R rows further down; and its instructions, before which there may be those of a clamp. */
    .macro next_tile name, function, S, R
    adds channel, channel, #32
    csel channel, first_channel, channel, eq
    mov scratch, #TILE_BYTES
    csel scratch, scratch, xzr, eq
    add tiles, tiles, scratch
    cmp tiles, tiles_end
    csel tiles, tiles_begin, tiles, eq
    cset scratch, eq
    add list, list, scratch, lsl #(1 + \S + \R)
    csel scratch, dst_row, xzr, eq
    add next_dst, next_dst, scratch, lsl #(\R - 1)
    ldr body, [tiles, #tile.body]
    adr scratch, .L\function\()_done
    subs count, count, #1
    csel body, scratch, body, eq
    adr scratch, .L\name\()_clamp_\R
    cmp clamp, #0
    csel body, scratch, body, ne
    .endm

    .macro find_edges
    ldr edges, [tiles, #tile.edges]
    add zeros, sp, #at_locals
    .endm
    .macro begin_tile name, R, source_rows
    .p2align 4
.L\name\():
    accept_branch
    ldp x17, x14, [tiles]
    add start, x17, channel
    when %((known_edges == 1) | (known_edges == 3)), add start, start, column
    find_rows \source_rows
    and bias, channel, bias_mask
    add bias, bias, first_bias
    add x14, x14, next_dst
    add x14, x14, channel
    when %(\R == 2), add x15, x14, dst_row
    .endm

/* R rows and N columns, for which it needs `columns` of source. */
    .macro tile function, S, R, N, above, below, which
    .set rows_above, \above
    .set rows_below, \below
    .set known_edges, \which
    .set width, \N
    .set columns, (\N - 1) * \S + 3
    begin_tile \function\()_\R\()_\N\()_\above\()\below\()_\which, \R, %((\R - 1) * \S + 3)
    when %(known_edges == SEEN), find_edges
    tile_columns \function\()_\N, \function, \S, \R
    br body
    .endm
/* The same with no edge, the left one, the right one and both, for each of which it is said what is
 * known; neighbours for which that is the same have one tile. */
    .macro tiles_of_edges function, S, R, N, above, below, edges:vararg
    .set tile_before, -1
    .irp which, \edges
    when %(\which != tile_before), tile \function, \S, \R, \N, \above, \below, \which
    .set tile_before, \which
    table_entry .L\function\()_\R\()_\N\()_\above\()\below\()_\which
    .endr
    .endm
/* Those that there are most of have code for each edge: products with zeros are a part of them that
 * can be seen. With stride 1, images as wide as a tile have both edges in all of them. */
    .macro tiles function, S, both
    tiles_of_edges \function, \S, 1, 7, 0, 0, 4, 4, 4, 4
    tiles_of_edges \function, \S, 1, 7, 1, 0, 4, 4, 4, 4
    tiles_of_edges \function, \S, 1, 7, 0, 1, 4, 4, 4, \both
    tiles_of_edges \function, \S, 2, 7, 0, 0, 0, 1, 2, 3
    tiles_of_edges \function, \S, 2, 7, 1, 0, 4, 4, 4, \both
    tiles_of_edges \function, \S, 2, 7, 0, 1, 4, 4, 4, 4
    .endm
/* With stride 2 the first and the last steps have the most loads, which wide tiles have fewer of. */
    .macro wide_tiles function
    tiles_of_edges \function, 2, 2, 14, 0, 0, 4, 4, 4, 4
    tiles_of_edges \function, 2, 2, 14, 1, 0, 4, 4, 4, 4
    tiles_of_edges \function, 2, 2, 14, 0, 1, 4, 4, 4, 4
    .endm
    .macro clamp_tile function, R, N
.L\function\()_\N\()_clamp_\R\():
    accept_branch
    sub x9, x14, dst_column, lsl #(3 + \N / 14)
    add x9, x9, dst_column, lsl #(\N / 14)
    clamp_stored 2, \R
    cbz count, .L\function\()_done
    ldr body, [tiles, #tile.body]
    br body
    .endm

/* ---- functions ---- */

    .macro tiles_function name, S
    begin_function \name
    save_registers 4, 30, 32
    clear 0
    stp q0, q0, [sp, #at_locals]
    ldp list, tiles_begin, [job, #job.rows]
    ldp tiles_end, weights, [job, #job.tiles_end]
    ldp first_bias, next_dst, [job, #job.bias]
    ldp column, dst_column, [job, #job.column]
    ldp dst_row, scratch, [job, #job.dst_row]
    ldp bias_mask, first_channel, [job, #job.bias_mask]
    ldp count, clamp, [job, #job.count]
    add three_taps, scratch, scratch, lsl #1
    sub weights_back, scratch, three_taps, lsl #1
    mov tiles, tiles_begin
    mov channel, first_channel
    load_first_weights
    ldr body, [tiles, #tile.body]
    br body
    tiles \name, \S, %(2 + \S)
    when %(\S == 2), wide_tiles \name
    clamp_tile \name, 1, 7
    clamp_tile \name, 2, 7
    when %(\S == 2), clamp_tile \name, 2, 14
.L\name\()_done:
    accept_branch
    pop_and_return
    end_function \name
    .endm

    begin_table dwconv_f32_tiles_bodies
    tiles_function dwconv_f32_tiles_s1, 1
    tiles_function dwconv_f32_tiles_s2, 2
    narrow_tile dwconv_f32_tiles_s1, 3
    narrow_tile dwconv_f32_tiles_s1, 5
    end_table dwconv_f32_tiles_bodies
