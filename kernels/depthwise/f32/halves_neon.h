/* Loads among multiply-adds, for cores that issue 64 bits of a load beside one (Cortex-A53, A55).
 *
 * What is to be loaded is a list, in whose order it goes, each when the multiply-adds are done with
 * what is in its register. A load has parts: the lower half; the upper one into x23 or x24 in turn;
 * and its insertion two loads later, beside the lower half of that one, which is all that A53 can
 * pair it with.
 *
 * Files name their addresses in `load_half kind, to, row, half`: kind is d, then x, with half
 * _high, eight bytes further, or q; and they have `next_column`, for a row of 0. They set R, the
 * rows of outputs, the stride S of these, and kernel_rows. `now` counts instructions. Where nothing
 * else can be done, what waits is inserted out of turn, unless `in_turn` is set. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"

    .set in_turn, 0

/* ---- how many multiply-adds are still to read v(place) ---- */

    .macro expect place, reads
    .set reads_of_\place, \reads
    .endm
    .macro read_once place
    .set reads_of_\place, reads_of_\place - 1
    .endm
/* reads: so many rows of outputs take row `number` of a column of source. */
    .macro count_reads number
    .set reads, 0
    each out_row, R, when %((\number >= S * out_row) & (\number < S * out_row + kernel_rows)), .set reads, reads + 1
    .endm

/* ---- the list; number l is the next one ---- */

/* `begun`: the lower half of a load is there, and nothing else; `older` and `newer`: registers that
 * wait for their upper halves, or 0. */
    .macro begin_loads
    .set listed, 0
    .set l, 0
    .set uppers, 0
    .set begun, 0
    .set inserted, 0
    .set older, 0
    .set newer, 0
    .endm

    .macro list_load into, row, reads
    name_load %listed, \into, \row, \reads
    .set listed, listed + 1
    .endm
    .macro name_load number, into, row, reads
    .set into_\number, \into
    .set row_\number, \row
    .set wanted_\number, \reads
    .endm

/* filled: 1 if there was anything that could be done. */
    .macro load_next
    .set filled, 0
    when %(l < listed), load_listed %l
    when %((filled == 0) & (older + newer > 0) & (begun == 0) & ((in_turn == 0) | (l == listed))), insert_early
    .endm
    .macro load_listed number
    when %(row_\number == 0), go_on
    otherwise load_if_free %(into_\number), %(row_\number), %(wanted_\number)
    .endm
    .macro go_on
    next_column
    .set l, l + 1
    .set filled, 1
    .endm
    .macro load_if_free into, row, reads
    .if begun
    load_half x, %(23 + uppers % 2), \row, _high
    expect \into, \reads
    .set begun, 0
    .set newer, \into
    .set uppers, uppers + 1
    .set l, l + 1
    .set filled, 1
    .elseif reads_of_\into == 0
    load_half d, \into, \row
    .set inserted, older > 0
    insert_older
    .set begun, 1
    .set filled, 1
    .endif
    .endm

    .macro insert_older
    .if older
    insert_half %older, %(23 + (uppers + begun) % 2)
    .set now, now + 1
    .endif
    .set older, newer
    .set newer, 0
    .endm
/* The same out of turn: then the turn of x23 and x24 moves on. */
    .macro insert_early
    insert_older
    when %(begun == 0), .set uppers, uppers + 1
    .set filled, 1
    .endm

/* A multiply-add is to read v(place). */
    .macro wait_for place
    times 60, when %(reads_of_\place == 0), load_next
    times 2, when %((older == \place) | (newer == \place)), insert_early
    .endm
/* What is left of the list. */
    .macro load_rest
    times 60, when %((l < listed) | (older + newer > 0)), load_next
    .endm

/* All of it, where there is nothing else to do meanwhile. */
    .macro load_at_once
    each l, listed, load_whole %l
    .endm
    .macro load_whole number
    when %(row_\number == 0), next_column
    otherwise load_vector %(into_\number), %(row_\number), %(wanted_\number)
    .endm
    .macro load_vector into, row, reads
    load_half q, \into, \row
    expect \into, \reads
    .endm
