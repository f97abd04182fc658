/* Depthwise 3x3, stride 1 and 2, for cores that issue in the order of the program: see slide.h.
 *
 * R rows of outputs of four channels at a time, R = 4, 3, 2, 1. A step has 9 R multiply-adds and S
 * (stride) columns of source, each row of which has a register. With stride 2 these are the odd
 * column, the second one of outputs, and the even one after it, the last one of the same outputs and
 * the first one of the next. FMLA takes so long that those of one output are 2 R or more from each
 * other: a row of the kernel at a time for all R rows, and the outputs that are under way in turn
 * (`find_tap`).
 *
 * Steps overlap, so that there is always something to do between multiply-adds: the loop goes from
 * those after the first `before` of a step to those of the next one. Among them are loads, in
 * halves, and what follows complete sums: clamp, store, the bias for the output that begins. Four
 * rows, 36 FMLA: 18 parts of loads, of stride 2 54, 4 stores and 8 of the bias.
 *
 * Weights in v0 … v8, sums [row][output] from v9 on, then source, up to v29; v30 and v31 are the
 * limits of a clamp. Columns are at `offset` from each row's address, outputs at `dst_offset`. Needs
 * columns to the right: SLIDE_RIGHT_0. */

#include "kernels/depthwise/f32/halves_neon.h"
#include "kernels/depthwise/f32/rows/slide_neon.h"

/* x9 … x17 are rows of source, x19 … x22 of dst. The job says again what is wanted but once for some
 * rows: edges, entry, rounds. */
    registers 0, job, column, dst_column, bias, rounds
all_rounds .req x4
    registers 4, entry, list
    registers 5, edges, rows_left, next_dst, start
half .req x23
    registers 23, weights, groups, group_dst, bias_high, dst_row, scratch
    registers 28, dst_offset, offset, offset_high

    .set kernel_rows, 3

    .macro load_half kind, to, row, half
    load_indexed \to, \row, \kind, offset\half
    .endm
    .macro next_column
    add offset, offset, column
    add offset_high, offset_high, column
    .endm

/* ---- the order of a step ---- */

/* Multiply-add number n: row r of outputs and the tap of the kernel, row i of source, `place`, and
 * whether it is of the odd column; age: 0 for an output that begins in this step, 1 for one that ends;
 * and whether it is of the next step. What begins an output of stride 1 comes three multiply-adds late:
 * its register was that of one that ends. */
    .macro find_tap
    when %(S == 1), find_tap_1
    otherwise find_tap_2
    .set i, S * r + ky
    find_place
    .endm
    .macro find_tap_1
    .set kx, (n + 2) % 3
    .set m, n / 3 + 3 * R
    when %(kx == 0), .set m, m - 1
    .set ahead, m / (3 * R) - 1
    .set m, m % (3 * R)
    .set r, m % R
    .set ky, m / R
    .if R == 4 /* so that outputs end in turn */
    .set r, 0x321302130210 >> (4 * m) & 15
    .set ky, 0x222121101000 >> (4 * m) & 15
    .endif
    .set age, 2 * kx % 3
    .set odd, 0
    .endm
    .macro find_tap_2
    .set m, n / R % 9
    .set r, n % R
    .set kx, 0x121202010 >> (4 * m) & 15
    .set ky, 0x120120120 >> (4 * m) & 15
    .set ahead, n / (9 * R)
    .set age, 1
    when %((kx == 0) | ((kx == 1) & (m > 1))), .set age, 0
    .set odd, kx % 2
    .endm

/* The register for row i: of stride 2 odd rows of both columns share theirs, and so do both rows 0. */
    .macro find_place
    when %(S == 1), .set place, 21 + i
    or_when %(i % 2), .set place, 26 + i / 2
    or_when %i, .set place, 17 + i / 2 + 4 * odd
    otherwise .set place, 17
    .endm

/* In a step of this phase outputs of age a are in slot (phase + a) % L of their row's sums. */
    .macro multiply_found phase
    fma %(9 + L * r + (\phase + ahead + age) % L), %place, %(3 * ky + kx)
    read_once %place
    .endm
    .macro multiply_if phase, condition:vararg
    find_tap
    when %((ahead == 0) & (\condition)), multiply_found \phase
    .endm

/* A column of source. Even rows of stride 2 come before odd ones, and row 0 of an odd column after
 * them, as it waits for the even column's. */
    .macro list_column is_odd
    .set odd, \is_odd
    each at, %column_rows, list_row
    list_load 0, 0, 0
    .endm
    .macro list_row
    .set i, at
    .if S == 2
    .set i, 2 * (at + odd) % (2 * R + 2)
    when %(at > R), .set i, 2 * (at - R) - 1
    .endif
    find_place
    count_reads %i
    list_load %place, %(9 + i), %(reads * (4 - S - odd))
    .endm

/* ---- complete sums ---- */

/* What follows them, one at a time and each not before the one it needs has ended. */
    .set STORE, 1
    .set LOAD_BIAS, 2 /* its lower half */
    .set INSERT_BIAS, 3
    .set RAISE, 4 /* to the lower limit, in a register of its own, if there is one */
    .set LOWER, 5

/* Stages are a digit each, from the right to the left. Where a clamp has registers of its own, the sum's
 * is soon free for the bias. until_bias: so many stages come before it can begin again. */
    .macro set_stages
    .set stages, 0x321
    .set until_bias, 3
    .if clamps
    .set stages, 0x15324
    when %(S == 2), .set stages, 0x32154
    when %(S == 2), .set until_bias, 5
    .endif
    .endm

/* Stage 7: there is no sum that is complete. */
    .macro set_stage row, stage
    .set stage_\row, \stage
    .set since_\row, now
    .set filled, 1
    .endm

/* What arithmetic instructions take, in instructions; and loads, of which stride 2 has two in a place. */
    .set LATENCY, 8
    .macro set_load_latency
    .set load_latency, 4 + 2 * S
    .endm

    .macro fill_row row
    .set next, stages >> (4 * stage_\row) & 15
    .set ready, since_\row + LATENCY
    when %(next == LOAD_BIAS), .set ready, since_\row
    or_when %(next == INSERT_BIAS), .set ready, since_\row + load_latency
    .if (next > 0) & (filled == 0) & (now >= ready)
    .set sum, 9 + L * \row + slot
    .set clamped, sum
    when %(stages == 0x15324), .set clamped, 27 + \row % 3
    /* the last one of four waits for the register of the first */
    when %((\row < 3) | (clamped == sum) | (stage_0 == 5)), do_stage \row, %sum, %clamped
    .endif
    .endm
    .macro do_stage row, sum, clamped
    when %(next == STORE), store_row \row, \clamped
    or_when %(next == LOAD_BIAS), load_d \sum, [bias]
    or_when %(next == INSERT_BIAS), set_upper \sum, bias_high
    or_when %(next == RAISE), floats fmax, \clamped, \sum, 30
    otherwise at_most \clamped, 31
    .set arithmetic, next >= RAISE
    set_stage \row, %(stage_\row + 1)
    .set stages_left, stages_left - 1
    .endm
    .macro store_row row, sum
    store_indexed \sum, %(19 + \row)
    .endm
    .macro store_indexed sum, row
    str q\sum, [x\row, dst_offset]
    .endm

/* ---- the loop ---- */

/* After each multiply-add something for a row of outputs or a part of a load; both of stride 2, which
 * has most loads and goes on with one that has begun, and where the former is arithmetic. Where there
 * is room, as it is with many multiply-adds and no clamp, every third place is a load's first, and
 * the one after an insertion remains free. */
    .macro fill
    .if (has_room != 0) & (inserted != 0)
    .set inserted, 0
    .else
    when %(((has_room != 0) & (n % 3 == 0)) | ((S == 2) & (begun != 0))), fill_place load_next, fill_sums
    otherwise fill_place fill_sums, load_next
    .endif
    .endm
    .macro fill_place first, second
    .set filled, 0
    .set arithmetic, 0
    \first
    .set now, now + filled
    .if (S == 2) | (filled == 0) | (arithmetic != 0)
    .set filled, 0
    \second
    .set now, now + filled
    .endif
    .endm
    .macro fill_sums
    each row, R, fill_row %row
    .if (filled == 0) & (stages_left == 0)
    add dst_offset, dst_offset, dst_column
    .set stages_left, -1
    .set filled, 1
    .endif
    .endm
    .macro fill_later
    .set now, now + 1
    fill
    .endm
    .macro wait_for_bias row
    times 60, when %(stage_\row < until_bias), fill_later
    .endm

    .macro multiply_in_loop phase
    find_tap
    when %((kx == 0) & (ky == 0)), wait_for_bias %r
    wait_for %place
    multiply_found \phase
    when %((kx == 2) & (ky == 2)), set_stage %r, 0
    .set now, now + 1
    .endm

    .macro step phase
    .set now, 0
    .set slot, (\phase + 1) % L
    .set stages_left, R * (3 + 2 * clamps)
    each row, R, set_stage %row, 7
    begin_loads
    .if S == 2
    list_column 1
    .endif
    list_column 0
    .set n, before
    .rept 9 * R
    multiply_in_loop \phase
    fill
    .set n, n + 1
    .endr
    times 70, when %(stages_left >= 0), fill_later
    load_rest
    .endm

/* ---- steps at the edges ---- */

    .macro take_column phase, is_odd, condition:vararg
    begin_loads
    list_column \is_odd
    load_at_once
    each n, %(9 * R + 3), multiply_if \phase, (odd == \is_odd) & (\condition)
    .endm

/* The columns before the first main step, and what of that comes before the loop. */
    .macro head phase
    ldr half, [job, #job.edges]
    tbz half, #0, 1f
    take_column %(\phase + 1), 0, age == 0
1:  tbz half, #1, 2f
    when %(S == 1), take_column %(\phase + 2), 0, age != 1
    otherwise take_column %(\phase + 1), 1, age == 0
2:  begin_loads
    list_column 0
    load_at_once
    each n, %before, multiply_if \phase, 1
    .endm

    .macro finish slot
    .if clamps
    each row, R, at_least %(9 + L * row + \slot), 30
    each row, R, at_most %(9 + L * row + \slot), 31
    .endif
    each row, R, store_row %row, %(9 + L * row + \slot)
    .endm
    .macro tail
    each_from n, %before, %(9 * R - before), multiply_if 0, age > 0
    finish 1
    .if S == 1
    add dst_offset, dst_offset, dst_column
    ldr half, [job, #job.edges]
    tbz half, #3, 1f
    take_column 1, 0, age == 1
1:  finish 2
    .endif
    .endm

/* ---- rows and groups ---- */

    .macro rows count
    .set R, \count
    .set column_rows, S * R + 3 - S
    .set before, 2 * R
    when %(S == 1), .set before, 21 * R / 4
    .set has_room, (S == 1) & (clamps == 0) & (R > 2)
    for_all load_row_address, 9, %column_rows
    add list, list, #(8 * S * R)
    mov x19, next_dst
    add x20, x19, dst_row
    add x21, x20, dst_row
    add x22, x21, dst_row
    add next_dst, x22, dst_row
    mov offset, start
    add offset_high, start, #8
    mov dst_offset, #0
    ldr rounds, [job, #job.rounds]
    for_all load_q, 9, %(L * R), [bias]
    ldr half, [job, #job.entry]
    walk half
    .endm

/* All rows, four at a time and one to three at the end. */
    .macro all_rows
    subs rows_left, rows_left, #4
    b.lo 32f
31: rows 4
    subs rows_left, rows_left, #4
    b.hs 31b
32: tbz rows_left, #1, 33f
    tbz rows_left, #0, 35f
    rows 3
    b 34f
35: rows 2
    b 34f
33: tbz rows_left, #0, 34f
    rows 1
34:
    .endm

    .macro load_weight into
    ldr q\into, [scratch]
    add scratch, scratch, x9
    .endm

/* The stack keeps which weights and how many groups, whose registers are needed meanwhile. */
    .macro function name, stride, is_clamped
    .set S, \stride
    .set L, 4 - S /* outputs under way */
    .set clamps, \is_clamped
    .set in_turn, (S == 2) | clamps
    set_stages
    set_load_latency
    begin_slide \name, 30, 16
    .if clamps
    ldr scratch, [job, #job.clamp]
    ldp q30, q31, [scratch]
    .endif
30: mov scratch, weights
    ldr x9, [job, #job.weights_tap]
    for_all load_weight, 0, 9
    ldr bias_high, [bias, #8]
    stp weights, groups, [sp, #at_locals]
    first_rows
    all_rows
    ldp weights, groups, [sp, #at_locals]
    end_slide \name, 16
    .endm

    function dwconv_f32_slide_s1_a55, 1, 0
    function dwconv_f32_slide_s1_a55_clamp, 1, 1
    function dwconv_f32_slide_s2_a55, 2, 0
    function dwconv_f32_slide_s2_a55_clamp, 2, 1
