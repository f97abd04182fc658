/* Depthwise 3x3 convolution of planes of 14x14 in place with stride 2, in pairs, for NEON: see
 * dwconv_f32_planes.h and, for pairs, dwconv_f32_planes_pairs_tiles_neon.h.
 *
 * Rows of source come once, as seven pairs of neighbours in four vectors; one TBL has the single
 * column of the kernel for columns 0 … 3 of dst, behind a zero, another one for columns 4 … 6. When a
 * row of dst has all its pairs, FADDP makes two vectors of it, and its single column is added beside
 * the pairs of the next row. The second vector's last lane goes where the next row begins, which is
 * stored after it: rows of dst follow one another. 120 FMLA, 28 TBL, 14 FADDP, 15 stores. */
#include "kernels/dwconv_f32_planes_neon.h"

/* Vector registers: two rows of source, four vectors each, in v0 … v7; the single column of four rows,
 * two vectors each; sums of two rows of dst, four vectors each, later two; weights of the pairs, and
 * of the single column in lanes; which bytes of two vectors that is; limits. */
    .set SINGLE, 8
    .set SUMS, 16
    .set PAIR_WEIGHTS, 24
    .set SINGLE_WEIGHTS, 27
    .set LEFT_BYTES, 28
    .set RIGHT_BYTES, 29
    .set LOW, 30
    .set HIGH, 31
    .set ROWS, 7

to .req x3
/* x4 … x5: from a row's first weight to the others; x6, x7: weights on their way */
weights_row .req x8

    .macro load_source x
    load_vectors \x, %(\x + 1), %(\x + 2), %(\x + 3)
    .endm
    .macro load_vectors first, second, third, half
    ldp q\first, q\second, [in]
    ldr q\third, [in, #32]
    ldr d\half, [in, #48]
    add in, in, row
    .endm

    .macro find_bytes to, x, y, bytes
    tbl v\to\().16b, {v\x\().16b, v\y\().16b}, v\bytes\().16b
    .endm
    .macro find_single to, x
    find_bytes \to, \x, %(\x + 1), %(LEFT_BYTES)
    find_bytes %(\to + 1), %(\x + 1), %(\x + 2), %(RIGHT_BYTES)
    .endm

    .macro load_bias first, second
    ldp q\first, q\second, [sp, #at_locals]
    .endm
    .macro begin_sums sum
    load_bias \sum, %(\sum + 1)
    load_bias %(\sum + 2), %(\sum + 3)
    .endm
    .macro use_pairs sum, x, ky
    .set v, 0
    .rept 4
    fma %(\sum + v), %(\x + v), %(PAIR_WEIGHTS + \ky)
    .set v, v + 1
    .endr
    .endm
    .macro add_pairs to, first, second
    faddp v\to\().4s, v\first\().4s, v\second\().4s
    .endm
    .macro finish_pairs sum
    add_pairs \sum, \sum, %(\sum + 1)
    add_pairs %(\sum + 2), %(\sum + 2), %(\sum + 3)
    .endm

/* Row r of dst: the single column of rows 2 r - 1 … 2 r + 1 of source. */
    .macro use_single r
    .set ky, 0
    .rept 3
    .if 2 * \r + ky > 0
    use_single_row %(SUMS + \r % 2 * 4), %(SINGLE + (2 * \r + ky + 3) % 4 * 2), %(ky)
    .endif
    .set ky, ky + 1
    .endr
    .endm
    .macro use_single_row sum, x, lane
    fma \sum, \x, %(SINGLE_WEIGHTS), \lane
    fma %(\sum + 2), %(\x + 1), %(SINGLE_WEIGHTS), \lane
    .endm

    .macro finish_row r, clamps
    use_single \r
    store_row \r, %(SUMS + \r % 2 * 4), %(SUMS + \r % 2 * 4 + 2), \clamps
    .endm
    .macro store_row r, first, second, clamps
    .if \clamps
    clamp_to \first, %(LOW), %(HIGH)
    clamp_to \second, %(LOW), %(HIGH)
    .endif
    several st1, 1, \first, out, dst_row
    .if \r < ROWS - 1
    several st1, 1, \second, to, dst_row
    .else
    str d\second, [to], #8
    st1 {v\second\().s}[2], [to]
    .endif
    .endm

/* Row y of source, an even one and the odd one below it. */
    .macro take_even y, clamps
    use_pairs %(SUMS + \y / 2 % 2 * 4), 0, 1
    .if \y
    finish_row %(\y / 2 - 1), \clamps
    .endif
    .endm
    .macro take_odd y
    use_pairs %(SUMS + \y / 2 % 2 * 4), 4, 2
    finish_pairs %(SUMS + \y / 2 % 2 * 4)
    .if \y < 2 * ROWS - 1
    begin_sums %(SUMS + (\y / 2 + 1) % 2 * 4)
    use_pairs %(SUMS + (\y / 2 + 1) % 2 * 4), 4, 0
    .endif
    .endm

/* The bias, and the weights. */
    .macro begin_pairs
    spread_bias_to_pairs
    mov in, weights
    .set ky, 0
    .rept 3
    load_pair_of_weights %(PAIR_WEIGHTS + ky)
    load_single_weight %(ky)
    add in, in, weights_row
    .set ky, ky + 1
    .endr
    stp x6, x16, [sp, #at_locals + 32]
    ldr q27, [sp, #at_locals + 32]
    .endm
    .macro load_pair_of_weights vector
    ldr w16, [in, w_tap]
    ldr w7, [in, x5]
    orr x16, x16, x7, lsl #32
    dup v\vector\().2d, x16
    .endm
    .macro load_single_weight lane
    .if \lane == 0
    ldr w6, [in]
    .else
    ldr w16, [in]
    .endif
    .if \lane == 1
    orr x6, x6, x16, lsl #32
    .endif
    .endm

    .macro plane clamps
    begin_pairs
    mov in, src
    mov out, dst
    add to, dst, #16
    begin_sums %(SUMS)
    .set y, 0
    .rept ROWS
    load_source 0
    find_single %(SINGLE + y % 4 * 2), 0
    take_even %(y), \clamps
    load_source 4
    find_single %(SINGLE + (y + 1) % 4 * 2), 4
    take_odd %(y + 1)
    .set y, y + 2
    .endr
    finish_row %(ROWS - 1), \clamps
    next_plane
    .endm

    begin_planes dwconv_f32_planes_pairs_7x7, 26, 48
    ldr weights_row, [job, #JOB_WEIGHTS_ROW]
    lsl x5, w_tap, #1
    adr scratch, .Lbytes
    ldp q28, q29, [scratch]
    cbnz clamp, 2f
1:  plane 0
    b.ne 1b
    b 3f
2:  ldp q30, q31, [clamp]
20: plane 1
    b.ne 20b
3:  restore_registers
    ret
    .p2align 4
.Lbytes:
    .word 0xffffffff, 0x07060504, 0x0f0e0d0c, 0x17161514
    .word 0x0f0e0d0c, 0x17161514, 0x1f1e1d1c, 0xffffffff
    end_function dwconv_f32_planes_pairs_7x7
