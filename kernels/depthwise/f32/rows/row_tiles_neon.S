/* Depthwise convolution along rows, by tiles of some columns, for NEON: see row.h.
 *
 * Registers: eight weights in v0 … v7; source in v8 … v15, in turn; up to sixteen sums from v16 on.
 * Eight taps of sixteen columns are 128 FMLA, 38 loads and 12 more; the last ones have 16 stores
 * among their multiply-adds, and where there is a clamp sums are stored again. */
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
    registers 19, eights, groups, clamp, first_bias
column_2 .req x23 /* twice, three times */
    registers 24, column_3, tap_2, tap_3
in_2 .req x27 /* of the second half */
out_2 .req x28

/* ---- parts of a tile of P columns ---- */

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
    .macro reach T, part
    .set r, 0
    .rept size
    .set t, i - r
    .if (t >= 0) & (t < \T)
    fma %(16 + \part * size + r), %(8 + \part * slots + i % slots), %(t)
    .endif
    .set r, r + 1
    .endr
    .endm

/* The outputs that are complete since column i. */
    .macro store_complete T, i
    .set r, \i - \T + 1
    .if (r >= 0) & (r < size)
    several st1, 1, %(16 + r), out, dst_column
    when %(parts == 2), several st1, 1, %(16 + size + r), out_2, dst_column
    .endif
    .endm

/* `ends`: sums are complete. */
    .macro block P, T, ends
    divide \P
    .set columns_of_part, size - 1 + \T
    .if parts == 2
    add in_2, in, column, lsl #(\P / 16 + 2)
    when \ends, add out_2, out, dst_column, lsl #(\P / 16 + 2)
    .endif
    each n, ahead, load_ahead \T, %(n)
    .set i, 0
    .rept columns_of_part
    load_ahead \T, %(i + ahead)
    reach \T, 0
    when %(parts == 2), reach \T, 1
    when \ends, store_complete \T, %(i - BEHIND)
    .set i, i + 1
    .endr
    .if \ends
    .rept BEHIND
    store_complete \T, %(i - BEHIND)
    .set i, i + 1
    .endr
    .endif
    .endm

    .macro begin_group
    mov in, src
    mov w, weights
    mov out, dst
    .endm
    .macro next_group
    add src, src, #16
    add weights, weights, #16
    add dst, dst, #16
    add bias, bias, #32
    subs groups_left, groups_left, #1
    .endm

/* ---- tiles ---- */

/* The last taps of a group. */
    .macro last_taps name, P, T
\name\()_last\T\():
    accept_branch
    block \P, \T, 1
    when %(\T > 1), b 4f
    .endm

    .macro for_taps what, name, others:vararg
    .set taps, 8
    .rept 8
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

    .macro tile name, P
    table_entry \name
    for_taps entry, \name, 9
    .p2align 4
\name\():
    accept_branch
    divide \P
    mov scratch, #((size + 7) / 4 * 4 - 8)
    mneg back, column, scratch
1:  begin_group
    each_by 2, r, 0, %(\P / 2), load_pair %(16 + r), %(17 + r), [bias]
    mov blocks, eights
    cbz eights, 3f
2:  block \P, 8, 0
    add in, in, back
    subs blocks, blocks, #1
    b.ne 2b
3:  br last
    for_taps last_taps, \name, \P
4:  next_group
    cbnz clamp, 5f
    b.ne 1b
    b .Lnext_tile
/* the same sums again */
5:  clamp_again \P
    cbnz groups_left, 1b
    b .Lnext_tile
    .endm

    .macro clamp_again P
    ldp q0, q1, [clamp]
    clamp_all 16, \P, 0, 1
    sub out, dst, #16
    each r, \P, several st1, 1, %(16 + r), out, dst_column
    .endm

    begin_function dwconv_f32_row
    save_registers 4, 28
    ldp tiles, tiles_end, [job, #job.tiles]
    ldp first_bias, groups, [job, #job.bias]
    ldp tap, dst_column, [job, #job.weights_tap]
    ldr clamp, [job, #job.clamp]
    add tap_2, tap, tap
    add tap_3, tap_2, tap
    b .Lfirst_tile
.Lnext_tile:
    add tiles, tiles, #TILE_BYTES
    cmp tiles, tiles_end
    b.eq .Ldone
.Lfirst_tile:
    ldp src, column, [tiles, #tile.src]
    ldp dst, weights, [tiles, #tile.dst]
    ldp eights, last, [tiles, #tile.eights]
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
    tile .Lrow_16, 16
    tile .Lrow_8, 8
    tile .Lrow_4, 4
    end_table dwconv_f32_row_codes
