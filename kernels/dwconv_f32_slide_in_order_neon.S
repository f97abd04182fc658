/* Depthwise 3x3, stride 1, for cores that issue in the order of the program: see dwconv_f32_slide.h.
 *
 * A 128-bit load takes both slots of such a core for two cycles, halves of it and everything that is
 * no arithmetic issue beside a multiply-add. So each row of source has a register of its own, which
 * is filled for the next column, in halves, as soon as its row is done with: between the FMLA of the
 * rows after it. On Cortex-A53 neither a half into a vector register nor the insert of the other
 * half goes beside FMLA, but they do beside each other.
 *
 * Groups of four channels: weights in v0 … v8, sums [row][output] from v9 on, v21 … v26 source, v27
 * the bias, v28 and v29 the limits of a clamp. Needs columns to the right: SLIDE_RIGHT_0. */

#include "kernels/dwconv_f32_slide_neon.h"

/* x9 … x14 are rows of source, x15, x16, x17, x19 of dst. */
job .req x0
column .req x1
dst_column .req x2
bias .req x3
edges .req x4
rounds .req x5
list .req x6
rows_left .req x7
entry .req x8
half .req x20
start .req x21
next_dst .req x22
groups .req x23
group_dst .req x24
weights .req x25
all_rounds .req x26
dst_row .req x27
scratch .req x28

/* ---- one instruction each, registers by number ---- */

    .macro load_low into, row
    ldr d\into, [x\row]
    .endm
    .macro load_high row
    ldr half, [x\row, #8]
    .endm
    .macro insert_high into
    mov v\into\().d[1], half
    .endm
    .macro load_whole into, row
    ldr q\into, [x\row]
    .endm
    .macro store_sum sum, row
    str q\sum, [x\row]
    .endm
    .macro begin_sum sum
    mov v\sum\().16b, v27.16b
    .endm
    .macro load_weight into
    ldr q\into, [scratch]
    add scratch, scratch, x9
    .endm

/* Rows of dst are x15, x16, x17, x19. */
    .macro of_dst what, r, a
    .if \r < 3
    \what %(15 + \r), \a
    .else
    \what 19, \a
    .endif
    .endm
    .macro store_to row, sum
    store_sum \sum, \row
    .endm

/* ---- what goes between multiply-adds ---- */

/* Number `next` of what is to do in a step of R rows that stores a slot, if there is such a thing
 * already: when row i is done with, its three instructions for the next column (and the insert for
 * the row before), and from row 2 on the store of row i - 2 of the outputs. */
    .macro fill R, clamps, slot
    .if next < pushed
    .set per_row, 5 - 2 * \clamps
    .if next < 6
    .set row, next / 3
    .set part, next - row * 3
    .else
    .set row, 2 + (next - 6) / per_row
    .set part, next - 6 - (row - 2) * per_row
    .endif
    .if part == 0
    .if row == 0
    insert_high %(20 + \R + 2)
    .else
    insert_high %(20 + row)
    .endif
    load_low %(21 + row), %(9 + row)
    .elseif part == 1
    load_high %(9 + row)
    .elseif part == 2
    advance %(9 + row), column
    .elseif part == 3
    of_dst store_to, %(row - 2), %(9 + (row - 2) * 3 + \slot)
    .set stored, row - 1
    .else
    of_dst advance, %(row - 2), dst_column
    .endif
    .set next, next + 1
    .endif
    .endm

/* The last row of outputs first: its sums have waited longest, as will those of the first one until
 * the next row of source. */
    .macro multiply_row R, slot0, slot1, slot2, fills, clamps
    .set r, \R - 1
    .rept \R
    .if i - r < 3
    .if i - r >= 0
    tap \R, \slot0, 0, \fills, \clamps, \slot2
    tap \R, \slot1, 1, \fills, \clamps, \slot2
    tap \R, \slot2, 2, \fills, \clamps, \slot2
    .endif
    .endif
    .set r, r - 1
    .endr
    .endm
    .macro tap R, slot, kx, fills, clamps, last
    .if \slot < 9
    fma %(9 + r * 3 + \slot), %(21 + i), %((i - r) * 3 + \kx)
    .if \fills
    fill \R, \clamps, \last
    .endif
    .endif
    .endm

/* A step in the middle: all slots, loads for the next column, stores of slot 2. */
    .macro flow R, clamps, slot0, slot1, slot2
    .set next, 0
    .set pushed, 0
    .set stored, 0
    .set begun, 0
    .set i, 0
    .rept \R + 2
    multiply_row \R, \slot0, \slot1, \slot2, 1, \clamps
    .if i < 2
    .set pushed, pushed + 3
    .else
    .set pushed, pushed + 5 - 2 * \clamps
    .endif
    .set i, i + 1
    .endr
    .if \clamps
    .set r, 0
    .rept \R
    at_least %(9 + r * 3 + \slot2), 28
    fill \R, 1, \slot2
    .set r, r + 1
    .endr
    .endif
    .rept pushed - next
    fill \R, \clamps, \slot2
    .if begun < stored
    begin_sum %(9 + begun * 3 + \slot2)
    .set begun, begun + 1
    .endif
    .endr
    .if \clamps
    clamp_and_store \R, \slot2
    .set stored, 0
    .endif
    .rept stored - begun
    begin_sum %(9 + begun * 3 + \slot2)
    .set begun, begun + 1
    .endr
    .endm
    .macro clamp_and_store R, slot
    .set r, 0
    .rept \R
    at_most %(9 + r * 3 + \slot), 29
    .set r, r + 1
    .endr
    .set r, 0
    .rept \R
    of_dst store_to, %(r), %(9 + r * 3 + \slot)
    begin_sum %(9 + r * 3 + \slot)
    of_dst advance, %(r), dst_column
    .set r, r + 1
    .endr
    .endm

/* ---- steps at the edges ---- */

    .macro load_column R
    .set i, 0
    .rept \R + 2
    load_whole %(21 + i), %(9 + i)
    advance %(9 + i), column
    .set i, i + 1
    .endr
    .endm

    .macro multiply_column R, slot0, slot1, slot2
    .set i, 0
    .rept \R + 2
    multiply_row \R, \slot0, \slot1, \slot2, 0, 0
    .set i, i + 1
    .endr
    .endm

    .macro finish R, clamps, slot
    .set r, 0
    .rept \R
    .if \clamps
    at_least %(9 + r * 3 + \slot), 28
    .endif
    .set r, r + 1
    .endr
    .set r, 0
    .rept \R
    .if \clamps
    at_most %(9 + r * 3 + \slot), 29
    .endif
    .set r, r + 1
    .endr
    .set r, 0
    .rept \R
    of_dst store_to, %(r), %(9 + r * 3 + \slot)
    of_dst advance, %(r), dst_column
    .set r, r + 1
    .endr
    .endm

/* Steps 0 and 1, and the load of the next column, whose last half is inserted by the first step. */
    .macro head R, slot0, slot1
    tbz edges, #0, 1f
    load_column \R
    multiply_column \R, \slot0, 9, 9
1:  tbz edges, #1, 2f
    load_column \R
    multiply_column \R, \slot1, \slot0, 9
2:  load_high %(9 + \R + 1)
    load_column \R
    .endm

    .macro columns R, clamps
    .set i, 9
    .rept 3 * \R
    begin_sum %(i)
    .set i, i + 1
    .endr
    tbnz entry, #1, 12f
    tbnz entry, #0, 11f
    head \R, 1, 2
10: flow \R, \clamps, 0, 2, 1
21: flow \R, \clamps, 1, 0, 2
22: flow \R, \clamps, 2, 1, 0
    subs rounds, rounds, #1
    b.ne 10b
    insert_high %(20 + \R + 2)
    multiply_column \R, 9, 2, 1
    finish \R, \clamps, 1
    tbz edges, #3, 1f
    load_column \R
    multiply_column \R, 9, 9, 2
1:  finish \R, \clamps, 2
    b 20f
11: head \R, 2, 0
    b 21b
12: head \R, 0, 1
    b 22b
20:
    .endm

/* ---- rows and groups ---- */

    .macro begin_rows R
    find_rows %(\R + 2)
    add list, list, #(8 * \R)
    mov x15, next_dst
    .if \R > 1
    add x16, x15, dst_row
    .endif
    .if \R > 2
    add x17, x16, dst_row
    add x19, x17, dst_row
    .endif
    add next_dst, next_dst, dst_row, lsl #(\R / 2)
    mov rounds, all_rounds
    .endm

    .macro function name, clamps
    begin_slide \name, 28
    .if \clamps
    ldr scratch, [job, #JOB_CLAMP]
    ldp q28, q29, [scratch]
    .endif
30: mov scratch, weights
    ldr x9, [job, #JOB_WEIGHTS_TAP]
    .set i, 0
    .rept 9
    load_weight %(i)
    .set i, i + 1
    .endr
    ldr q27, [bias]
    first_rows
    subs rows_left, rows_left, #4
    b.lo 32f
31: begin_rows 4
    columns 4, \clamps
    subs rows_left, rows_left, #4
    b.hs 31b
32: tbz rows_left, #1, 33f
    begin_rows 2
    columns 2, \clamps
33: tbz rows_left, #0, 34f
    begin_rows 1
    columns 1, \clamps
34: end_slide \name, 16
    .endm

    function dwconv_f32_slide_in_order, 0
    function dwconv_f32_slide_in_order_clamp, 1
