/* What the assembly of slide.h for cores that issue in order shares: instructions, and
 * what becomes of complete sums. The files name the registers; v28 and v29 are the limits of a
 * clamp. Columns are at `offset` from each row's address, outputs at `dst_offset`. */
/* clang-format off */
#include "kernels/depthwise/f32/rows/slide_neon.h"

/* ---- one instruction each, registers by number ---- */

    .macro load_whole into, row
    ldr q\into, [x\row, offset]
    .endm
    .macro next_column
    add offset, offset, column
    .endm
    .macro store_sum row, sum
    str q\sum, [x\row, dst_offset]
    .endm

/* The weights of a group to v0 … v8, and what narrow cores want of its bias. */
    .macro load_weights
    mov scratch, weights
    ldr x9, [job, #job.weights_tap]
    each i, 9, load_weight %(i)
    ldr bias_high, [bias, #8]
    .endm
    .macro load_weight into
    ldr q\into, [scratch]
    add scratch, scratch, x9
    .endm
    .macro load_limits clamps
    .if \clamps
    ldr scratch, [job, #job.clamp]
    ldp q28, q29, [scratch]
    .endif
    .endm

/* ---- complete sums ---- */

/* They go through stages, one at a time and each not before the one it needs has ended:
 *   0  without clamp the store, else its first half
 *   1  the bias, of narrow cores its lower half          2  its upper half
 *   3  the clamp's second half                           4  the store
 * A clamp's first half goes to a register of its own, so that the sum's is free for the bias, or, if
 * in_place is set, to the sum's, and the bias comes last. At a stage of 5 there is nothing left.
 *
 * `now` is the time, `latency` what an arithmetic instruction takes and `load_latency` what a load
 * does; `filled` becomes 1 with an instruction. */
    .macro begin_stages
    .set stage_0, 0
    .set stage_1, 0
    .set stage_2, 0
    .set stage_3, 0
    .endm

    .macro do_stage row, next, what:vararg
    \what
    .set stage_\row, \next
    .set at_\row, now
    .set filled, 1
    .endm

/* What is next for the complete sum of a row. */
    .macro fill_stage row, clamps, sum, clamped
    .set after_bias, 5 - 2 * (\clamps - \clamps * in_place)
    .if (stage_\row == 0) & (\clamps == 0)
    do_stage \row, 1, store_row \row, \sum
    .elseif stage_\row == 0
    .set clamped_\row, now
    do_stage \row, %(1 + 2 * in_place), floats fmax, \clamped, \sum, 28
    .elseif stage_\row == 1
    do_stage \row, 2, load_d \sum, [bias]
    .elseif stage_\row == 2
    when %((now - at_\row) >= load_latency), do_stage \row, %after_bias, set_upper \sum, bias_high
    .elseif stage_\row == 3
    when %((now - clamped_\row) >= latency), do_stage \row, 4, at_most \clamped, 29
    .elseif (now - at_\row) >= latency
    do_stage \row, %(5 - 4 * in_place), store_row \row, \clamped
    .endif
    .endm

/* What goes into the next place without a multiply-add. */
    .macro fill_later R, clamps, slot
    .set now, now + 1
    fill \R, \clamps, \slot
    .endm

/* What a clamp and its store at the edges are, where R rows' sums of one output are `under_way`
 * registers from each other. */
    .macro finish R, clamps, slot
    .if \clamps
    each r, \R, at_least %(9 + r * under_way + \slot), 28
    each r, \R, at_most %(9 + r * under_way + \slot), 29
    .endif
    each r, \R, store_row %r, %(9 + r * under_way + \slot)
    .endm

/* ---- a group of channels ---- */

    .macro rows R, clamps
    begin_rows \R
    columns \R, \clamps
    .endm

/* All rows, four at a time and one to three at the end. */
    .macro all_rows clamps
    subs rows_left, rows_left, #4
    b.lo 32f
31: rows 4, \clamps
    subs rows_left, rows_left, #4
    b.hs 31b
32: tbz rows_left, #1, 33f
    tbz rows_left, #0, 35f
    rows 3, \clamps
    b 34f
35: rows 2, \clamps
    b 34f
33: tbz rows_left, #0, 34f
    rows 1, \clamps
34:
    .endm

/* The stack keeps which weights and how many groups, whose registers are needed meanwhile. */
    .macro function name, clamps
    begin_slide \name, 30, 16
    load_limits \clamps
30: load_weights
    stp weights, groups, [sp, #at_locals]
    first_rows
    all_rows \clamps
    ldp weights, groups, [sp, #at_locals]
    end_slide \name, 16
    .endm
