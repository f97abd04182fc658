/* Depthwise 3x3 and 5x5 convolution of planes in place with stride 2 in pairs (planes.h): lists of
 * bands, and planes of 7x7 and, of 3x3, 14x14, which are one block.
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them
 * makes four values of dst. Only the column of the kernel that is left over wants every other
 * column of source, by one UZP1 or UZP2 for four of them; it then serves all rows of dst it reaches.
 *
 * A band is four or seven rows of dst, a tile four columns of it. A tile adds the pairs of two
 * columns of the kernel in all its rows, of 5x5 those of two more, and then the single column.
 * Four rows of 5x5: 100 FMLA, 11 UZP2, 4 FADDP and 33 LD1 of two vectors; seven of 3x3: 63 FMLA,
 * 15 UZP1, 7 FADDP and 30 LD1. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

/* Vector registers: weights of pairs in v0 … v4, by row of the kernel, and of the single column in
 * lanes of v5 and v6; zeros in v8; four rows of source; which bytes of two vectors the single column
 * is at the left edge of 3x3; two vectors of sums, later one, for each row of dst. */
    .set ROWS, 4
    .set AHEAD, 2
    .set SINGLE_WEIGHTS, 5
    .set ZERO, 8
    .set SOURCE, 9
    .set LEFT_BYTES, 17
    .set SUMS, 18

to .req x3
/* x4 … x7: from a row's first weight to the others; and to the next row */
weights_row .req x8
    registers 27, count, bias_pair, last_src, last_dst

/* Left of the first tile are zeros; behind the last one are so for 5x5, and for 3x3 where an image
 * ends with an even column. LAST_TWO: the last two columns of twice as many rows, two rows in a
 * vector. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set RIGHT_EVEN, 3
    .set LAST_TWO, 4

/* ---- rows of source: to v(x) and v(x + 1), and what their sums need of them there ---- */

    .macro load_row side, x
    when %(\side == LAST_TWO), several ld1, 1, \x, in, row
    otherwise several ld1, 2, \x, in, row
    .endm
    .macro load_parts first, size, second, offset
    ldr q\first, [in]
    ldr \size\second, [in, #\offset]
    add in, in, row
    .endm

/* Pairs begin with even columns of an image, whose padding is half a kernel: so of three columns of
 * the kernel the first one is left over, of five the last one. `before`: so many columns before
 * the tile's a pair begins. */
    .macro begin_kernel K
    .set KERNEL, \K
    .set FIRST_PAIR, \K / 2 % 2
    .set SINGLE, (1 - FIRST_PAIR) * (\K - 1)
    .endm
    .macro start_pairs side
    .set before, KERNEL / 2 - FIRST_PAIR - 2 * step
    .set is_cut, (\side == LEFT) & (before > 0)
    when %((is_cut) | (before == 0)), mov in, base
    otherwise sub in, base, #(4 * before)
    .endm
    .macro load_pairs side, x
    when %is_cut, load_parts \x, q, %(\x + 1), 8
    or_when %(\side == RIGHT_EVEN), load_parts \x, q, %(\x + 1), 12
    otherwise load_row \side, \x
    .endm
    .macro arrange_pairs side, x
    when is_cut, shift_in \x, %ZERO, \x, 8
    when %(\side == RIGHT_EVEN), shift_in %(\x + 1), %(\x + 1), %ZERO, 4
    .endm
    .macro use_pairs side, x, r, ky
    .if \side == LAST_TWO
    fma %(SUMS + \r), \x, %(\ky)
    .else
    fma %(SUMS + 2 * \r), \x, %(\ky)
    fma %(SUMS + 2 * \r + 1), %(\x + 1), %(\ky)
    .endif
    .endm

/* The column that is left over; of 5x5, tiles that are not the last one load nothing beyond what
 * they need. */
    .macro start_single side
    .set is_cut, (\side == LEFT) & (KERNEL == 3)
    when is_cut, mov in, base
    or_when %(KERNEL == 3), sub in, base, #4
    or_when %(\side == RIGHT), add in, base, #8
    otherwise add in, base, #4
    .endm
    .macro load_single side, x
    when %(\side == RIGHT), load_parts \x, d, %(\x + 1), 16
    otherwise load_row \side, \x
    .endm
    .macro arrange_single side, x
    when is_cut, find_bytes \x, %(\x + 1), %LEFT_BYTES
    or_when %(\side == LAST_TWO), join_rows \x, %(SOURCE + (\x - SOURCE + 2 * ROWS - 4) % (2 * ROWS))
    or_when %((KERNEL == 5) & (\side != RIGHT)), floats uzp2, \x, \x, %(\x + 1)
    otherwise floats uzp1, \x, \x, %(\x + 1)
    .endm
    .macro use_single x, r, ky
    fma %(SUMS + \r), \x, %(SINGLE_WEIGHTS + \ky / 4), %(\ky % 4)
    .endm
    .macro find_bytes x, next, bytes
    tbl v\x\().16b, {v\x\().16b, v\next\().16b}, v\bytes\().16b
    .endm
/* A row with the one two before it, of which row 0 is padding. */
    .macro join_rows x, before_it
    when %(i + 1 == 2), floats uzp1, %(\x + 1), %ZERO, \x
    or_when %(i + 1 > 2), floats uzp1, %(\x + 1), \before_it, \x
    .endm

/* ---- a tile ---- */

/* Of 5x5, weights of pairs are on the stack, behind those of the single column, and come with each
 * step. */
    .set AT_PAIRS, 32
    .macro load_weights
    each ky, KERNEL, load_q %ky, [sp, #(at_locals + AT_PAIRS + 16 * (KERNEL * step + ky))]
    .endm

/* What is done while the first rows come. */
    .macro prepare_pairs R
    when %(KERNEL == 5), load_weights
    when %(step == 0), for_all spread_pair, SUMS, %(2 * \R), bias_pair
    .endm
    .macro prepare_single R
    each r, \R, floats faddp, %(SUMS + r), %(SUMS + 2 * r), %(SUMS + 2 * r + 1)
    .endm

/* All rows of source that exist; each is loaded while the ones before it are used. */
    .macro walk R, padding, side, what
    .set rows, \R + \side / LAST_TWO * \R
    .set top, \padding % 2 * (KERNEL / 2)
    .set end, 2 * rows + KERNEL - 2 - \padding / 2
    start_\what \side
    .set i, top - AHEAD
    .rept end - top + AHEAD
    when %(i + AHEAD < end), load_\what \side, %((i + AHEAD - top) % ROWS * 2 + SOURCE)
    when %(i + 1 == top), prepare_\what \R
    when %((i + 1 >= top) & (i + 1 < end)), arrange_\what \side, %((i + 1 - top) % ROWS * 2 + SOURCE)
    when %(i >= top), reach_\what \R, \side, %((i - top) % ROWS * 2 + SOURCE)
    .set i, i + 1
    .endr
    .endm
/* Each row of dst that row i of source reaches; of LAST_TWO those two that it reaches with the row
 * two before it. */
    .macro reach_pairs R, side, x
    each r, %(rows), when %((i >= 2 * r) & (i < 2 * r + KERNEL)), use_pairs \side, \x, %(r), %(i - 2 * r)
    .endm
    .macro reach_single R, side, x
    .if \side == LAST_TWO
    each r, \R, when %((i - 2 >= 4 * r) & (i - 2 < 4 * r + KERNEL)), use_single %(\x + 1), %(r), %(i - 2 - 4 * r)
    .else
    each r, \R, when %((i >= 2 * r) & (i < 2 * r + KERNEL)), use_single \x, %(r), %(i - 2 * r)
    .endif
    .endm

    .macro store_sum side, sum
    .if \side == LAST_TWO
    st1 {v\sum\().1d}, [to], dst_row
    st1 {v\sum\().d}[1], [to], dst_row
    .else
    several st1, 1, \sum, to, dst_row
    .endif
    .endm
/* Which leaves `base` and `out` at the tile to the right. */
    .macro tile R, padding, side
    each step, %(KERNEL / 2), walk \R, \padding, \side, pairs
    walk \R, \padding, \side, single
    mov to, out
    each_from sum, SUMS, \R, store_sum \side, %sum
    add base, base, #32
    add out, out, #16
    .endm

/* ---- a plane ---- */

/* From a weight to those of other columns of the kernel. */
    .macro begin_columns
    lsl x5, w_tap, #1
    add x6, x5, w_tap
    lsl x7, w_tap, #2
    .endm
    .macro load_weight register, kx
    when %(\kx == 0), ldr \register, [in]
    otherwise load_weight_at \register, %(3 + \kx)
    .endm
    .macro load_weight_at register, offset
    ldr \register, [in, x\offset]
    .endm
    .macro take_pair ky
    load_weight w16, %(FIRST_PAIR + 2 * step)
    load_weight w27, %(FIRST_PAIR + 2 * step + 1)
    orr x16, x16, x27, lsl #32
    when %(KERNEL == 3), spread_pair \ky, x16
    otherwise stp x16, x16, [sp, #(at_locals + AT_PAIRS + 16 * (KERNEL * step + \ky))]
    .endm
    .macro take_row ky
    each step, %(KERNEL / 2), take_pair \ky
    load_weight w16, %SINGLE
    str w16, [sp, #at_locals + 4 * \ky]
    add in, in, weights_row
    .endm
    .macro begin_plane_constants
    ldr w28, [bias] /* bias_pair */
    add bias, bias, bias_next
    mov in, weights
    each ky, KERNEL, take_row %ky
    load_pair %SINGLE_WEIGHTS, %(SINGLE_WEIGHTS + 1), [sp, #at_locals]
    .endm

/* ---- planes that are one block of instructions ---- */

/* Of 7x7, whose second tile does a column of the first one again; of 14x14 in two halves, whose last
 * two columns are one tile. */
    .macro planes_of_7
15: begin_plane_constants
    mov base, src
    mov out, dst
    tile 7, %(KERNEL / 5 * 2 + 1), LEFT
    sub base, base, #8
    sub out, out, #4
    tile 7, %(KERNEL / 5 * 2 + 1), %(KERNEL / 5 * RIGHT)
    next_whole_plane 7, 15b
    .endm
    .macro planes_of_14
15: begin_plane_constants
    mov base, src
    mov out, dst
    half_plane 1
    tile 7, 1, LAST_TWO
    mov base, #13
    madd base, row, base, src
    mov out, #7
    madd out, dst_row, out, dst
    half_plane 0
    next_whole_plane 14, 15b
    .endm
    .macro half_plane padding
    tile 7, \padding, LEFT
    tile 7, \padding, MIDDLE
    tile 7, \padding, MIDDLE
    .endm

/* ---- bands ---- */

/* The last tile overlaps the one before unless it is whole. */
    .macro band R, padding
    begin_body
    ldr count, [job, #job.vectors]
    ldr scratch, [job, #job.left]
    cbz scratch, 1f
    tile \R, \padding, LEFT
    cbz count, 2f
1:  tile \R, \padding, MIDDLE
    subs count, count, #1
    b.ne 1b
2:
    .if KERNEL == 5
    last_tile \R, \padding, RIGHT
    .else
    ldr scratch, [job, #job.ends_even]
    cbnz scratch, 5f
    cbz last_src, 3f
    last_tile \R, \padding, MIDDLE
3:  band_done \R
5:  last_tile \R, \padding, RIGHT_EVEN
    .endif
    band_done \R
    .endm
    .macro last_tile R, padding, side
    add base, base, last_src
    add out, out, last_dst
    tile \R, \padding, \side
    .endm
/* In the order of PLANES_BAND. */
    .macro for_bands
    no_bodies %(3 * 3)
    each padding, 3, band 4, %padding
    no_bodies %(2 * 3)
    each padding, 3, band 7, %padding
    .endm

    .macro function K
    begin_kernel \K
    begin_planes dwconv_f32_planes_pairs_\K\()x\K, 30, %(AT_PAIRS + 2 * 5 * 16)
    ldr weights_row, [job, #job.weights_row]
    ldp last_src, last_dst, [job, #job.last_src]
    begin_columns
    clear %(ZERO)
    ldr q17, .Lleft_bytes
    cbz tiles, 13f
    planes_of_bands
    b 12f
13: ldr scratch, [job, #job.row_bytes]
    cmp scratch, #28
    b.ne 14f
    planes_of_7
    b 12f
14: when %(KERNEL == 3), planes_of_14
12: pop_and_return
    end_function dwconv_f32_planes_pairs_\K\()x\K
    .endm

    function 3
    function 5

/* The odd columns of two vectors behind a zero, as TBL has one for bytes that do not exist. */
    .p2align 4
.Lleft_bytes:
    .word 0xffffffff, 0x07060504, 0x0f0e0d0c, 0x17161514
