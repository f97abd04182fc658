/* Depthwise 3x3 convolution of planes of 14x14 in place with stride 2, in pairs, for cores of a
 * kind: see planes.h and, for pairs, pairs_neon.h.
 *
 * Rows of source come once, as seven pairs of neighbours in four vectors; one TBL has the single
 * column of the kernel for columns 0 … 3 of dst, behind a zero, another one for columns 4 … 6. As
 * these take the pipes of FMLA, some rows have them from a copy by general registers instead. When
 * a row of dst has all its pairs, FADDP makes two vectors of it, and its single column is added
 * beside the pairs of the next row. The second vector's last lane goes where the next row begins,
 * which is stored after it: rows of dst follow one another. 120 FMLA, 18 TBL, 14 FADDP, 15 stores.
 */
/* clang-format off */
#include "kernels/depthwise/f32/planes/pairs_neon.h"

/* Vector registers: two rows of source, four vectors each, in v0 … v7; the single column of four rows,
 * two vectors each; sums of two rows of dst, four vectors each, later two; weights of the pairs, and
 * of the single column in lanes; which bytes of two vectors that is; limits. */
    .set SINGLE, 8
    .set SUMS, 16
    .set PAIR_WEIGHTS, 24
    .set LEFT_BYTES, 28
    .set RIGHT_BYTES, 29
    .set TOTALS, 30
    .set LOW, 0
    .set HIGH, 1
    .set ROWS, 7

odd_rows .req x11
copied .req x12
next_weights .req x17
bias_pair .req x27
copies .req x28

/* All rows but the last one with two columns of the next. Rows are 56 bytes apart: LDP reaches every
 * other one from an address. */
    .set TWO_ROWS, 2 * 2 * ROWS * 4
    .macro load_source y, x
    .if \y % 2
    load_four \y, \x, odd_rows
    .else
    load_four \y, \x, in
    .endif
    .endm
    .macro load_four y, x, from
    load_two_at \x, %(\x + 1), \from, %(\y / 2 * TWO_ROWS)
    .if \y < 2 * ROWS - 1
    load_two_at %(\x + 2), %(\x + 3), \from, %(\y / 2 * TWO_ROWS + 32)
    .else
    load_last %(\x + 2), %(\x + 3), \from, %(\y / 2 * TWO_ROWS + 32)
    .endif
    .endm
    .macro load_last third, half, from, at
    ldr q\third, [\from, #\at]
    ldr d\half, [\from, #\at + 16]
    .endm

    .macro find_single to, x
    find_bytes \to, \x, %(\x + 1), %(LEFT_BYTES)
    find_bytes %(\to + 1), %(\x + 1), %(\x + 2), %(RIGHT_BYTES)
    .endm

/* Rows 5, 7, 9, 11 and 13, five rows ahead, so that the copy is there when it is loaded; zeros around
 * it stay. `copied` is column 1 of the first one. Two columns are in the lower halves of what LDP brings. */
    .set FIRST_COPIED, 5
    .set COPIES, 5
    .macro copy_single y
    .if \y + FIRST_COPIED < 2 * ROWS
    fetch_copy x6, x7, %(\y / 2 * TWO_ROWS)
    fetch_copy x16, x17, %(\y / 2 * TWO_ROWS + 16)
    store_copy w6, w7, %(16 * \y + 4)
    fetch_copy x6, x7, %(\y / 2 * TWO_ROWS + 32)
    store_copy w16, w17, %(16 * \y + 12)
    store_copy w6, w7, %(16 * \y + 20)
    .endif
    .endm
    .macro fetch_copy first, second, at
    ldp \first, \second, [copied, #\at]
    .endm
    .macro store_copy first, second, at
    stp \first, \second, [copies, #\at]
    .endm
    .macro load_copy to, other, y
    ldp q\to, q\other, [copies, #16 * (\y - FIRST_COPIED)]
    .endm
    .macro single_of y, x
    .if (\y >= FIRST_COPIED) & (\y % 2)
    load_copy %(SINGLE + \y % 4 * 2), %(SINGLE + \y % 4 * 2 + 1), \y
    .else
    find_single %(SINGLE + \y % 4 * 2), \x
    .endif
    .endm

/* ---- parts of a step: row r of dst, of which row ky of the kernel has row 2 r - 1 + ky of source ---- */

    .macro begin_sums r
    .if \r < ROWS
    for_all spread_pair, %(SUMS + \r % 2 * 4), 4, bias_pair
    .endif
    .endm
    .macro use_pairs r, x, ky
    .if \r < ROWS
    .set v, 0
    .rept 4
    fma %(SUMS + \r % 2 * 4 + v), %(\x + v), %(PAIR_WEIGHTS + \ky)
    .set v, v + 1
    .endr
    .endif
    .endm
    .macro finish_pairs sum
    add_neighbours %(TOTALS), \sum, %(\sum + 1)
    add_neighbours %(TOTALS + 1), %(\sum + 2), %(\sum + 3)
    .endm
    .macro use_single r, ky
    .if (\r >= 0) & (2 * (\r) + \ky > 0)
    use_single_row %(SINGLE + (2 * \r + \ky + 3) % 4 * 2), \ky
    .endif
    .endm
    .macro use_single_row x, lane
    fma %(TOTALS), \x, %(PAIR_WEIGHTS + 3), \lane
    fma %(TOTALS + 1), %(\x + 1), %(PAIR_WEIGHTS + 3), \lane
    .endm

    .macro store_row r, clamps
    .if \clamps
    clamp_all %(TOTALS), 2, %(LOW), %(HIGH)
    .endif
    several st1, 1, %(TOTALS), out, dst_row
    .if \r < ROWS - 1
    several st1, 1, %(TOTALS + 1), to, dst_row
    .else
    store_three %(TOTALS + 1)
    .endif
    .endm
    .macro store_three sum
    str d\sum, [to], #8
    st1 {v\sum\().s}[2], [to]
    .endm

/* Rows 2 r and 2 r + 1 of source, and the single column of row r - 1 of dst. Sums that wait for each
 * other are apart for the sake of cores that issue in order. */
    .macro step r, clamps
    use_single %(\r - 1), 0
    use_pairs \r, 0, 1
    use_single %(\r - 1), 1
    .if \r < ROWS
    single_of %(2 * \r), 0
    single_of %(2 * \r + 1), 4
    .endif
    use_single %(\r - 1), 2
    use_pairs \r, 4, 2
    .if \r < ROWS
    use_pairs %(\r + 1), 4, 0
    .endif
    .if \r > 0
    .if \clamps
    ldp q0, q1, [clamp]
    .endif
    store_row %(\r - 1), \clamps
    .endif
    .if \r < ROWS
    finish_pairs %(SUMS + \r % 2 * 4)
    .endif
    .endm
/* What the next one wants. */
    .macro prepare_step r
    begin_sums %(\r + 1)
    load_source %(2 * \r), 0
    load_source %(2 * \r + 1), 4
    .endm

    .macro store_at sum, at
    stur q\sum, [out, #\at]
    .endm

/* Of the plane after this one, if there is one. */
    .macro fetch_next
    fetch_next_weights_3x3 17, 8, 5, 12
    csel scratch, bias_next, xzr, ne
    add bias, bias, scratch
    ldr w27, [bias]
    .endm

    .macro plane clamps
    spread_weights_3x3 5
    begin_sums 0
    mov in, src
    mov out, dst
    add to, dst, #16
    add odd_rows, src, row
    add copied, odd_rows, #2 * TWO_ROWS + 4
    steps \clamps
    next_plane
    .endm
    .macro steps clamps
    .set r, 0
    .rept ROWS
    prepare_step %(r)
    copy_single %(2 * r)
    step %(r), \clamps
    .set r, r + 1
    .endr
    fetch_next
    step ROWS, \clamps
    .endm

/* Below the copies are locals of what loads the weights. */
    .macro pairs_7x7_function name
    begin_planes \name, 28, %(48 + 32 * COPIES)
    add copies, sp, #at_locals + 48
    .set i, 0
    .rept 2 * COPIES
    stp xzr, xzr, [copies, #16 * i]
    .set i, i + 1
    .endr
    adr scratch, .Lbytes
    ldp q28, q29, [scratch]
    ldr weights_row, [job, #JOB_WEIGHTS_ROW]
    ldr w27, [bias]
    mov next_weights, weights
    fetch_weights_3x3 17, 8, 5, 12
    cbnz clamp, 2f
1:  plane 0
    b.ne 1b
    b 3f
2:  plane 1
    b.ne 2b
3:  pop_and_return
    .p2align 4
.Lbytes:
    .word 0xffffffff, 0x07060504, 0x0f0e0d0c, 0x17161514
    .word 0x0f0e0d0c, 0x17161514, 0x1f1e1d1c, 0xffffffff
    end_function \name
    .endm
