/* Depthwise convolution along rows, by tiles of some columns, for NEON: see row.h.
 *
 * Registers: eight weights in v0 … v7; source in v8 … v15, in turn; up to sixteen sums from v16 on.
 * Eight taps of sixteen columns are 128 FMLA, 38 loads and 12 more; the last ones have 16 stores
 * among their multiply-adds, and behind these what the next group's sums begin with. Where there is
 * a clamp, what has been stored is limited afterwards. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/depthwise/f32/rows/row_offsets.h"

    registers 0, job, in, w, out
    registers 4, column, tap, dst_column
back .req x7 /* from the last columns of a block, of which four have an address, to the next block */
    registers 8, blocks, tiles, tiles_end, groups_left
    registers 12, src, dst, bias, weights
last .req x16 /* instructions for the last taps */
scratch .req x17
first .req x0 /* instructions that a group begins with; `job` is needed no longer */
next .req x29 /* what comes after a group, if there is a further one of the tile, and if not */
next_tile .req x30
    registers 19, all_blocks, groups, clamp, first_bias
column_2 .req x23 /* twice, three times */
    registers 24, column_3, tap_2, tap_3
in_2 .req x27 /* of the second half */
out_2 .req x28

/* ---- parts of a tile of P columns, stride S ---- */

/* A tile is one part or two halves, which go on in turn: so there are always other sums to add to
 * while one waits. Of 8 / parts registers for source one is in use while the next ones are loaded. */
    .set BEHIND, 2 /* columns from the one that completes a sum to its store */
    .macro divide P
    .set parts, 1 + (\P > 4) * (\P > 4)
    .set size, \P / parts
    .set slots, 8 / parts
    .set ahead, 5 - parts
    .endm

/* Number n of a line of vectors: four to an address. */
    .macro load_next n, to, at, step
    .set place, \n - \n / 4 * 4
    .if place == 0
    ldr q\to, [\at]
    .elseif place == 1
    ldr q\to, [\at, \step]
    .elseif place == 2
    ldr q\to, [\at, \step\()_2]
    .else
    ldr q\to, [\at, \step\()_3]
    add \at, \at, \step, lsl #2
    .endif
    .endm

/* Of T taps, what column n of source needs first: weight n, and the column in each part. */
    .macro load_ahead T, n
    when %(\n < \T), load_next \n, \n, w, tap
    .if \n < columns_of_part
    load_next \n, %(8 + \n % slots), in, column
    when %(parts == 2), load_next \n, %(8 + slots + \n % slots), in_2, column
    .endif
    .endm

/* What column i of a part gives to every output of it that it reaches. */
    .macro reach S, T, part
    .set r, 0
    .rept size
    .set t, i - r * \S
    .if (t >= 0) & (t < \T)
    fma %(16 + \part * size + r), %(8 + \part * slots + i % slots), %(t)
    .endif
    .set r, r + 1
    .endr
    .endm

/* The outputs that are complete since column i; of a pair of them the next group's can begin. */
    .macro store_complete S, T, i
    .set r, (\i - \T + 1) / \S
    .if (\i >= \T - 1) & (r * \S == \i - \T + 1) & (r < size)
    several st1, 1, %(16 + r), out, dst_column
    when %(parts == 2), several st1, 1, %(16 + size + r), out_2, dst_column
    when %(r % 2), begin_pairs %(16 + r - 1)
    .endif
    .endm
    .macro begin_pairs first
    begin_pair \first
    when %(parts == 2), begin_pair %(\first + size)
    .endm
    .macro begin_pair first
    load_pair \first, %(\first + 1), [bias]
    .endm

/* `ends`: sums are complete. */
    .macro block P, S, T, ends
    divide \P
    .set columns_of_part, (size - 1) * \S + \T
    .if parts == 2
    add in_2, in, column, lsl #(\P / 16 + 1 + \S)
    when \ends, add out_2, out, dst_column, lsl #(\P / 16 + 2)
    .endif
    each n, ahead, load_ahead \T, %(n)
    .set i, 0
    .rept columns_of_part
    load_ahead \T, %(i + ahead)
    reach \S, \T, 0
    when %(parts == 2), reach \S, \T, 1
    when \ends, store_complete \S, \T, %(i - BEHIND)
    .set i, i + 1
    .endr
    .if \ends
    .rept BEHIND
    store_complete \S, \T, %(i - BEHIND)
    .set i, i + 1
    .endr
    .endif
    .endm

    .macro at_group
    mov in, src
    mov w, weights
    mov out, dst
    .endm
    .macro go_on
    add src, src, #16
    add weights, weights, #16
    add dst, dst, #16
    add bias, bias, #32
    at_group
    subs groups_left, groups_left, #1
    csel scratch, next, next_tile, ne
    br scratch
    .endm

/* ---- tiles, of up to `most` taps together ---- */

/* The last taps of a group. */
    .macro last_taps name, P, S, T
\name\()_last\T\():
    accept_branch
    block \P, \S, \T, 1
    go_on
    .endm

    .macro for_taps most, what, name, others:vararg
    .set taps, \most
    .rept \most
    \what \name, \others, %(taps)
    .set taps, taps - 1
    .endr
    .endm
    .macro entry name, from, T
    named_entry \name, %(\from - \T)
    .endm
    .macro named_entry name, T
    table_entry \name\()_last\T
    .endm

    .macro tile name, P, S, most
    table_entry \name
    for_taps \most, entry, \name, %(\most + 1)
    no_entries %(8 - \most)
    .p2align 4
\name\():
    accept_branch
    divide \P
    mov scratch, #(((size - 1) * \S + \most) / 4 * 4 - \most)
    mneg back, column, scratch
    each_by 2, r, 0, %(\P / 2), begin_pair %(16 + r)
    add bias, bias, #32
    at_group
    adr first, 1f
    cmp all_blocks, #0
    csel first, last, first, eq
    adr next, 3f
    adr next_tile, .Lnext_tile
    cmp clamp, #0
    csel next_tile, next_tile, next, eq
    csel next, first, next, eq
    br first
1:  accept_branch
    mov blocks, all_blocks
2:  block \P, \S, \most, 0
    add in, in, back
    subs blocks, blocks, #1
    b.ne 2b
    br last
    for_taps \most, last_taps, \name, \P, \S
3:  accept_branch
    mov blocks, #(\P / 4)
    b .Lclamp_stored
    .endm

    begin_function dwconv_f32_row
    save_registers 4, 30
    ldp tiles, tiles_end, [job, #job.tiles]
    ldp first_bias, groups, [job, #job.bias]
    ldp tap, dst_column, [job, #job.weights_tap]
    ldr clamp, [job, #job.clamp]
    add tap_2, tap, tap
    add tap_3, tap_2, tap
    b .Lfirst_tile
/* Of the group before, four columns at a time. */
.Lclamp_stored:
    ldp q0, q1, [clamp]
    sub out, dst, #16
1:  mov in, out
    each r, 4, several ld1, 1, %(8 + r), in, dst_column
    clamp_all 8, 4, 0, 1
    each r, 4, several st1, 1, %(8 + r), out, dst_column
    subs blocks, blocks, #1
    b.ne 1b
    at_group
    cbz groups_left, .Lnext_tile
    br first
.Lnext_tile:
    accept_branch
    add tiles, tiles, #TILE_BYTES
    cmp tiles, tiles_end
    b.eq .Ldone
.Lfirst_tile:
    ldp src, column, [tiles, #tile.src]
    ldp dst, weights, [tiles, #tile.dst]
    ldp all_blocks, last, [tiles, #tile.blocks]
    ldr scratch, [tiles, #tile.body]
    mov groups_left, groups
    mov bias, first_bias
    add column_2, column, column
    add column_3, column_2, column
    br scratch
.Ldone:
    pop_and_return
    end_function dwconv_f32_row

    begin_table dwconv_f32_row_codes
    tile .Lrow_16, 16, 1, 8
    tile .Lrow_8, 8, 1, 8
    tile .Lrow_4, 4, 1, 8
    tile .Lrow_16_stride_2, 16, 2, 4
    end_table dwconv_f32_row_codes
