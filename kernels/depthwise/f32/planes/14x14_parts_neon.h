/* What depthwise 3x3 and 5x5 convolution of planes of 14x14 have in common: the left columns'
 * tiles, and where the other ones' sums are and go. Whoever includes this names `lower_dst`, column
 * 8 of the lower half of dst, and the registers of limits, LOW and HIGH, and defines `copy_next`,
 * what comes with each row of the left columns, and `planes`. */
/* clang-format off */

    .set UPPER_SUMS, 11
    .set LOWER_SUMS, 18
    .set PAIR_SUMS, 25
    .set ROWS, 7
    .set flat_bytes, 4 * 14
/* Copies of the columns at the right edge. Of dst: column 8 of the upper half, and 12 of the lower one. */
pairs .req x0
upper_dst .req x9
dst_pair .req x17

    .macro left_columns K, padding, clamps
    mov w, weights
    take_columns \K, 2, 7, LEFT, \padding, copy_next
    .if \clamps
    limit 2, 7
    .endif
    store_rows 2, 7, LEFT
    .endm

    .macro load_pair z, at
    ldr q\z, [pairs, #\at]
    .endm
    .macro load_bias_to sum
    ldr q\sum, [sp, #at_locals]
    .endm
    .macro find_dst
    mov lower_dst, #ROWS
    add upper_dst, dst, #32
    madd lower_dst, dst_row, lower_dst, upper_dst
    add dst_pair, lower_dst, #16
    .endm
/* Stores among the last multiply-adds cost less than all together. */
    .macro store_parts x, y, z, clamps
    .if \clamps
    clamp_to \x, %(LOW), %(HIGH)
    clamp_to \y, %(LOW), %(HIGH)
    clamp_to \z, %(LOW), %(HIGH)
    .endif
    str d\z, [upper_dst, #16]
    several st1, 1, \x, upper_dst, dst_row
    several st1, 1, \y, lower_dst, dst_row
    st1 {v\z\().d}[1], [dst_pair], dst_row
    .endm

    .macro all_planes
    cbnz clamp, 2f
1:  planes 0
    b.ne 1b
    b 3f
2:  planes 1
    b.ne 2b
3:  pop_and_return
    .endm
