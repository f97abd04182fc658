/* What the tiles that read rows of A, on cores that reorder, have in common: those of
 * gemm/f32/direct/direct.h and gemm/f32/panels/panels.h.
 *
 * The steps that do not make a round, or one whole round, come first: four values of each row are
 * loaded, and the address moves on by so many bytes as steps take. So k decides no more than where
 * these steps end, and the very first one multiplies without adding, so that nothing need be
 * cleared. What finds rows and columns of a tile lies among its first multiply-adds. Only rows of
 * fewer than four values are loaded lane by lane, and rows of B from a copy multiplied at the end.
 * Tiles with a tail have neither, and first steps and an end of their own. */
/* clang-format off */
#include "kernels/gemm/f32/direct/neon.h"

/* What becomes of a tile's sums (GEMM_F32_ENDING_*, or how many lanes), and where the call goes on
 * after its tiles, 0: at the end. Both are decided once. Tests of few bits lead there and no address
 * does, as far as it can be: where an address leads, a mark has to be (accept_branch). */
#define KEPT_ENDING 16
#define KEPT_END 24

    .macro end_tiles height, kind
    ldr scratch, [sp, #KEPT_END]
    cbz scratch, .Lend_\height\()_\kind
    br scratch
    .endm

    .macro load_first a, row
    ld1 {v\a\().4s}, [x\row], scratch
    .endm

/* The rows of a tile, B, and how its steps are divided: scratch bytes of each row first. */
    .macro begin_rows height, vectors, group
    find_rows \height
    find_row 1, \height
    ldr x4, [sp, #KEPT_B]
    find_columns \height, \vectors, \group
    ldp scratch, rounds, [strip, #strip.first]
    .endm

/* Where a file sets steps_differ before this header, it has a step of a round; with parts also how
 * these become one, and what clears those that nothing begins. */
    .ifndef steps_differ
    .macro round_step height, vectors, group, lane, op=fmla
    step \height, \vectors, \group, \lane, \op
    .endm
    .endif
/* 1 … 4 steps, then 12: for rounds, or 13; less than four go to what clears parts. */
    .if has_tail == 0
    .macro first_steps height, vectors, group, op=fmla, one=12f, two=12f, three=12f
    for_each_row load_first, \height
    round_step \height, \vectors, \group, 0, fmul
    cmp scratch, #8
    b.lo \one
    round_step \height, \vectors, \group, 1, \op
    b.eq \two
    round_step \height, \vectors, \group, 2, \op
    tbz scratch, #4, \three
    round_step \height, \vectors, \group, 3, \op
    cbz rounds, 13f
    .endm
    .endif
    .macro round height, vectors, group
    for_each_row load_and_step, \height, q, 16
    round_step \height, \vectors, \group, 0
    round_step \height, \vectors, \group, 1
    round_step \height, \vectors, \group, 2
    round_step \height, \vectors, \group, 3
    .endm

    .macro end_ragged height, vectors
    store_ragged \height, \vectors
    subs tiles, tiles, #1
    b.gt 11b
    tbz tiles, #63, 26f
    b 24f
    .endm

/* Tiles one row lower, as a part of the same call: what they keep is kept already. */
    .macro go_on_lower lower, kind
    when %(has_tail == 0), lsr x11, tiles, #63
    when %(\lower <= 5), ldrb w13, [strip, #strip.low_tiles]
    otherwise ldrb w5, [strip, #strip.low_tiles]
    when %(has_tail == 0), cbnz x11, .Lshort_\lower\()_\kind
    b .Ltile_\lower\()_\kind
    .endm

/* Where a file sets row_temps to 1, a kernel uses x19 and x20, too. */
    .ifndef row_temps
    .set row_temps, 0
    .endif

/* ---- a kernel, in parts; kind: with the height, names a tile within the file ---- */

/* From its beginning to the end of a tile's steps. Plain tiles go on behind it, others at 28; what is
 * special begins at 30. */
    .macro begin_rows_kernel name, height, vectors, group, widest, kind
    begin_frame \name, \height, \vectors, %(\height + \widest), row_temps
    ldrb w10, [strip, #strip.ending]
    stp x2, x10, [sp, #KEPT_B]
    load_strides
    cbnz w10, 30f
.Ltile_\height\()_\kind\():
11: begin_rows \height, \vectors, \group
    when %(parts > 1), first_steps \height, \vectors, \group, fmul, 31f, 32f, 33f
    otherwise first_steps \height, \vectors, \group
12: round \height, \vectors, \group
    subs rounds, rounds, #1
    b.ne 12b
13:
    .endm
    .macro go_to_ending
    ldr scratch, [sp, #KEPT_ENDING]
    cbnz scratch, 28f
    .endm

/* What the first tile of a special call needs: lower tiles, which 27 begins, may follow. Where rows
 * are shorter than four values the number of tiles is negative, and begins at 2^63. */
    .macro special_rows height, vectors, group, kind
30: str x4, [sp, #KEPT_BIAS]
    .if \height > 1
    ldrb w12, [strip, #strip.low_tiles]
    adr x8, 27f
    cmp w12, #0
    csel x9, x8, xzr, ne
    str x9, [sp, #KEPT_END]
    .else
    str xzr, [sp, #KEPT_END]
    .endif
    .if has_tail
    b 11b
    .else
    ldr x11, [strip, #strip.first]
    cbnz x11, 11b
    short_tile \height, \vectors, \group, \kind
    .endif
    .endm
    .macro short_tile height, vectors, group, kind
.Lshort_\height\()_\kind\():
18: orr tiles, tiles, #1 << 63
19: begin_rows \height, \vectors, \group
    row_tails \height, \vectors, \group
9:
    .endm

/* A tile's end, where its rows may be short: the next tile, or the end of the call. */
    .macro next_tile height, kind
    subs tiles, tiles, #1
    b.gt 11b
    .if has_tail == 0
    tbz tiles, #63, 26f
24: cbnz tiles_low, 19b
    .endif
26: end_tiles \height, \kind
    .endm

    .macro end_rows_kernel name, height, kind
    .if \height > 1
27: accept_branch
    adr x9, 34f
    str x9, [sp, #KEPT_END]
    go_on_lower %(\height - 1), \kind
34: accept_branch
    b .Lend_\height\()_\kind
    .endif
    end_function gemm_f32_\name\()_neon
    end_names
    .endm

    .macro rows_kernel name, height, vectors, group, widest, kind
    begin_rows_kernel \name, \height, \vectors, \group, \widest, \kind
    when %(parts > 1), join_parts \height, \vectors
    go_to_ending
    store_whole \height, \vectors
    subs tiles, tiles, #1
    b.ne 11b
.Lend_\height\()_\kind\():
    end_frame \height, \vectors
    when %(parts > 1), clear_parts \height, \vectors

    special_rows \height, \vectors, \group, \kind
    end_tail \vectors, \group
    b 21f
28: mov rounds, scratch
    tbz scratch, #2, 41f
    tbz scratch, #0, 23f /* GEMM_F32_ENDING_WHOLE, or SUMS */
    .if \vectors == \group
    ldr rounds, [strip, #strip.b_tail]
    ldr scratch, [strip, #strip.tail]
    cbnz rounds, 17b
    .endif
21: finish_sums \height, \vectors
    ldr rounds, [strip, #strip.lanes]
    tbnz rounds, #2, 23f
41: end_ragged \height, \vectors
23: store_whole \height, \vectors
    next_tile \height, \kind
    end_rows_kernel \name, \height, \kind
    .endm
