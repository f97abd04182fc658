/* Some columns of a rectangle of dst, for NEON: see dwconv_f32_rectangle.h.
 *
 * A function for each number of taps along the height and the width and for each number of vectors;
 * it goes down the rows, with an address for each tap and all weights in registers. Loads of a tap lie
 * before the products of the tap before, for cores that issue in order. */
/* clang-format off */
#include "kernels/assembly_neon.h"
#include "kernels/dwconv_f32_rectangle_offsets.h"

/* Taps have their addresses in x8 … x16. */
job .req x0
src .req x1
dst .req x2
count .req x3
dst_row .req x4
src_row .req x5
last .req x6
limits .req x7
scratch .req x17

/* Vector registers: sums are the first four; a row of weights in lanes; source of two taps in turn. */
    .set WEIGHTS, 16
    .set BIAS, 19
    .set LOW, 20
    .set HIGH, 21
    .set TAPS, 22

    .macro begin_sum sum
    mov v\sum\().16b, v19.16b
    .endm
    .macro load_first first, second, at
    ldp q\first, q\second, [x\at]
    .endm
    .macro load_at into, at, offset
    ldr q\into, [x\at, \offset]
    .endm
    .macro next_row at
    add x\at, x\at, src_row
    .endm

/* Tap t to v(TAPS + 4 * (t % 2)) and the following. */
    .macro load_tap t, vectors
    .set into, TAPS + 4 * (\t % 2)
    .if \vectors > 2
    load_first %(into), %(into + 1), %(8 + \t)
    .else
    load_at %(into), %(8 + \t), 0
    .endif
    .if \vectors == 4
    load_at %(into + 2), %(8 + \t), 32
    .endif
    .if \vectors > 1
    load_at %(into + \vectors - 1), %(8 + \t), last
    .endif
    next_row %(8 + \t)
    .endm
    .macro multiply_tap t, rows, vectors
    .set v, 0
    .rept \vectors
    fma %(v), %(TAPS + 4 * (\t % 2) + v), %(WEIGHTS + \t % \rows), %(\t / \rows)
    .set v, v + 1
    .endr
    .endm

/* Columns of taps follow each other, as their products do. */
    .macro find_tap t, rows
    .if \t == 0
    mov x8, src
    .elseif \t % \rows
    tap_after %(8 + \t), %(7 + \t), scratch
    .else
    tap_after %(8 + \t), %(8 + \t - \rows), limits
    .endif
    .endm
    .macro tap_after tap, before, distance
    add x\tap, x\before, \distance
    .endm
    .macro load_weights row
    ldur q\row, [scratch, #(12 * (\row - WEIGHTS))]
    .endm

    .macro store_row vectors
    .if \vectors > 2
    stp q0, q1, [dst]
    .else
    str q0, [dst]
    .endif
    .if \vectors == 4
    str q2, [dst, #32]
    .endif
    .if \vectors > 1
    store_last %(\vectors - 1)
    .endif
    .endm
    .macro store_last sum
    str q\sum, [dst, last]
    .endm

    .macro begin_rectangle rows, columns
    ldp src, dst, [job, #RECTANGLE_SRC]
    ldp count, dst_row, [job, #RECTANGLE_ROWS]
    ldp src_row, scratch, [job, #RECTANGLE_SRC_ROW]
    ldp limits, last, [job, #RECTANGLE_TAP_COLUMN]
    .set t, 0
    .rept \rows * \columns
    find_tap %(t), \rows
    .set t, t + 1
    .endr
    ldp scratch, limits, [job, #RECTANGLE_WEIGHTS]
    for_all load_weights, WEIGHTS, \rows
    add job, job, #RECTANGLE_BIAS
    ld1r {v19.4s}, [job]
    .endm

    .macro go_down taps_high, taps_wide, vectors, clamps
1:  load_tap 0, \vectors
    for_all begin_sum, 0, \vectors
    .set t, 0
    .rept \taps_high * \taps_wide
    .if t + 1 < \taps_high * \taps_wide
    load_tap %(t + 1), \vectors
    .endif
    multiply_tap %(t), \taps_high, \vectors
    .set t, t + 1
    .endr
    .if \clamps
    clamp_all 0, \vectors, %(LOW), %(HIGH)
    .endif
    store_row \vectors
    add dst, dst, dst_row
    subs count, count, #1
    b.ne 1b
    ret
    .endm

    .macro rectangle taps_high, taps_wide, vectors
    named_rectangle .Lrectangle_\taps_high\()_\taps_wide\()_\vectors, \taps_high, \taps_wide, \vectors
    .endm
    .macro named_rectangle name, taps_high, taps_wide, vectors
    begin_listed_function \name
    begin_rectangle \taps_high, \taps_wide
    cbnz limits, 2f
    go_down \taps_high, \taps_wide, \vectors, 0
2:  ld1r {v20.4s}, [limits], #4
    ld1r {v21.4s}, [limits]
    go_down \taps_high, \taps_wide, \vectors, 1
    table_entry \name
    .endm

    begin_table dwconv_f32_rectangles
    .irp high, 1, 2, 3
    .irp wide, 1, 2, 3
    .irp vectors, 1, 2, 3, 4
    rectangle \high, \wide, \vectors
    .endr
    .endr
    .endr
    end_table dwconv_f32_rectangles
