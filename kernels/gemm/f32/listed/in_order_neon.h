/* What the tiles of listed.h for cores that issue in order share. A file has macros for
 * what differs:
 *
 *   first_loads height, vectors            what has to be there before the rounds of a segment
 *   first_loads_and_clear height, vectors  the same, and sums of zero
 *   all_rounds height, vectors             the rounds, at least one; b is behind them then
 *   find_tail                              x8: 1 if there is a tail after rounds, else 0
 *   finish_segment height, vectors         code that all_rounds has apart; it goes to 26 at the end
 *                                          of a segment */

/* clang-format off */
#include "kernels/gemm/f32/listed/neon.h"

/* In `special`, where neither what of B is between segments is, nor the other flag: segments have a
 * tail, and all_rounds goes to 35 for their end. */
    .set HAS_TAIL, 62

    .macro pair_of_c op, s0, s1
    \op\()p q\s0, q\s1, [row]
    .endm
    .macro last_of_c op, s, offset
    \op\()r q\s, [row, #\offset]
    .endm

/* op: ld or st, which several registers at once would delay. */
    .macro all_of_c op, height, vectors
    mov row, c
    .set i, 32 - \height * \vectors
    .rept \height
    when %(\vectors > 1), pair_of_c \op, %(i), %(i + 1)
    when %(\vectors % 2), last_of_c \op, %(i + \vectors - 1), %(16 * (\vectors - 1))
    add row, row, ldc
    .set i, i + \vectors
    .endr
    .endm

    .macro kernel_by name, height, vectors
    begin_whole \name, \height, \vectors
    cbz rounds, 19f
    cbnz special, 19f

    /* a tile; rounds >= 1 */
11: begin_tile \height
    first_loads_and_clear \height, \vectors
12: all_rounds \height, \vectors
    end_plain_tile \height, \vectors, all_of_c, st

    /* a tile that something is special about */
19: begin_special
    find_tail
    orr special, special, x8, lsl #HAS_TAIL
20: begin_special_tile
    cbnz w8, 15f
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    b 23f
15: all_of_c ld, \height, \vectors
23: begin_tile \height
24: cbz rounds, 22f
    first_loads \height, \vectors
    b 12b
    finish_segment \height, \vectors
22: ldr pairs, [strip, #strip.tail]
    .if round_steps == 2
    lsl scratch, rounds, #3
    and pairs, pairs, #1
    .else
    lsl scratch, rounds, #4
    .endif
    cbz pairs, 26f
25: load_step \height, \vectors, load_indexed, scratch
    add scratch, scratch, #4
    multiply_step \height, \vectors
    subs pairs, pairs, #1
    b.ne 25b
    end_tile \height, \vectors, all_of_c, st
    end \name
    .endm
