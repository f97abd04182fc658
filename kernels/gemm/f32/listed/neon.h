/* What the assembly files of listed.h's strips share. A tile of `height` rows and
 * `vectors` vectors keeps its sums in the last height * vectors vector registers. `special` is one
 * flag for all that is not always there: several segments, a tail, bias, accumulation, limits, and
 * columns that are missing. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"
#include "kernels/gemm/f32/listed/offsets.h"

/* x8 … x14 are the rows of A. */
    registers 0, strip, list, pairs, b
    registers 4, c, ldc, tiles, row
    registers 15, panels_left, scratch, rounds
    registers 19, b_panel, b_first, b_step, list_step, special, c_step
    registers 25, panels, segments, bias, segment, from_row, from
    registers 29, ahead, ahead_step
copied .req x26 /* there is one segment */
copied_too .req x28

/* 1 for kernels that pack B: panels of three vectors. */
    .set packing, 0

/* 1 for kernels that fetch what comes next. */
    .set fetching, 0

/* 1 for kernels of regular rows. */
    .set regular, 0

/* Steps of k in a round: 4, or 2 for kernels whose rounds take half of a tail, too. */
    .set round_steps, 4

/* ---- parts of a tile ---- */

    .macro load_pointers_after first, height, from
    each_by 2, i, \first, %((\height - \first) / 2), load_pair_x %(8 + i), %(9 + i), [\from, #(8 * i)]
    when %(i < \height), load_x %(8 + i), [\from, #(8 * i)]
    .endm

/* Those of the next segment, whose list `segment` becomes. */
    .macro load_next_pointers height
    .if \height == 1
    ldr x8, [segment, #64]!
    .else
    ldp x8, x9, [segment, #64]!
    load_pointers_after 2, \height, segment
    .endif
    .endm

    .macro begin_tile height
    mov b, b_panel
    when %packing, begin_columns
    .if fetching
    ldr ahead, [strip, #strip.ahead]
    add ahead, ahead, b
    .endif
    load_pointers_after 0, \height, list
    .endm

/* Once a round. */
    .macro fetch_ahead
    .if fetching
    prfm pldl2keep, [ahead]
    prfm pldl2keep, [ahead, ahead_step]
    add ahead, ahead, ahead_step, lsl #1
    .endif
    .endm

/* The panel's columns of a plain B, 48 bytes a panel. */
    .macro begin_columns
    sub scratch, panels, panels_left
    ldr from, [strip, #strip.from]
    add scratch, scratch, scratch, lsl #1
    add from, from, scratch, lsl #4
    .endm

/* One step's vectors of B, which come from the panel, or go there: by general registers, since the
 * stores of others take pipes of FMLA, but for low tiles, which have no room for more loads. */
    .macro step_of_b vectors, first
    .if packing == 0
    several ld1, \vectors, \first, b, #16 * \vectors
    .else
    .if \first > 4
    .set i, 0
    .rept \vectors
    ldp copied, copied_too, [from, #16 * i]
    stp copied, copied_too, [b], #16
    .set i, i + 1
    .endr
    .endif
    several ld1, \vectors, \first, from, from_row
    when %(\first <= 4), several st1, \vectors, \first, b, #16 * \vectors
    .endif
    .endm

    .macro rows_of_c op, height, vectors
    mov row, c
    each_by \vectors, i, %(32 - \height * \vectors), \height, several \op, \vectors, %(i), row, ldc
    .endm

/* The next panel, or the first one of the next tile. */
    .macro next_tile width
    add row, c, c_step
    add c, c, #4 * \width
    add b_panel, b_panel, b_step
    add scratch, list, list_step
    subs panels_left, panels_left, #1
    csel c, row, c, eq
    csel b_panel, b_first, b_panel, eq
    csel list, scratch, list, eq
    csel panels_left, panels, panels_left, eq
    sub tiles, tiles, #1
    .endm

    .macro begin name
    begin_function gemm_f32_listed_\name\()_neon
    when %(packing | fetching | regular), save_registers 4, 30
    otherwise save_registers 4, 28
    when %packing, ldr from_row, [strip, #strip.from_row]
    when %packing, lsl from_row, from_row, #2
    when %fetching, ldr ahead_step, [strip, #strip.ahead_step]
    ldp list, segments, [strip, #strip.rows]
    ldp rounds, special, [strip, #strip.rounds]
    ldp b_first, b_step, [strip, #strip.b]
    when %packing, ldr b_first, [strip, #strip.to]
    ldp c, ldc, [strip, #strip.c]
    ldp tiles, panels, [strip, #strip.tiles]
    ldr bias, [strip, #strip.bias]
    lsl list_step, segments, #6
    lsl b_step, b_step, #2
    lsl ldc, ldc, #2
    .endm

    .macro end name
    pop_and_return
    end_function gemm_f32_listed_\name\()_neon
    .endm

    .macro add_bias height, vectors
    each i, \vectors, several ld1, 1, %(i), bias, #16
    each i, %(\height * \vectors), add_to %(32 - \height * \vectors + i), %(i % \vectors)
    .endm

/* ---- what all kernels of whole vectors begin and end with ---- */

    .macro begin_whole name, height, vectors
    begin \name
    .if round_steps == 2
    lsl rounds, rounds, #1
    add rounds, rounds, special, lsr #1
    and special, special, #1
    .endif
    /* segments - 1 | tail | bias | accumulate | clamp | missing */
    sub segments, segments, #1
    ldp w8, w9, [strip, #strip.accumulate]
    ldr w10, [strip, #strip.missing]
    orr special, special, segments
    orr special, special, bias
    orr special, special, x10
    orr w8, w8, w9
    orr special, special, x8
    mov b_panel, b_first
    mov panels_left, panels
    /* from the last panel of a tile to the first one of the next */
    sub c_step, panels, #1
    mov scratch, #-16 * \vectors
    mov x8, #\height
    mul c_step, c_step, scratch
    madd c_step, ldc, x8, c_step
    mul tiles, tiles, panels
    .endm

/* Rows that lack x8 columns. What is there of the last vector is stored with the end of the one
 * before it, so that nothing beyond the row is written. */
    .macro ragged_rows_of_c height, vectors
    mov row, c
    adr x9, bytes_in_order + 16
    mov x10, #16 * (\vectors - 1)
    sub x9, x9, x8, lsl #2
    sub x10, x10, x8, lsl #2
    ldr q1, [x9]
    each_by \vectors, i, %(32 - \height * \vectors), \height, ragged_row %(i), %(\vectors - 1), %(i + \vectors - 2), %(i + \vectors - 1)
    .endm
    .macro ragged_row first, whole, before, last
    tbl v0.16b, {v\before\().16b, v\last\().16b}, v1.16b
    several_at st1, \whole, \first, row
    str q0, [row, x10]
    add row, row, ldc
    .endm
bytes_in_order:
    each i, 32, .byte i

    shared_limits

    .macro clamp_sums first
    ldr w8, [strip, #strip.clamp]
    tbz w8, #0, 31f
    limit_sums at_least, \first, strip, strip.low, scratch
31: tbz w8, #1, 32f
    limit_sums at_most, \first, strip, strip.high, scratch
32:
    .endm

/* For a special tile. */
    .macro finish_sums height, vectors
    cbz bias, 28f
    add_bias \height, \vectors
28: clamp_sums %(32 - \height * \vectors)
    .endm
    .macro next_bias
    ldr scratch, [strip, #strip.bias]
    cmp panels_left, #1
    csel bias, scratch, bias, eq
    .endm

/* Kernels of a width. */
    .macro all_heights kernel, width, others:vararg
    .irp height, 7, 6, 5, 4, 3, 2, 1
    .ifb \others
    \kernel \height, \width
    .else
    \kernel \height, \width, \others
    .endif
    .endr
    .endm

/* One step of k, of what is left after the rounds: */
    .macro load_step height, vectors, load, offset
    for_each_row \load, \height, s, \offset
    step_of_b \vectors, \height
    .endm
    .macro multiply_step height, vectors
    multiply_tile fmla, \height, \vectors, %(32 - \height * \vectors), \vectors, \height, 0, 0
    .endm

/* The sums to C and the next tile at 11, but at 22 if something is special. */
    .macro end_plain_tile height, vectors
    cbnz special, 22f
    rows_of_c st1, \height, \vectors
    next_tile %(4 * \vectors)
    cbnz tiles, 11b
    b 30f
    .endm

/* Before the first one of these tiles: from here on, `special` is what of B is between segments, and
 * a bit that is not one of its address. */
    .macro begin_special
    ldr special, [strip, #strip.b_skip]
    orr special, special, #1 << 63
    .endm

/* w8: does it accumulate? */
    .macro begin_special_tile
    ldr w8, [strip, #strip.accumulate]
    .if packing == 0
    mov segment, list
    ldr segments, [strip, #strip.segments]
    .endif
    .endm

/* From the end of a segment at 26: the next one at 24, or the sums to C, and the next tile at 20. */
    .macro end_tile height, vectors
26:
    .if packing == 0
    subs segments, segments, #1
    b.eq 27f
    load_next_pointers \height
    add b, b, special, lsl #2
    b 24b
    .endif
27: finish_sums \height, \vectors
    .if \vectors > 1
    ldr w8, [strip, #strip.missing]
    cbnz w8, 33f
    .endif
    rows_of_c st1, \height, \vectors
34: next_bias
    next_tile %(4 * \vectors)
    cbnz tiles, 20b
    .if \vectors > 1
    b 30f
33: ragged_rows_of_c \height, \vectors
    b 34b
    .endif
30:
    .endm
