/* Depthwise 5x5 convolution of planes in place with stride 2 in pairs (planes.h): lists of bands.
 *
 * A tile adds the pairs of two columns of the kernel in all its rows, those of two more, and then
 * the single column. Four rows: 100 FMLA, 11 UZP2, 4 FADDP and 33 LD1 of two vectors. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_bands_neon.h"

    .set KERNEL, 5

/* Vector registers: four rows of source; zeros in v8; two vectors of sums, later one, for each row of
 * dst; weights of pairs by column and row of the kernel, and those of the single column, in lane 0. */
    .set ROWS, 4
    .set AHEAD, 2
    .set ZERO, 8
    .set SUMS, 9
    .set WEIGHTS, 17

/* ---- rows of source: to v(x) and v(x + 1), and what their sums need of them in v(x) ---- */

    .macro load_row x
    several ld1, 2, \x, in, row
    .endm
    .macro load_parts first, size, second, offset
    ldr q\first, [in]
    ldr \size\second, [in, #\offset]
    add in, in, row
    .endm
    .macro shift_in x, bytes
    ext v\x\().16b, v8.16b, v\x\().16b, #(16 - \bytes)
    .endm

/* Two columns of the kernel, number `pair` of them. The left edge may lack two columns. */
    .macro start_pairs side
    .set is_cut, (\side == LEFT) & (pair == 0)
    .if is_cut | (pair == 1)
    mov in, base
    .else
    sub in, base, #8
    .endif
    .endm
    .macro load_pairs side, x
    .if is_cut
    load_parts \x, q, %(\x + 1), 8
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_pairs side, x
    .if is_cut
    shift_in \x, 8
    .endif
    .endm
    .macro use_pairs R, x
    .set r, 0
    .rept \R
    .if (i >= 2 * r) & (i < 2 * r + 5)
    fma %(SUMS + 2 * r), \x, %(WEIGHTS + pair * 5 + i - 2 * r)
    fma %(SUMS + 2 * r + 1), %(\x + 1), %(WEIGHTS + pair * 5 + i - 2 * r)
    .endif
    .set r, r + 1
    .endr
    .endm

/* The last column, of which tiles that are not the last one load nothing beyond what they need. */
    .macro start_single side
    .if \side < RIGHT
    add in, base, #4
    .else
    add in, base, #8
    .endif
    .endm
    .macro load_single side, x
    .if \side == RIGHT
    load_parts \x, d, %(\x + 1), 16
    .else
    load_row \x
    .endif
    .endm
    .macro arrange_single side, x
    .if \side < RIGHT
    every_other uzp2, \x, \x, %(\x + 1)
    .else
    every_other uzp1, \x, \x, %(\x + 1)
    .endif
    .endm
    .macro use_single R, x
    .set r, 0
    .rept \R
    .if (i >= 2 * r) & (i < 2 * r + 5)
    fma %(SUMS + r), \x, %(WEIGHTS + 10 + i - 2 * r), 0
    .endif
    .set r, r + 1
    .endr
    .endm

/* ---- a tile ---- */

    .macro load_bias_pair r
    load_bias_to %(SUMS + 2 * \r), %(SUMS + 2 * \r + 1)
    .endm
    .macro load_bias_to first, second
    ldp q\first, q\second, [sp, #at_locals]
    .endm
    .macro add_pairs r
    add_neighbours %(SUMS + \r), %(SUMS + 2 * \r), %(SUMS + 2 * \r + 1)
    .endm

/* What is done while the first rows come. */
    .macro prepare_pairs R
    .if pair == 0
    for_all load_bias_pair, 0, \R
    .endif
    .endm
    .macro prepare_single R
    for_all add_pairs, 0, \R
    .endm

/* All rows of source that exist; each is loaded while the ones before it are used. */
    .macro walk_down R, side, what
    start_\what \side
    .set i, top - AHEAD
    .rept end - top + AHEAD
    .if i + AHEAD < end
    load_\what \side, %((i + AHEAD - top) % ROWS * 2)
    .endif
    .if i + 1 == top
    prepare_\what \R
    .endif
    .if (i + 1 >= top) & (i + 1 < end)
    arrange_\what \side, %((i + 1 - top) % ROWS * 2)
    .endif
    .if i >= top
    use_\what \R, %((i - top) % ROWS * 2)
    .endif
    .set i, i + 1
    .endr
    .endm

    .macro walk R, padding, side, what
    .set top, \padding % 2 * 2
    .set end, 2 * \R + 3 - \padding / 2
    walk_down \R, \side, \what
    .endm

    .macro store sum
    st1 {v\sum\().4s}, [to], dst_row
    .endm

    .macro tile R, padding, side
    .set pair, 0
    .rept 2
    walk \R, \padding, \side, pairs
    .set pair, pair + 1
    .endr
    walk \R, \padding, \side, single
    mov to, out
    for_all store, %(SUMS), \R
    add base, base, #32
    add out, out, #16
    .endm

/* ---- a plane ---- */

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
    .macro load_two_weights vector, kx
    load_weight w16, \kx
    load_weight w3, %(\kx + 1)
    orr x16, x16, x3, lsl #32
    spread_pair \vector, x16
    .endm
    .macro load_one_weight vector
    load_weight s\vector, 4
    .endm

    .macro begin_function_constants
    clear %(ZERO)
    find_taps
    .endm
    .macro find_taps
    lsl x5, w_tap, #1
    add x6, x5, w_tap
    lsl x7, w_tap, #2
    .endm
    .macro begin_plane_constants
    load_bias w16
    stp x16, x16, [sp, #at_locals]
    stp x16, x16, [sp, #at_locals + 16]
    mov in, weights
    .set ky, 0
    .rept 5
    load_two_weights %(WEIGHTS + ky), 0
    load_two_weights %(WEIGHTS + 5 + ky), 2
    load_one_weight %(WEIGHTS + 10 + ky)
    add in, in, weights_row
    .set ky, ky + 1
    .endr
    .endm

    function dwconv_f32_planes_pairs_5x5
