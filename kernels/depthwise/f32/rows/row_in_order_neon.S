/* Depthwise convolution along rows of up to five taps, stride 1, for cores that issue in order: the
 * tiles of row.h, without what such cores wait for. On Cortex-A510 it is four cycles until
 * an address that a store has moved can be used.
 *
 * Column i of source goes to the sums of outputs i - T + 1 … i; while it does, the sum of output
 * i - T is stored, that of output i + 1 begins, and column i + 2 is loaded. The first and the last
 * columns have few multiply-adds, each of which waits for one of the column before: there the
 * weights are loaded, and what the next group of channels begins with. The last group takes itself
 * for the next one.
 *
 * Between multiply-adds go
 *   kind 1 (narrow, Cortex-A53, A55), four channels: the lower half of a column; the upper one into a
 *   general register; and the insertion of the one before, beside the next lower half, which is all
 *   that A53 can pair it with. Four taps are five instructions of arithmetic, one that begins a sum
 *   among them, and as many others: five cycles an output, of which four are multiply-adds
 *   kind 2 (wide, Cortex-A510), eight channels: whole loads. Four taps are ten instructions of
 *   arithmetic and five others at three a cycle: five cycles for two vectors, four of multiply-adds
 *
 * Registers: weights from v0 on, tap by tap; columns of source in turn; sums in turn; each for one or
 * for two groups of channels. The bias is in v28, v29, the limits of a clamp in v30 and v31. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/row_offsets.h"

#define FEW 5 /* ROW_FEW */
#define TOGETHER 8 /* ROW_TOGETHER */

job .req x0
in .req x1
w .req x2
out .req x3
column .req x4
tap .req x5
dst_column .req x6
in_2 .req x7 /* upper halves, or the second group */
w_2 .req x8
tiles .req x9
tiles_end .req x10
groups_left .req x11
src .req x12
dst .req x13
bias .req x14
weights .req x15
body .req x16
group_step .req x17 /* to the next group, if there is one, of src */
groups .req x19
/* x20: an upper half */
column_2 .req x21 /* twice, three times */
column_3 .req x22
tap_2 .req x23
tap_3 .req x24
dst_column_2 .req x25
dst_column_3 .req x26
first_bias .req x27
whole_step .req x28

/* ---- registers of a tile of kind K with T taps ---- */

/* A sum that is complete after a column is stored at the end of the next one. Where there is a clamp,
 * it is limited from below in that column, and from above and stored in the one after (`later`). Two
 * groups of five taps leave no registers for sums that stay longer: they add the last tap first
 * (`descends`), so that a sum is complete early in a column, and limited from below at its end. */
    .macro divide K, P, T, clamps
    .set columns, \P + \T - 1
    .set ahead, 2 /* columns, that source is loaded */
    .set later, \clamps
    .set descends, 0
    .if \K * \T == 10 /* weights, which are most of the registers */
    .set ahead, 1
    .set later, 0
    .set descends, \clamps
    .endif
    .set slots, ahead + 1 /* of source */
    .set whole_columns, (\T - 2) * (\T > 2) * -1 /* of kind 1: in so many whole ones are loaded */
    .set sources, \K * \T
    .set sums, \K * (\T + slots)
    .set turn, \T + 2 + later /* of sums */
/* which side, of those between multiply-adds, is the first of its sort */
    .set has_clamp, \clamps
    .set most_at, 2
    .set least_at, 2 + \K * (1 + descends)
    .set begins_at, 2 + \K * (\clamps + later)
    .endm

/* ---- one load or store, at place n of a line of vectors: four to an address ---- */

    .macro at_place n, op, to, at, step
    .set place, (\n) % 4
    .if place == 0
    \op\to, [\at]
    .elseif place == 1
    \op\to, [\at, \step]
    .elseif place == 2
    \op\to, [\at, \step\()_2]
    .else
    \op\to, [\at, \step\()_3]
    .endif
    .endm
    .macro step_after n, at, step
    .if (\n) % 4 == 3
    add \at, \at, \step, lsl #2
    .endif
    .endm
    .macro load_next n, to, at, step
    at_place \n, <ldr q>, \to, \at, \step
    step_after \n, \at, \step
    .endm

/* Whole vectors. */
    .macro load_weight K, n
    load_next \n, %(\K * (\n)), w, tap
    .endm
    .macro load_column K, n
    load_next \n, %(sources + \K * ((\n) % slots)), in, column
    step_after \n, in_2, column
    .endm
    .macro load_bias K
    ldr q28, [bias]
    .endm
    .macro at_weights K
    mov w, weights
    .endm
    .macro at_source K
    mov in, src
    add in_2, src, #(8 * \K)
    .endm

/* ---- one of the sums of output r ---- */

    .macro for_sum op, K, P, r, group, other
    .if (\r >= 0) & (\r < \P)
    \op %(sums + \K * (\r % turn) + \group), \other
    .endif
    .endm
    .macro begin_as sum, bias
    mov v\sum\().16b, v\bias\().16b
    .endm
    .macro begin K, P, r, group
    for_sum begin_as, \K, \P, \r, \group, %(28 + \group)
    .endm

    .macro store_two first, second
    stp q\first, q\second, [out]
    add out, out, dst_column
    .endm
    .macro store K, P, r
    .if (\r >= 0) & (\r < \P)
    .set sum, sums + \K * ((\r) % turn)
    at_place \r, <str q>, %sum, out, dst_column
    step_after \r, out, dst_column
    .endif
    .endm

/* ---- what goes between multiply-adds in column i, after `side` others ---- */

/* Column n, and the one before, of which there is a half. */
    .macro load_low_part n
    .if \n < columns
    at_place \n, <ldr d>, %(sources + (\n) % slots), in, column
    step_after \n, in, column
    .endif
    .if (\n <= columns) & (i > whole_columns)
    insert_high %(sources + (\n - 1) % slots)
    .endif
    .endm
    .macro insert_high to
    mov v\to\().d[1], x20
    .endm
    .macro load_high_part n
    .if \n < columns
    at_place \n, <ldr x>, 20, in_2, column
    step_after \n, in_2, column
    .endif
    .endm

/* Two parts of column i + ahead; a whole one among the first columns of kind 1. */
    .macro load_part K, part
    .if i < whole_columns
    .if \part == 0
    load_column 1, %(i + ahead)
    .endif
    .elseif \part == 0
    load_low_part %(i + ahead)
    .else
    load_high_part %(i + ahead)
    .endif
    .endm
    .macro next_side K, P, T
    .if side < 2
    load_part \K, %side
    .elseif (has_clamp > 0) & (side >= most_at) & (side < most_at + \K)
    for_sum at_most, \K, \P, %(i - \T - later), %(side - most_at), 31
    .elseif (has_clamp > 0) & (side >= least_at) & (side < least_at + \K)
    for_sum at_least, \K, \P, %(i - \T + 1 - later), %(side - least_at), 30
    .elseif (side >= begins_at) & (side < begins_at + \K)
    begin \K, \P, %(i + 1), %(side - begins_at)
    .endif
    .set side, side + 1
    .endm

/* ---- columns ---- */

    .macro add_tap K, P, T, t
    .set r, i - \t
    .if (r >= 0) & (r < \P)
    .set group, 0
    .rept \K
    fma %(sums + \K * (r % turn) + group), %(sources + \K * (i % slots) + group), %(\K * \t + group)
    next_side \K, \P, \T
    .set group, group + 1
    .endr
    .endif
    .endm

/* What is no longer needed gives way to what the next group wants first. */
    .macro load_ahead K, P, T
    .if i == \T - 1
    add weights, weights, group_step
    add bias, bias, group_step, lsl #1
    at_weights \K
    .endif
    .if i == columns - ahead
    add src, src, group_step
    at_source \K
    .endif
    .if i == \P
    load_bias \K
    load_weight \K, 0
    .endif
    .if (i > columns - slots) & (i <= columns) & ((i - 1) % slots < ahead)
    load_column \K, %((i - 1) % slots)
    .endif
    .endm

    .macro one_column K, P, T
    .set side, 0
    .if i + 1 < \T
    load_weight \K, %(i + 1)
    .endif
    .set k, 0
    .rept \T
    add_tap \K, \P, \T, %(k + descends * (\T - 1 - 2 * k))
    .set k, k + 1
    .endr
    .rept 2 + 3 * \K /* all that are left */
    next_side \K, \P, \T
    .endr
    load_ahead \K, \P, \T
    store \K, \P, %(i - \T - later)
    .endm

/* ---- tiles of P outputs ---- */

    .macro tile K, P, T, clamps
    table_entry .Lrow_\K\()_\P\()_\T\()_\clamps
    .p2align 4
.Lrow_\K\()_\P\()_\T\()_\clamps\():
    accept_branch
    divide \K, \P, \T, \clamps
    at_weights \K
    at_source \K
    load_bias \K
    load_weight \K, 0
    load_column \K, 0
    .if ahead == 2
    load_column \K, 1
    .endif
    mov whole_step, #(16 * \K)
1:  mov out, dst
    add dst, dst, #(16 * \K)
    subs groups_left, groups_left, #\K
    csel group_step, whole_step, xzr, ne
    .set group, 0
    .rept \K
    begin \K, \P, 0, %group
    .set group, group + 1
    .endr
    .set i, 0
    .rept columns + 1 + later
    one_column \K, \P, \T
    .set i, i + 1
    .endr
    b.ne 1b
    b .Lnext_tile
    .endm

    .macro tiles_of_taps K, P, clamps
    no_entries 1 + TOGETHER /* but for `all` */
    .set taps, 1
    .rept FEW
    tile \K, \P, %taps, \clamps
    .set taps, taps + 1
    .endr
    no_entries TOGETHER - FEW
    .endm
    .macro tiles_of K
    .set clamped, 0
    .rept 2
    tiles_of_taps \K, 16, %clamped
    tiles_of_taps \K, 8, %clamped
    tiles_of_taps \K, 4, %clamped
    .set clamped, clamped + 1
    .endr
    .endm

    begin_function dwconv_f32_row_in_order
    save_registers 4, 28
    ldp tiles, tiles_end, [job, #JOB_TILES]
    ldp first_bias, groups, [job, #JOB_BIAS]
    ldp tap, dst_column, [job, #JOB_WEIGHTS_TAP]
    ldr body, [job, #JOB_CLAMP]
    add tap_2, tap, tap
    add tap_3, tap_2, tap
    add dst_column_2, dst_column, dst_column
    add dst_column_3, dst_column_2, dst_column
    cbz body, .Lfirst_tile
    ldp q30, q31, [body]
    b .Lfirst_tile
.Lnext_tile:
    add tiles, tiles, #TILE_BYTES
    cmp tiles, tiles_end
    b.eq .Ldone
.Lfirst_tile:
    ldp src, column, [tiles, #TILE_SRC]
    ldp dst, weights, [tiles, #TILE_DST]
    ldr body, [tiles, #TILE_BODY]
    mov groups_left, groups
    mov bias, first_bias
    add column_2, column, column
    add column_3, column_2, column
    br body
.Ldone:
    pop_and_return
    end_function dwconv_f32_row_in_order

    begin_table dwconv_f32_row_in_order_codes
    tiles_of 1
    tiles_of 2
    end_table dwconv_f32_row_in_order_codes
