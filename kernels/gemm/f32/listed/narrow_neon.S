/* Strips of listed.h for cores that issue in order, two instructions a cycle: Cortex-A53 and
 * A55 issue 64 bits of a load with a multiply-add. So a vector of B takes two loads, the upper half
 * by way of a general register, and an insertion; nothing is used soon after its load.
 *
 * Of B there are two rows of the panel in registers, of which one is multiplied while the other one
 * comes; of A two steps of each row, which are replaced as soon as the row is through with them. So
 * a tile takes height * (vectors + 1) + 2 * vectors registers, and 7x12 has no place here. Other
 * instructions lie between multiply-adds as evenly as they can: a step of 6x12 has 18 FMLA and 14 of
 * them. */
#include "kernels/gemm/f32/listed/neon.h"

    .set round_steps, 2

/* In `special`, where neither what of B is between segments is, nor the other flag: segments have an
 * odd number of steps, and all_rounds goes to 35 for their end. */
    .set HAS_TAIL, 62

half .req x7

/* Instruction `op` of a step: low 0, high 0, then low q, insert q - 1, high q for each other vector
 * of B's next row, which goes to register `to` and the following; the next row's address, the last
 * insertion, and the step's own: at even steps the next address of A, at odd ones what counts. */
    .macro other_op vectors, to, lane
    .set q, (op + 1) / 3
    .set part, (op + 1) % 3
    when %(op == 3 * \vectors - 1), add b, b, #16 * \vectors
    or_when %(op == 3 * \vectors), set_upper %(\to + \vectors - 1), half
    or_when %((op > 3 * \vectors) & \lane), subs pairs, pairs, #1
    or_when %(op > 3 * \vectors), add scratch, scratch, #8
    or_when %((part == 0) | (op == 0)), load_d %(\to + q), [b, #(16 * q)]
    or_when %(part == 1), set_upper %(\to + q - 1), half
    otherwise ldr half, [b, #(16 * q + 8)]
    .set op, op + 1
    .endm

/* One step of k by B's row at register `from`; loads the next one to `to` unless that is 0, and after
 * odd steps values of A. */
    .macro spread_step height, vectors, lane, from, to, kind_of_a=d
    .set ops, 3 * \vectors + 2
    .set op, 0
    .set f, 0
    .rept \height * \vectors
    fma %(32 - \height * \vectors + f), %(\from + f % \vectors), %(f / \vectors), \lane
    .if \to
    .rept ops
    when %((op < ops) & (op * \height * \vectors < (f + 1) * ops)), other_op \vectors, \to, \lane
    .endr
    when %((\lane == 1) & (f % \vectors == \vectors - 1)), load_indexed %(f / \vectors), %(8 + f / \vectors), \kind_of_a, scratch
    .endif
    .set f, f + 1
    .endr
    .endm

    .macro first_loads height, vectors
    mov scratch, #0
    for_each_row load_indexed, \height, d, scratch
    each i, \vectors, load_q %(\height + i), [b, #(16 * i)]
    add b, b, #16 * \vectors
    .endm
    .macro first_loads_and_clear height, vectors
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    first_loads \height, \vectors
    .endm

/* A round is two steps, of which the last one loads nothing. */
    .macro all_rounds height, vectors
    sub pairs, rounds, #1
    spread_step \height, \vectors, 0, \height, %(\height + \vectors)
    cbz pairs, 14f
13: spread_step \height, \vectors, 1, %(\height + \vectors), \height
    spread_step \height, \vectors, 0, \height, %(\height + \vectors)
    b.ne 13b
14: tbnz special, #HAS_TAIL, 35f
    spread_step \height, \vectors, 1, %(\height + \vectors), 0
    .endm

/* The last step of the rounds, and the tail's. */
    .macro finish_segment height, vectors
35: spread_step \height, \vectors, 1, %(\height + \vectors), \height, s
    spread_step \height, \vectors, 0, \height, 0
    b 26f
    .endm

    .macro kernel_by name, height, vectors
    begin_whole \name, \height, \vectors
    cbz rounds, 19f
    cbnz special, 19f

    /* a tile; rounds >= 1 */
11: begin_tile \height
    first_loads_and_clear \height, \vectors
12: all_rounds \height, \vectors
    end_plain_tile \height, \vectors

    /* a tile that something is special about */
19: begin_special
    ldr x8, [strip, #strip.tail]
    and x8, x8, #1
    orr special, special, x8, lsl #HAS_TAIL
20: begin_special_tile
    cbnz w8, 15f
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    b 23f
15: rows_of_c ld1, \height, \vectors
23: begin_tile \height
24: cbz rounds, 22f
    first_loads \height, \vectors
    b 12b
    finish_segment \height, \vectors
22: ldr pairs, [strip, #strip.tail]
    lsl scratch, rounds, #3
    and pairs, pairs, #1
    cbz pairs, 26f
25: load_step \height, \vectors, load_indexed, scratch
    add scratch, scratch, #4
    multiply_step \height, \vectors
    subs pairs, pairs, #1
    b.ne 25b
    end_tile \height, \vectors
    end \name
    .endm

    .macro kernel height, width, vectors
    when %(\height * \vectors < 21), kernel_by \height\()x\width\()_narrow, \height, \vectors
    .endm

    all_heights kernel, 12, 3
    all_heights kernel, 8, 2
    all_heights kernel, 4, 1
