/* Steps of k for cores that issue in order, of tiles of V vectors by `width` lanes: rows of A by
 * columns of B, or rows of B by columns of A. Sums are in the last V * width vector registers, lane
 * after lane.
 *
 * What the next step needs is loaded between the multiply-adds of this one: its vectors to a second
 * set of registers, and lanes to those that are through. These cores (Cortex-A53, A55) issue two
 * instructions a cycle, of which one multiplies; 64 bits of a load issue with it. Two lanes are one
 * load, as they need no more; a vector is two, the upper half by way of a general register, and an
 * insertion. Two vectors by twelve lanes have 24 FMLA for 13 such instructions, four by four 16 for
 * 15.
 *
 * A file has the addresses `in` of vectors and `by` of lanes, `count` of rounds of four steps, and
 * a macro `next_vectors` that moves `in` to the next step. Lanes of steps follow each other, unless
 * it has a macro `next_lanes` and sets lanes_apart to 1 before this header. x16 and x17 are lost,
 * or the two registers from high_temp on that it sets. */
/* clang-format off */
#include "kernels/asm/assembly_neon.h"

    .ifndef lanes_apart
    .set lanes_apart, 0
    .endif
    .ifndef high_temp
    .set high_temp, 16
    .endif

/* Lanes in a register, how many registers a step takes, and how many there are for them. */
    .set lanes, 2
    .macro set_kind V, width
    .set units, (\width + 1) / lanes
    .set lane_registers, 2
    when %((\V <= 2) & (\width > 4)), .set lane_registers, 4
    .endm

/* The lanes that register number `unit` since the round began holds. Where those of steps are apart,
 * an odd number of them ends in a register of the last two. */
    .macro load_lanes to, width, unit
    .set first_lane, \unit * lanes
    when lanes_apart, .set first_lane, \unit % units * lanes
    when %(first_lane + 1 == \width), .set first_lane, first_lane - 1
    load_d \to, [by, #(4 * first_lane)]
    when %((lanes_apart != 0) & (\unit % units == units - 1)), next_lanes
    .endm

/* Instruction `op` of those that load a step's vectors to register `to` and the following: low
 * v, high v, insert v - 1 for each vector, the last insertion, the next step's address. */
    .macro vector_op V, to
    .set q, (op + 1) / 3
    when %(op == 0), load_d \to, [in, #0]
    or_when %(op == 1), load_x %(high_temp), [in, #8]
    or_when %(op == 3 * \V - 1), next_vectors
    or_when %(op == 3 * \V), insert_half %(\to + \V - 1), %(high_temp + (\V - 1) % 2)
    or_when %(op % 3 == 2), load_d %(\to + q), [in, #(16 * q)]
    or_when %(op % 3 == 0), insert_half %(\to + q - 1), %(high_temp + (q - 1) % 2)
    otherwise load_x %(high_temp + q % 2), [in, #(16 * q + 8)]
    .set op, op + 1
    .endm

/* One more of a step, if there are any: last, the fourth one counts rounds. */
    .macro next_op V, to
    .if op < vector_ops
    vector_op \V, \to
    .elseif op < ops
    subs count, count, #1
    .set op, op + 1
    .endif
    .endm

/* The multiply-adds of a register of lanes, number `unit` since the round began; then it is loaded
 * again, unless that would be number `end` or a later one. */
    .macro use_lanes fop, V, width, from, to, unit, end
    .set register, 2 * \V + \unit % lane_registers
    .set l, 0
    when %((\width % 2) & (\unit % units == units - 1)), .set l, 1
    .rept lanes - l
    .set v, 0
    .rept \V
    multiply \fop, %(32 - \V * \width + f), %(\from + v), %(register), %(l)
    .set f, f + 1
    .set v, v + 1
    when %((l + 1 < lanes) | (v < \V)), next_op \V, \to
    .endr
    .set l, l + 1
    .endr
    when %(\unit + lane_registers < \end), load_lanes %(register), \width, %(\unit + lane_registers)
    otherwise next_op \V, \to
    .endm

/* Step `number` of a round: the fourth is the first of the next round, too. `last`: nothing follows
 * the third one. */
    .macro step_of_round fop, V, width, number, last=0
    .set from, \number % 2 * \V
    .set vector_ops, 3 * \V + 1
    when %((\last) & (\number == 3)), .set vector_ops, 0
    .set ops, vector_ops
    when %(\number == 4), .set ops, vector_ops + 1
    .set end, 8 * units
    when \last, .set end, 4 * units
    .set op, 0
    .set f, 0
    each u, units, use_lanes \fop, \V, \width, %(from), %(\V - from), %(\number * units + u), %(end)
    times ops, next_op \V, %(\V - from)
    .endm

/* Vectors of the first step, and as many lanes as there is room for. */
    .macro begin_rounds V, width
    each v, \V, load_q %(v), [in, #(16 * v)]
    next_vectors
    each u, lane_registers, load_lanes %(2 * \V + u), \width, %(u)
    .endm

/* All rounds, at least one: count is one less. */
    .macro rounds_of_steps first_op, V, width
    begin_rounds \V, \width
    step_of_round \first_op, \V, \width, 0
    cbz count, 2f
1:  step_of_round fmla, \V, \width, 1
    step_of_round fmla, \V, \width, 2
    step_of_round fmla, \V, \width, 3
    step_of_round fmla, \V, \width, 4
    when %(lanes_apart == 0), add by, by, #16 * \width
    b.ne 1b
2:  step_of_round fmla, \V, \width, 1, 1
    step_of_round fmla, \V, \width, 2, 1
    step_of_round fmla, \V, \width, 3, 1
    when %(lanes_apart == 0), add by, by, #16 * \width
    .endm
