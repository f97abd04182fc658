/* Depthwise 3x3 convolution of planes in place with stride 2 in pairs (planes.h): lists of bands,
 * and planes of 14x14 and 7x7, which are one block.
 *
 * A tile walks down its rows. In a step a row of dst gets its bias and the pairs of the first row
 * of the kernel, the row above it those of the second, and so on: products of one row of dst come a
 * step after each other, so that cores that issue in order need not wait for them; and what takes
 * few cycles, addresses and loads, is together at the end, as they keep it behind what takes many.
 * Seven rows: 63 FMLA, 15 UZP1, 7 FADDP, 7 stores and 30 LDP. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_bands_neon.h"

    .set KERNEL, 3
    .set dense, 0

/* Vector registers: three rows of source in v0 … v5; two vectors of sums for each of three rows of
 * dst, and one for each of four that have all their pairs; the single column of four rows of
 * source; two rows of which it is made; weights of the pairs, and of the single column in lanes;
 * which bytes of two vectors the single column is at the left edge; limits; zeros. */
    .set SUMS, 6
    .set TOTALS, 12
    .set SINGLE, 16
    .set RAW, 20
    .set PAIR_WEIGHTS, 24
    .set LEFT_BYTES, 28
    .set ZERO, 31

    registers 5, even_single, singles, bias_pair
two_rows .req x8 /* and of whole planes, which do without, weights_row */
even .req x16

/* ---- weights: of pairs in v(PAIR_WEIGHTS) to v(PAIR_WEIGHTS + 2), of the single column in
 * lanes of v(PAIR_WEIGHTS + 3) ---- */

/* To registers x(first) … x(first + 2) and the stack, where they wait. from, step (to the next row of
 * weights), single: numbers of registers, too; `from`, `single` and `scratch` are lost. */
    .macro fetch_weights from, step, first, single
    lsl x\first, w_tap, #1
    ldr w\single, [x\from]
    fetch_pair_of %(\first + 1), \from, \first
    add x\from, x\from, x\step
    ldr w16, [x\from]
    orr x\single, x\single, x16, lsl #32
    fetch_pair_of %(\first + 2), \from, \first
    add x\from, x\from, x\step
    ldr w16, [x\from]
    stp x\single, x16, [sp, #at_locals + 32]
    fetch_pair_of \first, \from, \first
    .endm
    .macro fetch_pair_of to, from, second
    ldr w16, [x\from, x\second]
    ldr w\to, [x\from, w_tap]
    orr x\to, x\to, x16, lsl #32
    .endm
/* Those of the plane after this one, if there is one: the flags say `ne`. */
    .macro fetch_next_weights from, step, first, single
    cmp planes, #1
    cset x\from, ne
    add x\from, weights, x\from, lsl #2
    fetch_weights \from, \step, \first, \single
    .endm
    .macro spread_weights first
    each i, 3, spread_weights_of %(PAIR_WEIGHTS + i), %(\first + (i + 1) % 3)
    load_q %(PAIR_WEIGHTS + 3), [sp, #at_locals + 32]
    .endm
    .macro spread_weights_of to, from
    spread_pair \to, x\from
    .endm
    .macro find_bytes to, x, y, bytes
    tbl v\to\().16b, {v\x\().16b, v\y\().16b}, v\bytes\().16b
    .endm

/* ---- parts of a step: row r of dst, row i of source, if there is one ---- */

/* Rows come two at a time, by an address for even ones and one for odd ones; of whole planes, whose
 * distance of rows is known (`dense`), these move on only after as many rows as LDP can reach. */
    .set REACH, 1008
    .macro move_on i, even, odd
    .if (dense == 0) & (\i >= top + 2) & (\i < end)
    when %(\i % 2), add \odd, \odd, two_rows
    otherwise add \even, \even, two_rows
    .endif
    .endm
    .macro load_pairs i, even, odd, side
    when %((\i >= top) & (\i < end)), load_row_of %(\i % 3 * 2), \i, \even, \odd, %(16 - \side / RIGHT_EVEN * 4)
    .endm
    .macro load_row_of x, i, even, odd, apart
    when %(\i % 2), load_two_of \x, %((\i - 1) / 2), \odd, \apart
    otherwise load_two_of \x, %((\i - 1) / 2), \even, \apart
    .endm
    .macro load_two_of x, number, from, apart
    .if dense
    .set reach, REACH / (2 * dense) + 1
    when %((\number > 0) & (\number % reach == 0)), add \from, \from, #reach * 2 * dense
    load_pair \x, %(\x + 1), [\from, #(\number % reach * 2 * dense)]
    .elseif \apart == 16
    load_pair \x, %(\x + 1), [\from]
    .else
    load_q \x, [\from]
    load_q %(\x + 1), [\from, #\apart]
    .endif
    .endm
    .macro cut_pairs i
    when %((\i >= top) & (\i < end)), shift_in %(\i % 3 * 2 + 1), %(\i % 3 * 2 + 1), %ZERO, 4
    .endm

    .macro load_single i
    when %((\i >= top) & (\i < end)), load_row_of %(RAW + \i % 2 * 2), \i, even_single, singles, 16
    .endm
    .macro separate i, side
    .if (\i >= top) & (\i < end)
    when %(\side == LEFT), find_bytes %(SINGLE + \i % 4), %(RAW + \i % 2 * 2), %(RAW + \i % 2 * 2 + 1), %(LEFT_BYTES)
    otherwise floats uzp1, %(SINGLE + \i % 4), %(RAW + \i % 2 * 2), %(RAW + \i % 2 * 2 + 1)
    .endif
    .endm

    .macro begin_sums r
    .if (\r >= 0) & (\r < height)
    spread_pair %(SUMS + \r % 3 * 2), bias_pair
    spread_pair %(SUMS + \r % 3 * 2 + 1), bias_pair
    .endif
    .endm
    .macro use_pairs r, ky
    .if (\r >= 0) & (\r < height) & (2 * (\r) + \ky >= top) & (2 * (\r) + \ky < end)
    fma %(SUMS + \r % 3 * 2), %((2 * \r + \ky) % 3 * 2), %(PAIR_WEIGHTS + \ky)
    fma %(SUMS + \r % 3 * 2 + 1), %((2 * \r + \ky) % 3 * 2 + 1), %(PAIR_WEIGHTS + \ky)
    .endif
    .endm
    .macro finish_pairs r
    when %((\r >= 0) & (\r < height)), floats faddp, %(TOTALS + \r % 4), %(SUMS + \r % 3 * 2), %(SUMS + \r % 3 * 2 + 1)
    .endm
    .macro use_single r, ky
    .if (\r >= 0) & (\r < height) & (2 * (\r) + \ky >= top) & (2 * (\r) + \ky < end)
    fma %(TOTALS + \r % 4), %(SINGLE + (2 * \r + \ky) % 4), %(PAIR_WEIGHTS + 3), \ky
    .endif
    .endm
    .macro store_row r
    when %((\r >= 0) & (\r < height)), several st1, 1, %(TOTALS + \r % 4), to, dst_row
    .endm

/* ---- a tile ---- */

/* What rows t - 5 … t of dst do; then what the next step wants. */
    .macro step side
    use_single %(t - 5), 2
    use_pairs %(t - 2), 2
    use_single %(t - 4), 1
    use_single %(t - 3), 0
    .if \side == RIGHT_EVEN
    cut_pairs %(2 * t - 1)
    cut_pairs %(2 * t)
    .endif
    use_pairs %(t - 1), 1
    use_pairs %(t), 0
    separate %(2 * t - 5), \side
    separate %(2 * t - 4), \side
    finish_pairs %(t - 2)
    move_on %(2 * t + 1), even, in
    move_on %(2 * t + 2), even, in
    move_on %(2 * t - 3), even_single, singles
    move_on %(2 * t - 2), even_single, singles
    begin_sums %(t + 1)
    load_pairs %(2 * t + 1), even, in, \side
    load_pairs %(2 * t + 2), even, in, \side
    load_single %(2 * t - 3)
    load_single %(2 * t - 2)
    store_row %(t - 5)
    .endm

/* The first even and the first odd row that exist, some bytes further left. */
    .macro find_rows even, odd, before
    .if top
    sub \odd, base, #\before
    add \even, \odd, row
    .else
    sub \even, base, #\before
    add \odd, \even, row
    .endif
    .endm
    .macro begin_tile R, padding, side
    .set height, \R
    .set top, \padding % 2
    .set end, 2 * \R + 1 - \padding / 2
    find_rows even, in, 0
    find_rows even_single, singles, %((\side != LEFT) & 4)
    add base, base, #32
    .endm
    .macro tile R, padding, side
    begin_tile \R, \padding, \side
    mov to, out
    add out, out, #16
    each_from t, -1, %(\R + 6), step \side
    .endm

/* ---- the last two columns of planes of 14x14: two rows of dst in a vector ----
 *
 * In a step rows 2 p and 2 p + 1 get the pairs of two rows of the kernel, in one vector each, the two
 * above them those of the third, and the two above these their single columns. Vector registers: eight
 * rows of source in v0 … v7; sums of four rows of dst; of rows that have all their pairs, two in a
 * vector; eight rows of source from a column further left; two of these separated. */
    .set HALF_SUMS, 8
    .set HALF_TOTALS, 12
    .set HALF_RAW, 15
    .set HALF_SINGLE, 23

/* From row `row_number` on. */
    .macro load_four first, row_number, at
    each_from i, \row_number, 4, load_q %(\first + i % 8), [\at, #((i - 1) * dense)]
    .endm
/* Row ky of the kernel for rows 2 p and 2 p + 1 of dst. */
    .macro use_half_pairs p, ky
    .if (\p >= 0) & (\p < 7)
    use_half_row %(2 * \p), \ky
    use_half_row %(2 * \p + 1), \ky
    .endif
    .endm
    .macro use_half_row r, ky
    when %(2 * \r + \ky > 0), fma %(HALF_SUMS + \r % 4), %((2 * \r + \ky) % 8), %(PAIR_WEIGHTS + \ky)
    .endm
    .macro use_half_single p, ky
    .if \p >= 0
    separate_half %(4 * \p + \ky)
    fma %(HALF_TOTALS + \p % 2), %(HALF_SINGLE), %(PAIR_WEIGHTS + 3), \ky
    .endif
    .endm
/* Rows i and i + 2 of source; row 0 is padding. */
    .macro separate_half i
    when %(\i > 0), floats uzp1, %(HALF_SINGLE), %(HALF_RAW + \i % 8), %(HALF_RAW + (\i + 2) % 8)
    otherwise floats uzp1, %(HALF_SINGLE), %(ZERO), %(HALF_RAW + 2)
    .endm
    .macro begin_half p
    .if \p < 7
    load_four 0, %(4 * \p + 1), in
    spread_pair %(HALF_SUMS + 2 * \p % 4), bias_pair
    spread_pair %(HALF_SUMS + 2 * \p % 4 + 1), bias_pair
    .endif
    .endm
    .macro finish_half_pairs p
    .if (\p >= 0) & (\p < 7)
    floats faddp, %(HALF_TOTALS + \p % 2), %(HALF_SUMS + 2 * \p % 4), %(HALF_SUMS + 2 * \p % 4 + 1)
    .endif
    .endm
    .macro store_halves sum
    st1 {v\sum\().1d}, [to], dst_row
    st1 {v\sum\().d}[1], [to], dst_row
    .endm

    .macro half_step
    begin_half %(p)
    when %(p > 1), load_four %(HALF_RAW), %(4 * p - 7), singles
    use_half_pairs %(p - 1), 2
    use_half_single %(p - 2), 0
    use_half_pairs %(p), 0
    use_half_single %(p - 2), 1
    use_half_pairs %(p), 1
    use_half_single %(p - 2), 2
    finish_half_pairs %(p - 1)
    when %(p > 1), store_halves %(HALF_TOTALS + p % 2)
    .endm
    .macro half_tile
    mov in, base
    sub singles, base, #4
    mov to, out
    each p, 9, half_step
    .endm


    .macro begin_function_constants
    adr scratch, .Lleft_bytes
    ldr q28, [scratch]
    clear %(ZERO)
    .endm
    .macro begin_plane_constants
    ldr weights_row, [job, #job.weights_row]
    mov in, weights
    fetch_weights 1, 8, 5, 3
    spread_weights 5
    load_bias w7
    lsl two_rows, row, #1
    .endm
/* Of 14x14 or 7x7: one block of instructions, in which the next plane's weights are fetched, too. The
 * last tile of 7x7 does a column of the first one again. */
    .macro whole_planes
    mov in, weights
    .set weights_step, 8
    fetch_weights 1, %(weights_step), 27, 6
    ldr scratch, [job, #job.row_bytes]
    cmp scratch, #28
    b.eq 17f
    planes_of_size 14
17: planes_of_size 7
    .endm
    .macro planes_of_size R
15: spread_weights 27
    load_bias w7
    mov base, src
    mov out, dst
    .set dense, 8 * \R
    tile \R, 1, LEFT
    .if \R == 7
    sub base, base, #8
    sub out, out, #4
    fetch_next_weights 1, %(weights_step), 27, 6
    tile 7, 1, MIDDLE
    .else
    tile 14, 1, MIDDLE
    tile 14, 1, MIDDLE
    fetch_next_weights 1, %(weights_step), 27, 6
    half_tile
    .endif
    .set dense, 0
    next_whole_plane \R, 15b
    b 12b
    .endm

    function dwconv_f32_planes_pairs_3x3

/* The odd columns of two vectors behind a zero, as TBL has one for bytes that do not exist. */
    .p2align 4
.Lleft_bytes:
    .word 0xffffffff, 0x07060504, 0x0f0e0d0c, 0x17161514
