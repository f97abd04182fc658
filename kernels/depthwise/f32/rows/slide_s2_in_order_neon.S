/* Depthwise 3x3, stride 2, for cores that issue in the order of the program: see slide.h.
 *
 * R rows of outputs of four channels at a time, R = 4, 3, 2, 1. A step has two columns of source, the
 * even one, which is the last of the outputs before it and the first of its own, and the odd one,
 * their second. An output takes nine FMLA one after the other, each of which the next one waits for,
 * so those of two outputs are interleaved (`find_tap`), a row of the kernel at a time for all R rows,
 * with 2 R FMLA from one of an output to its next.
 *
 * The loop goes from the third of these nine to the second one of the next step, so that what
 * follows complete sums, of the eighth, has multiply-adds to go between. Each place of source has a
 * register, which is loaded, in halves, when the one that it shares it with is done with.
 * Four rows: 36 FMLA, 54 parts of loads of source, 4 stores, 8 of the bias.
 *
 * Weights in v0 … v8, sums [row][output] from v9 on, v17 … v27, v30 and v31 source, v28 and v29 the
 * limits of a clamp. Needs columns to the right: SLIDE_RIGHT_0. */

    .set under_way, 2 /* outputs of a row */
#include "kernels/depthwise/f32/rows/slide_in_order_neon.h"
#include "kernels/depthwise/f32/halves_neon.h"

/* x9 … x17 are rows of source, x19 … x22 of dst. */
    registers 0, job, column, dst_column, bias, rounds
all_rounds .req x4
    registers 4, entry, list
    registers 5, edges, rows_left, next_dst, start
half .req x23
    registers 23, weights, groups, group_dst, bias_high, dst_row, scratch
    registers 28, dst_offset, offset, offset_high

    .macro store_row r, sum
    store_sum %(19 + \r), \sum
    .endm

/* ---- the order of a step ---- */

/* FMLA number n: the row i and whether it is of the odd column, the row r of outputs and the tap of
 * the kernel, and whether it belongs to the output that begins. */
    .macro find_tap R
    .set m, n / \R
    .set r, n % \R
    .set kx, (0x121202010 >> (4 * m)) & 15
    .set ky, (0x120120120 >> (4 * m)) & 15
    .set i, 2 * r + ky
    .set odd, kx % 2
    .set is_new, (kx == 0) | ((kx == 1) & (m > 1))
    find_place
    .endm

/* The register for row i: odd rows of both columns share theirs, and so do both rows 0. */
    .macro find_place
    when %(i % 2), .set place, 26 + i / 2 + i / 4 * 2
    or_when %i, .set place, 17 + i / 2 + 4 * odd
    otherwise .set place, 17
    .endm

    .macro multiply_number R, begins, completes
    find_tap \R
    when %is_new, fma %(9 + 2 * r + \begins), %place, %(3 * ky + kx)
    otherwise fma %(9 + 2 * r + \completes), %place, %(3 * ky + kx)
    .endm

/* The FMLA from number \from to before number \to, of R each. */
    .macro multiply_rows R, begins, completes, from, to
    each_from n, %(\from * \R), %((\to - \from) * \R), multiply_number \R, \begins, \completes
    .endm

/* ---- what goes between multiply-adds; f is the number of the last one in the loop, `now` the time
 * that has passed, in instructions ---- */

/* Load l: first the odd column, even rows before odd ones, then the address goes on, and the same
 * for the next step's even column. `free`: the last FMLA that reads the register. */
    .macro find_load R
    .set odd, l < (2 * \R + 1)
    .set odd, odd * odd
    .set k, l
    when %(odd == 0), .set k, l - 2 * \R - 2
    .set i, 2 * (k + odd)
    when %((odd == 1) & (l == \R)), .set i, 0
    when %(k > \R), .set i, 2 * (k - \R) - 1
    find_place
    .if odd
    .set free, -1
    when %(i == 0), .set free, \R
    or_when %(i % 2), .set free, 3 * \R + i / 2
    .else
    .set free, 5 * \R + i / 2 - 1
    when %(i == 0), .set free, 4 * \R
    or_when %(i % 2), .set free, 6 * \R + i / 2
    .endif
    .endm

/* Which load row i of a column is. */
    .macro find_number R
    .set need, i / 2 - 1
    when %(i == 0), .set need, \R
    when %(odd == 0), .set need, 2 * \R + 2 + i / 2
    .if i % 2
    .set need, i / 2 + \R + 1
    when %(odd == 0), .set need, i / 2 + 3 * \R + 3
    .endif
    .endm

    .macro fill_load R
    .if (l == (2 * \R + 1)) | (l == (4 * \R + 3))
    next_column
    add offset_high, offset_high, column
    .set l, l + 1
    .set filled, 1
    .elseif l < (4 * \R + 3)
    find_load \R
    .if free <= f
    .set filled, 1
    load_part %place, %(9 + i)
    when %(begun == 0), .set l, l + 1
    .endif
    .endif
    .endm

/* A sum is complete with the last but one FMLA of its row. */
    .macro note_complete row
    .set done_\row, now
    .endm
    .macro fill_row R, clamps, slot, row
    .if (filled == 0) & (stage_\row < 5) & (f >= (5 * \R + \row)) & (now >= (done_\row + latency))
    fill_stage \row, \clamps, %(9 + 2 * \row + \slot), %(9 + 2 * \row + \slot)
    .endif
    .endm
    .macro fill_rows R, clamps, slot
    each row, \R, fill_row \R, \clamps, \slot, %row
    .if (filled == 0) & ((stage_0 + stage_1 + stage_2 + stage_3) == (5 * \R))
    add dst_offset, dst_offset, dst_column
    .set stage_0, 6
    .set filled, 1
    .endif
    .endm

/* After each FMLA: a load, and something for a row of outputs. */
    .macro fill R, clamps, slot
    .set filled, 0
    fill_rows \R, \clamps, \slot
    .set now, now + filled * filled
    .set filled, 0
    fill_load \R
    .set now, now + filled * filled
    .endm

    .macro wait_for_place R
    find_number \R
    .set wanted, place
    .rept 2 * (4 * \R + 4)
    .if l <= need
    fill_load \R
    .set now, now + 1
    .endif
    .endr
    .if (older == wanted) | (newer == wanted)
    insert_early
    insert_early
    .endif
    .endm
/* All sums need the bias before the first of them begins again. */
    .macro wait_for_sums R, clamps, slot
    .set ended, 5 * \R
    times 90, when %(stage_0 + stage_1 + stage_2 + stage_3 < ended), fill_later \R, \clamps, \slot
    .endm

    .macro flow_one R, clamps, begins, completes
    .set n, f + 2 * \R
    .if n >= (9 * \R)
    .set n, n - 9 * \R
    find_tap \R
    wait_for_place \R
    find_tap \R
    .if (m == 0) & (r == 0)
    wait_for_sums \R, \clamps, \completes
    find_tap \R
    .endif
    multiply_number \R, \completes, \begins
    .else
    find_tap \R
    when %odd, wait_for_place \R
    multiply_number \R, \begins, \completes
    when %(m == 7), note_complete %r
    .endif
    .set now, now + 1
    .endm

    .macro flow R, clamps, begins, completes
    begin_stages
    .set now, 0
    each row, 4, note_complete %row
    .set in_place, 1
    when %(\clamps == 0), .set in_place, 0
    .set latency, 8
    .set load_latency, 6
    .set l, 0
    begin_halves
    .set f, 0
    .rept 9 * \R
    flow_one \R, \clamps, \begins, \completes
    fill \R, \clamps, \completes
    .set f, f + 1
    .endr
    .rept 70
    fill \R, \clamps, \completes
    .set now, now + 1
    .endr
    insert_early
    insert_early
    .endm

/* ---- steps at the edges ---- */

    .macro load_column R, parity
    .set i, 0
    .rept 2 * \R + 1
    .set odd, \parity
    find_place
    load_whole %place, %(9 + i)
    .set i, i + 1
    .endr
    next_column
    .endm

/* The first output, but for what the first step adds, and of that what comes before the loop. */
    .macro head R, begins, completes
    ldr half, [job, #job.edges]
    tbz half, #0, 1f
    load_column \R, 0
    multiply_rows \R, \completes, 9, 0, 1
    multiply_rows \R, \completes, 9, 2, 3
    multiply_rows \R, \completes, 9, 4, 5
1:  load_column \R, 1
    multiply_rows \R, \completes, 9, 6, 7
    multiply_rows \R, \completes, 9, 8, 9
    load_column \R, 0
    add offset_high, offset, #8
    multiply_rows \R, \begins, \completes, 0, 2
    .endm

    .macro columns R, clamps
    for_all load_q, 9, %(2 * \R), [bias]
    ldr half, [job, #job.entry]
    tbnz half, #0, 11f
    head \R, 0, 1
10: flow \R, \clamps, 0, 1
21: flow \R, \clamps, 1, 0
    subs rounds, rounds, #1
    b.ne 10b
    multiply_rows \R, 0, 1, 3, 4
    multiply_rows \R, 0, 1, 5, 6
    multiply_rows \R, 0, 1, 7, 8
    finish \R, \clamps, 1
    b 20f
11: head \R, 1, 0
    b 21b
20:
    .endm

/* ---- rows and groups ---- */

    .macro begin_rows R
    for_all load_row_address, 9, %(2 * \R + 1)
    add list, list, #(16 * \R)
    mov x19, next_dst
    add x20, x19, dst_row
    add x21, x20, dst_row
    add x22, x21, dst_row
    add next_dst, x22, dst_row
    mov offset, start
    mov dst_offset, #0
    ldr rounds, [job, #job.rounds]
    .endm

    function dwconv_f32_slide_s2_a55, 0
    function dwconv_f32_slide_s2_a55_clamp, 1
