/* Depthwise 3x3 and 5x5 convolution of planes in place with stride 2, for NEON: see
 * dwconv_f32_planes.h.
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them makes
 * four values of dst. Only the column of the kernel that is left over wants every other column of
 * source, by one UZP1 for four of them, which then serves all rows of dst that it reaches.
 *
 * A band is R rows of dst, a tile four columns of it. Four rows: 3x3: 36 FMLA, 9 UZP1, 4 FADDP and 18
 * LD1 of two vectors; 5x5: 100 FMLA, 11 UZP1, 4 FADDP and 33 LD1. */
#include "kernels/dwconv_f32_planes_neon.h"

/* Vector registers: four rows of source; zeros in v8; two vectors of sums, later one, for each row of dst;
 * weights of pairs by column and row of the kernel; and those of the single column, in lane 0. */
    .set ROWS, 4
    .set AHEAD, 2
    .set SUMS, 9
    .set WEIGHTS, 17

/* Of a tile. Left of the first one are zeros; what 5x5 has behind the last one is zero, too. */
    .set MIDDLE, 0
    .set LEFT, 1
    .set RIGHT, 2

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
    .macro load_row_end x, y
    load_parts \x, d\y, 16
    .endm
    .macro shift_in x, bytes
    ext v\x\().16b, v8.16b, v\x\().16b, #(16 - \bytes)
    .endm
    .macro every_other op, x, y
    \op v\x\().4s, v\x\().4s, v\y\().4s
    .endm

/* Two columns of the kernel, number `pair` of those of 5x5. The left edge lacks two columns. */
    .macro start_pairs K, side
    .set is_cut, (\side == LEFT) & (\K == 5) & (pair == 0)
    .if is_cut | (\K == 3) | (pair == 1)
    mov in, base
    .else
    sub in, base, #8
    .endif
    .endm
    .macro load_pairs K, side, x
    .if is_cut
    load_two_at \x, %(\x + 1), 8
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_pairs K, side, x
    .if is_cut
    shift_in \x, 8
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

/* The column that is left: the first of 3x3, the last of 5x5. */
    .macro start_single K, side
    .if \K == 5
    add in, base, #8
    .elseif \side == LEFT
    mov in, base
    .else
    sub in, base, #4
    .endif
    .endm
    .macro load_single K, side, x
    .if \side == RIGHT
    load_row_end \x, %(\x + 1)
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_single K, side, x
    .if (\K == 3) & (\side == LEFT)
    every_other uzp2, \x, %(\x + 1)
    shift_in \x, 4
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
    .set end, 2 * \R - 2 + \K - \padding / 2 * (\K / 2 - 1)
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

/* ---- a band ---- */

/* The last tile overlaps the one before unless columns are a multiple of four. */
    .macro last_tile K, R, padding, clamps
    .if \K == 3
    tile \K, \R, \padding, MIDDLE, \clamps
    .else
    tile \K, \R, \padding, RIGHT, \clamps
    .endif
    .endm
    .macro band_body K, R, padding, clamps
    mov count, vectors
    tile \K, \R, \padding, LEFT, \clamps
    cbz count, 2f
1:  tile \K, \R, \padding, MIDDLE, \clamps
    subs count, count, #1
    b.ne 1b
2:
    .if \K == 3
    cbz last_src, 3f
    .endif
    add base, base, last_src
    add out, out, last_dst
    last_tile \K, \R, \padding, \clamps
3:  next_tile base
    br scratch
    .endm

    .macro band K, R, padding
    .p2align 4
.Lband_\K\()_\R\()_\padding\():
    cbnz clamp, 4f
    band_body \K, \R, \padding, 0
4:  band_body \K, \R, \padding, 1
    .endm

    .macro band_entry K, R, padding
    .word .Lband_\K\()_\R\()_\padding - .Lbands_\K
    .endm
    .macro no_band what
    .ifc \what, band_entry
    .word 0
    .endif
    .endm

/* In the order of PLANES_BAND; 3x3 has no padding below. */
    .macro for_paddings what, K, R
    \what \K, \R, 0
    \what \K, \R, 1
    .if \K == 5
    \what \K, \R, 2
    .else
    no_band \what
    .endif
    no_band \what
    .endm
    .macro for_bands what, K
    for_paddings \what, \K, 1
    for_paddings \what, \K, 2
    for_paddings \what, \K, 3
    for_paddings \what, \K, 4
    .endm

/* ---- a plane ---- */

/* The bias in even lanes, since pairs of lanes are added in the end. */
    .macro spread_bias
    ldr w16, [bias]
    add bias, bias, bias_next
    stp x16, x16, [sp, #at_locals]
    stp x16, x16, [sp, #at_locals + 16]
    .endm

    .macro load_weight register, kx
    .if \kx == 0
    ldr \register, [in]
    .else
    load_weight_at \register, %(3 + \kx)
    .endif
    .endm
    .macro load_weight_at register, offset
    ldr \register, [in, x\offset]
    .endm
    .macro load_pair_of_weights vector, kx
    load_weight w16, \kx
    load_weight w3, %(\kx + 1)
    orr x16, x16, x3, lsl #32
    dup v\vector\().2d, x16
    .endm
    .macro load_single_weight vector, kx
    load_weight s\vector, \kx
    .endm

    .macro load_weights K
    mov in, weights
    .set ky, 0
    .rept \K
    .set pair, 0
    .rept \K / 2
    load_pair_of_weights %(WEIGHTS + pair * \K + ky), %(\K / 2 % 2 + 2 * pair)
    .set pair, pair + 1
    .endr
    load_single_weight %(WEIGHTS + \K / 2 * \K + ky), %((\K / 2 + 1) % 2 * (\K - 1))
    add in, in, weights_row
    .set ky, ky + 1
    .endr
    .endm

/* Planes of 7x7, and of 14x14 with 3x3, are one block of instructions: the weights of one are loaded
 * while multiply-adds of the one before go on. */
    .macro whole_band K, R, padding, y, size, clamps
    .if \y
    mov scratch, #(2 * \y - \K / 2)
    madd base, row, scratch, src
    mov scratch, #\y
    madd out, dst_row, scratch, dst
    .else
    mov base, src
    mov out, dst
    .endif
    tile \K, \R, \padding, LEFT, \clamps
    .rept \size / 4 - 1
    tile \K, \R, \padding, MIDDLE, \clamps
    .endr
    sub base, base, #(8 * (4 - \size % 4))
    sub out, out, #(4 * (4 - \size % 4))
    last_tile \K, \R, \padding, \clamps
    .endm
    .macro whole_planes K, size, clamps
5:  spread_bias
    load_weights \K
    whole_band \K, 4, 1, 0, \size, \clamps
    .if \size == 7
    whole_band \K, 3, %(\K / 4 * 2), 4, \size, \clamps
    .else
    whole_band \K, 4, 0, 4, \size, \clamps
    whole_band \K, 3, 0, 8, \size, \clamps
    whole_band \K, 3, 0, 11, \size, \clamps
    .endif
    next_plane
    b.ne 5b
    b 12b
    .endm
    .macro whole_or_clamped_planes K, size
    cbnz clamp, 6f
    whole_planes \K, \size, 0
6:  whole_planes \K, \size, 1
    .endm

    .macro function name, K
    begin_planes \name, 30
    ldr weights_row, [job, #JOB_WEIGHTS_ROW]
    lsl x5, w_tap, #1
    add x6, x5, w_tap
    lsl x7, w_tap, #2
    ldr vectors, [job, #JOB_VECTORS]
    ldp last_src, last_dst, [job, #JOB_LAST_SRC]
    movi v8.4s, #0
    adr bodies, .Lbands_\K
    cbz tiles, 13f
10: spread_bias
    load_weights \K
    ldr tiles, [job, #JOB_TILES]
    next_tile base
    br scratch
    for_bands band, \K
.Lend_\K\():
    next_plane
    b.ne 10b
12: restore_registers
    ret
13:
    .if \K == 3
    cbz vectors, 14f
    whole_or_clamped_planes \K, 14
    .endif
14: whole_or_clamped_planes \K, 7
    .p2align 2
.Lbands_\K\():
    for_bands band_entry, \K
    .word .Lend_\K - .Lbands_\K
    end_function \name
    .endm

    function dwconv_f32_planes_pairs_3x3, 3
    function dwconv_f32_planes_pairs_5x5, 5
