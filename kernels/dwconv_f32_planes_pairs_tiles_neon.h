/* Tiles of planes in place with stride 2, in pairs (dwconv_f32_planes.h): what is in their assembly
 * file.
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them
 * makes four values of dst. Only the column of the kernel that is left over wants every other
 * column of source, by one UZP1 for four of them; it then serves all rows of dst that it reaches.
 *
 * A band is R rows of dst, a tile four columns of it. 3x3, seven rows: 63 FMLA, 15 UZP1, 7 FADDP
 * and 30 LD1 of two vectors; 5x5, four rows: 100 FMLA, 11 UZP1, 4 FADDP and 33 LD1. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_neon.h"

/* Vector registers: four rows of source; zeros in v8; two vectors of sums, later one, for each row of
 * dst; from WEIGHTS on those of pairs by column and row of the kernel, and those of the single column,
 * in lane 0; of 3x3, which bytes of two vectors the single column is at the left edge. */
    .set ROWS, 4
    .set AHEAD, 2
    .set SUMS, 9
    .set LEFT_BYTES, 29

/* Of a tile. Left of the first one are zeros; behind the last one are so for 5x5, and one more where
 * an image ends with an even column. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2
    .set RIGHT_EVEN, 3

to .req x3
/* x4 … x7: from a row's first weight to the others; and to the next row */
weights_row .req x8
count .req x27
vectors .req x28
last_src .req x29
last_dst .req x30

/* ---- rows of source: to v(x) and v(x + 1), and what their sums need of them in v(x) ---- */

    .macro load_row x
    several ld1, 2, \x, in, row
    .endm
    .macro load_parts first, second, offset
    ldr q\first, [in]
    ldr \second, [in, #\offset]
    add in, in, row
    .endm
    .macro load_two_at x, y, offset
    load_parts \x, q\y, \offset
    .endm
    .macro load_row_end x, size, y
    load_parts \x, \size\y, 16
    .endm
    .macro shift_in x, bytes
    ext v\x\().16b, v8.16b, v\x\().16b, #(16 - \bytes)
    .endm
    .macro shift_out x, bytes
    ext v\x\().16b, v\x\().16b, v8.16b, #\bytes
    .endm
    .macro every_other op, x, y
    \op v\x\().4s, v\x\().4s, v\y\().4s
    .endm
    .macro find_bytes x, y, bytes
    tbl v\x\().16b, {v\x\().16b, v\y\().16b}, v\bytes\().16b
    .endm

/* Two columns of the kernel, number `pair` of those of 5x5. The left edge may lack two columns, the
 * right one the last. */
    .macro start_pairs K, side
    .set is_cut, (\side == LEFT) & (\K == 5) & (pair == 0)
    .set is_short, (\side == RIGHT_EVEN) & (pair == \K / 2 - 1)
    .if is_cut | (\K == 3) | (pair == 1)
    mov in, base
    .else
    sub in, base, #8
    .endif
    .endm
    .macro load_pairs K, side, x
    .if is_cut
    load_two_at \x, %(\x + 1), 8
    .elseif is_short
    load_two_at \x, %(\x + 1), 12
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_pairs K, side, x
    .if is_cut
    shift_in \x, 8
    .elseif is_short
    shift_out %(\x + 1), 4
    .endif
    .endm
    .macro use_pairs K, R, x
    .set r, 0
    .rept \R
    .if (i >= 2 * r) & (i < 2 * r + \K)
    fma %(SUMS + 2 * r), \x, %(WEIGHTS + pair * \K + i - 2 * r)
    fma %(SUMS + 2 * r + 1), %(\x + 1), %(WEIGHTS + pair * \K + i - 2 * r)
    .endif
    .set r, r + 1
    .endr
    .endm

/* The column that is left: the first of 3x3, the last of 5x5, of which tiles that are not the last
 * one load no column beyond what they need. */
    .macro start_single K, side
    .if (\K == 5) & (\side < RIGHT)
    add in, base, #4
    .elseif \K == 5
    add in, base, #8
    .elseif \side == LEFT
    mov in, base
    .else
    sub in, base, #4
    .endif
    .endm
    .macro load_single K, side, x
    .if \side == RIGHT
    load_row_end \x, d, %(\x + 1)
    .elseif (\side == RIGHT_EVEN) & (\K == 5)
    load_row_end \x, s, %(\x + 1)
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_single K, side, x
    .if (\K == 3) & (\side == LEFT)
    find_bytes \x, %(\x + 1), %(LEFT_BYTES)
    .elseif (\K == 5) & (\side < RIGHT)
    every_other uzp2, \x, %(\x + 1)
    .else
    every_other uzp1, \x, %(\x + 1)
    .endif
    .endm
    .macro use_single K, R, x
    .set r, 0
    .rept \R
    .if (i >= 2 * r) & (i < 2 * r + \K)
    fma %(SUMS + r), \x, %(WEIGHTS + \K / 2 * \K + i - 2 * r), 0
    .endif
    .set r, r + 1
    .endr
    .endm

/* ---- a tile ---- */

    .macro load_bias r
    load_bias_to %(SUMS + 2 * \r), %(SUMS + 2 * \r + 1)
    .endm
    .macro load_bias_to first, second
    ldp q\first, q\second, [sp, #at_locals]
    .endm
    .macro add_pairs r
    add_pairs_to %(SUMS + \r), %(SUMS + 2 * \r), %(SUMS + 2 * \r + 1)
    .endm
    .macro add_pairs_to sum, first, second
    faddp v\sum\().4s, v\first\().4s, v\second\().4s
    .endm

/* What is done while the first rows come. */
    .macro prepare_pairs R
    .if pair == 0
    for_all load_bias, 0, \R
    .endif
    .endm
    .macro prepare_single R
    for_all add_pairs, 0, \R
    .endm

/* All rows of source that exist; each is loaded while the ones before it are used. */
    .macro walk K, R, padding, side, what
    .set top, \padding % 2 * (\K / 2)
    .set end, 2 * \R - 2 + \K - \padding / 2
    start_\what \K, \side
    .set i, top - AHEAD
    .rept end - top + AHEAD
    .if i + AHEAD < end
    load_\what \K, \side, %((i + AHEAD - top) % ROWS * 2)
    .endif
    .if i + 1 == top
    prepare_\what \R
    .endif
    .if (i + 1 >= top) & (i + 1 < end)
    arrange_\what \K, \side, %((i + 1 - top) % ROWS * 2)
    .endif
    .if i >= top
    use_\what \K, \R, %((i - top) % ROWS * 2)
    .endif
    .set i, i + 1
    .endr
    .endm

    .macro store sum
    st1 {v\sum\().4s}, [to], dst_row
    .endm

    .macro tile K, R, padding, side, clamps
    .set pair, 0
    .rept \K / 2
    walk \K, \R, \padding, \side, pairs
    .set pair, pair + 1
    .endr
    walk \K, \R, \padding, \side, single
    .if \clamps
    ldp q0, q1, [clamp]
    clamp_all %(SUMS), \R, 0, 1
    .endif
    mov to, out
    for_all store, %(SUMS), \R
    add base, base, #32
    add out, out, #16
    .endm

/* The last two columns of 3x3 planes of 14: of two rows of dst in one vector of sums. All rows of
 * source that the single column wants are loaded: row 8 to v13, one of padding is v8. */
    .macro load_half_bias r
    load_half_bias_to %(SUMS + \r)
    .endm
    .macro load_half_bias_to sum
    ldr q\sum, [sp, #at_locals]
    .endm
    .macro use_half R, x
    .set r, 0
    .rept \R
    .if (i >= 2 * r) & (i < 2 * r + 3)
    fma %(SUMS + r), \x, %(WEIGHTS + i - 2 * r)
    .endif
    .set r, r + 1
    .endr
    .endm
    .macro separate_two to, x, y
    uzp1 v\to\().4s, v\x\().4s, v\y\().4s
    .endm
/* Rows 2 p and 2 p + 1 of dst; the last one of three is alone. */
    .macro finish_half R, p
    .set other, (2 * \p + 1 < \R) & 1
    add_pairs_to %(SUMS + \p), %(SUMS + 2 * \p), %(SUMS + 2 * \p + other)
    .set ky, 0
    .rept 3
    .set i, 4 * \p + ky
    .set first, i
    .if i < top
    .set first, 8
    .endif
    .set i, i + 2 * other
    separate_two %(14 + ky), %(first), %(i + i / 8 * 5)
    fma %(SUMS + \p), %(14 + ky), %(WEIGHTS + 3 + ky), 0
    .set ky, ky + 1
    .endr
    .endm
    .macro store_half R, sum, p
    st1 {v\sum\().1d}, [to], dst_row
    .if 2 * \p + 1 < \R
    st1 {v\sum\().d}[1], [to], dst_row
    .endif
    .endm
    .macro half_tile R, padding, clamps
    .set top, \padding
    .set i, top
    mov in, base
    for_all load_half_bias, 0, \R
    .rept 2 * \R + 1 - top
    several ld1, 1, %(i % 4), in, row
    use_half \R, %(i % 4)
    .set i, i + 1
    .endr
    sub in, base, #4
    .set i, top
    .rept 2 * \R + 1 - top
    several ld1, 1, %(i + i / 8 * 5), in, row
    .set i, i + 1
    .endr
    finish_half \R, 0
    finish_half \R, 1
    .if \clamps
    ldp q0, q1, [clamp]
    clamp_all %(SUMS), 2, 0, 1
    .endif
    mov to, out
    store_half \R, %(SUMS), 0
    store_half \R, %(SUMS + 1), 1
    .endm
