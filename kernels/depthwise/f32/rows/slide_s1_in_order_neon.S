/* Depthwise 3x3, stride 1, for cores that issue in the order of the program: see slide.h.
 *
 * R rows of outputs of four channels at a time, R = 4, 3, 2, 1; each row of source has a register of
 * its own. A step has a group of three FMLA for each row r of outputs and row i = r … r + 2 of
 * source: to the output that is complete after it, to the one that begins, and to the one between.
 * Groups of one r are as far from each other as FMLA takes (`order`), and what begins an output
 * comes a group late: its register was that of the output which the step before completed.
 *
 * Steps overlap, so that there is always something to do between FMLA: the loop goes from the group
 * that completes the first row's output to the ones before it in the next step. A row of source is
 * loaded for the next column when its row is done with, and what follows a complete sum is done when
 * FMLA has ended: clamp, store, the bias for the output that begins. After each FMLA goes something
 * that is no arithmetic: loads in halves, as 128-bit ones take both issue slots for two cycles; what
 * inserts the upper half goes beside the next row's lower half, which is all that Cortex-A53 can pair
 * it with. Four rows: 36 FMLA, 18 parts of loads of source, 4 stores, 8 of the bias.
 *
 * Weights in v0 … v8, sums [row][output] from v9 on, v21 … v26 source, v28 and v29 the limits of a
 * clamp, v27, v30 and v31 what is being clamped. Needs columns to the right: SLIDE_RIGHT_0. */

    .set under_way, 3 /* outputs of a row */
#include "kernels/depthwise/f32/rows/slide_in_order_neon.h"

/* x9 … x14 are rows of source, x15, x16, x17, x19 of dst. */
    registers 0, job, column, dst_column, bias, edges, rounds
    registers 5, all_rounds, list, rows_left, entry
    registers 20, half, start, next_dst, groups, group_dst
    registers 25, weights, bias_high, dst_row, scratch
    registers 28, dst_offset, offset, offset_high

/* ---- one instruction each, registers by number ---- */

    .macro load_high row
    ldr half, [x\row, offset_high]
    .endm
/* Rows of dst are x15, x16, x17, x19. */
    .macro store_row r, sum
    when %(\r < 3), store_sum %(15 + \r), \sum
    otherwise store_sum 19, \sum
    .endm

/* ---- the order of a step ---- */

/* Groups from the right to the left, a digit each: row of source, row of outputs. The loop begins
 * with group `turn`. */
    .macro order R
    when %(\R == 4), set_order 7, 0x543423231210, 0x321302130210
    or_when %(\R == 3), set_order 6, 0x432321210, 0x210210210
    or_when %(\R == 2), set_order 4, 0x322110, 0x101010
    otherwise set_order 2, 0x210, 0
    .endm
    .macro set_order first, source, outputs
    .set turn, \first
    .set order_i, \source
    .set order_r, \outputs
    .endm
    .macro find_group g
    .set i, (order_i >> (4 * (\g))) & 15
    .set r, (order_r >> (4 * (\g))) & 15
    .endm

/* Group g, column kx of the kernel, to a slot of sums; slot 9: nothing. */
    .macro multiply_one g, kx, slot
    .if \slot < 9
    find_group \g
    fma %(9 + r * 3 + \slot), %(21 + i), %((i - r) * 3 + \kx)
    .endif
    .endm

/* FMLA number n of a step that begins, continues and completes these slots. */
    .macro multiply_number R, begins, continues, completes
    .set g, n / 3
    when %(n % 3 == 0), multiply_one %g, 2, \completes
    or_when %(n % 3 == 2), multiply_one %g, 1, \continues
    or_when %(n > 2), multiply_one %(g - 1), 0, \begins
    .endm

    .macro multiply_column R, begins, continues, completes
    order \R
    each n, %(9 * \R + 3), when %((n < 9 * \R) | (n % 3 == 1)), multiply_number \R, \begins, \continues, \completes
    .endm

/* The groups of a step that come before the loop. */
    .macro multiply_before R, begins, continues, completes
    order \R
    each n, %(3 * turn), multiply_number \R, \begins, \continues, \completes
    .endm
/* What is left of a step when the loop has ended. */
    .macro multiply_after R, continues, completes
    order \R
    each_from n, %(3 * turn), %(9 * \R - 3 * turn), multiply_number \R, 9, \continues, \completes
    .endm

/* ---- what goes between multiply-adds; f is the number of the last one in the loop, `now` the time
 * that has passed, in multiply-adds ---- */

/* After which FMLA row l of source is done with. */
    .macro find_free R
    .set free, -1
    each g, %(3 * \R), when %((order_i >> (4 * g) & 15) == l), .set free, 3 * (g - turn) + 4
    .endm

/* Loads in turn: `begun` says that the first half of row l came at `since`. */
    .macro fill_load R
    .if l < \R + 2
    find_free \R
    .if begun == 0
    .if (free <= f) & ((now - since) > 1)
    insert_waiting
    load_indexed %(21 + l), %(9 + l), d, offset
    .set begun, 1
    .set since, now
    .set filled, 1
    .endif
    .elseif now > since
    load_high %(9 + l)
    .set begun, 0
    .set since, now
    .set waiting, 21 + l
    .set l, l + 1
    .set filled, 1
    .endif
    .elseif l == (\R + 2)
    next_column
    .set l, l + 1
    .set filled, 1
    .elseif (l == \R + 3) & (now - since > 1)
    insert_waiting
    add offset_high, offset_high, column
    .set l, l + 1
    .set filled, 1
    .endif
    .endm
    .macro insert_waiting
    .if waiting > 0
    set_upper %waiting, half
    .set waiting, 0
    .set rests, 1
    .endif
    .endm

    .macro find_complete R, row
    .set g, 0
    .rept 3 * \R
    .if (((order_r >> (4 * g)) & 15) == \row) & (((order_i >> (4 * g)) & 15) == (\row + 2))
    .set complete, 3 * (g - turn)
    .endif
    .set g, g + 1
    .endr
    .endm
/* Of four rows that are clamped, the last one waits for the register of the first. */
    .macro fill_row R, clamps, slot, row
    find_complete \R, \row
    .if (filled == 0) & (stage_\row < 5) & (f >= complete) & (now >= (complete + latency))
    .if (\clamps == 0) | (\row < 3) | (stage_0 == 5)
    fill_stage \row, \clamps, %(9 + \row * 3 + \slot), %(27 + \row % 3 * 3 - \row % 3 / 2 * 2)
    .endif
    .endif
    .endm
/* The half of a row that was begun comes first; then rows of outputs, then the next load. */
    .macro fill R, clamps, slot
    .set filled, 0
    when %begun, fill_load \R
    each row, \R, fill_row \R, \clamps, \slot, %row
    when %(filled == 0), fill_load \R
    .if (filled == 0) & (stage_0 + stage_1 + stage_2 + stage_3 == 5 * \R)
    add dst_offset, dst_offset, dst_column
    .set stage_0, 6
    .endif
    .endm

/* The loop's part that completes `completes` in one step and begins the next one. */
    .macro flow R, clamps, begins, continues, completes
    order \R
    begin_stages
    .set in_place, 0
    .set latency, 4
    .set load_latency, 3
    .set l, 0
    .set begun, 0
    .set since, -3
    .set waiting, 0
    .set rests, 0
    .set f, -1
    .set now, -1
    fill \R, \clamps, \completes
    .set f, 0
    .set now, 0
    .rept 9 * \R
    flow_one \R, \clamps, \begins, \continues, \completes
    when %((rests == 1) & (\R == 4) & (\clamps == 0)), .set rests, 0
    otherwise fill \R, \clamps, \completes
    .set f, f + 1
    .set now, now + 1
    .endr
    .rept 40
    fill \R, \clamps, \completes
    .set now, now + 1
    .endr
    .endm
/* The next step's slots are turned by one; so are, for a group, those of the values that begin. */
    .macro flow_one R, clamps, begins, continues, completes
    .set n, f + 3 * turn
    .if (n >= (9 * \R)) & ((n % 3 != 1) | (n >= (9 * \R + 3)))
    .set n, n - 9 * \R
    find_group (n / 3 - n % 3 % 2)
    times 20, when %((l <= i) | (waiting == (21 + i))), fill_later \R, \clamps, \completes
    .if n % 3 == 1
    find_group (n / 3 - n % 3 % 2)
    wait_for %r, \R, \clamps, \completes
    .endif
    multiply_number \R, \completes, \begins, \continues
    .else
    multiply_number \R, \begins, \continues, \completes
    .endif
    .endm
/* A sum that begins needs the bias. */
    .macro wait_for row, R, clamps, slot
    times 40, when %(stage_\row < 3), fill_later \R, \clamps, \slot
    .endm

/* ---- steps at the edges ---- */

    .macro load_column R
    each i, %(\R + 2), load_whole %(21 + i), %(9 + i)
    .endm

/* Steps 0 and 1, and what of the next one comes before the loop. */
    .macro head R, begins, continues, completes
    tbz edges, #0, 1f
    load_column \R
    next_column
    multiply_column \R, \completes, 9, 9
1:  tbz edges, #1, 2f
    load_column \R
    next_column
    multiply_column \R, \continues, \completes, 9
2:  load_column \R
    next_column
    add offset_high, offset, #8
    multiply_before \R, \begins, \continues, \completes
    .endm

    .macro columns R, clamps
    for_all load_q, 9, %(3 * \R), [bias]
    tbnz entry, #1, 12f
    tbnz entry, #0, 11f
    head \R, 0, 2, 1
10: flow \R, \clamps, 0, 2, 1
21: flow \R, \clamps, 1, 0, 2
22: flow \R, \clamps, 2, 1, 0
    subs rounds, rounds, #1
    b.ne 10b
    multiply_after \R, 2, 1
    finish \R, \clamps, 1
    add dst_offset, dst_offset, dst_column
    tbz edges, #3, 1f
    load_column \R
    multiply_column \R, 9, 9, 2
1:  finish \R, \clamps, 2
    b 20f
11: head \R, 1, 0, 2
    b 21b
12: head \R, 2, 1, 0
    b 22b
20:
    .endm

/* ---- rows and groups ---- */

    .macro begin_rows R
    for_all load_row_address, 9, %(\R + 2)
    add list, list, #(8 * \R)
    mov x15, next_dst
    when %(\R > 1), add x16, x15, dst_row
    when %(\R > 2), add x17, x16, dst_row
    when %(\R > 3), add x19, x17, dst_row
    add next_dst, next_dst, dst_row, lsl #2
    mov offset, start
    mov dst_offset, #0
    ldr rounds, [job, #job.rounds]
    .endm

    function dwconv_f32_slide_s1_a55, 0
    function dwconv_f32_slide_s1_a55_clamp, 1
