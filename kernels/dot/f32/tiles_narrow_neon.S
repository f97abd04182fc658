/* The whole rounds of dot.h as in tiles_neon.S, for cores that issue in order, two
 * instructions a cycle, of which one may be 64 bits of a load (Cortex-A53 and A55): a vector is a
 * load of its lower half, one of the upper half to a general register, and an insertion, which comes
 * two vectors later.
 *
 * Rows are multiplied in groups of eight, or of all if there are fewer; while a group is multiplied
 * the next one comes, row by row into the same eight registers, and a vector of each column if it is
 * the next one of those too. 8x2 takes 32 FMLA and 60 other instructions. */
#include "kernels/dot/f32/tiles_neon.h"

    .set pointers_move, 1
    .set zeros_bytes, 0
    .macro clear_sums first, count
    clear_all \first, \count
    .endm

/* x1 and x3, once the pointers are known, are for upper halves. */

/* Group g of a round: vector g * group / R of k, rows from g * group % R on. Number n of what it
 * loads: columns, if it is the first group of a vector, and rows. `to` and `row`: the registers of
 * vector and pointer. */
    .macro find_vector R, C, g, n
    .set to, \n
    when %(\g * group % \R == 0), .set to, \n - \C
    .if to >= 0
    set_row %(\g * group % \R + to)
    .set to, (\g * group + to) % 8
    .else
    .set row, 2
    when \n, .set row, 12 + \n
    .set to, 32 - \R * \C - 2 * \C + \g * group / \R * \C + \n
    .endif
    .endm
    .macro count_vectors R, C, g
    .set vectors, group
    when %(\g * group % \R == 0), .set vectors, group + \C
    .endm

/* Instruction `op` of those that load group g: low n, the insertion of the vector that has waited
 * longest, high n. Two vectors wait, of this group or of the one before. */
    .macro load_op R, C, g
    .if op % 3 == 0
    find_vector \R, \C, \g, %(op / 3)
    load_and_step %to, %row, d, 8
    .elseif op % 3 == 1
    insert_waiting
    .else
    find_vector \R, \C, \g, %(op / 3)
    load_and_step %(1 + 2 * turn), %row, x, 8
    .set waits_longer, waits
    .set waits, to
    .set turn, 1 - turn
    .endif
    .set op, op + 1
    .endm
    .macro insert_waiting
    when %(waits_longer >= 0), insert_half %(waits_longer), %(1 + 2 * turn)
    .endm
    .macro insert_both
    insert_waiting
    .set waits_longer, waits
    .set turn, 1 - turn
    insert_waiting
    .endm

/* Multiplies group g; loads group `next`, unless that is -1, and counts the round if `last` is 1. */
    .macro multiply_group R, C, g, next, last=0
    .set ops, 0
    .if \next >= 0
    count_vectors \R, \C, \next
    .set ops, 3 * vectors
    .else
    insert_both
    .endif
    .set op, 0
    .set f, 0
    .rept group * \C
    .set i, f / \C
    fma %(32 - \R * \C + (\g * group % \R) * \C + f), %((\g * group + i) % 8), %(32 - \R * \C - 2 * \C + (\g * group / \R) * \C + f % \C)
    .set f, f + 1
    .rept ops
    .if op < ops
    .set ready, 0
    when %((group == 8) & (op / 3 >= (vectors - group))), .set ready, (op / 3 - (vectors - group) + 1) * \C
    when %((ready <= f) & (op * group * \C < f * ops)), load_op \R, \C, \next
    .endif
    .endr
    .endr
    when \last, subs rounds, rounds, #1
    times ops, when %(op < ops), load_op \R, \C, \next
    .endm

    .macro load_group_0 R, C
    count_vectors \R, \C, 0
    .set op, 0
    times %(3 * vectors), load_op \R, \C, 0
    .endm

/* A round has two vectors of k. */
    .macro count_groups R
    .set group, \R
    when %(\R > 8), .set group, 8
    .set groups, 2 * \R / group
    .endm

    .macro all_groups R, C, next, last=0
    each g, %(groups - 1), multiply_group \R, \C, %(g), %(g + 1)
    multiply_group \R, \C, %(g), \next, \last
    .endm

/* All rounds, of which the last one loads nothing. */
    .macro rounds_of R, C
    load_group_0 \R, \C
    subs rounds, rounds, #1
    b.eq 2f
1:  all_groups \R, \C, 0, 1
    b.ne 1b
2:  all_groups \R, \C, -1
    .endm

    .macro all_rounds R, C
    count_groups \R
    .set waits, 0 - 1
    .set waits_longer, 0 - 1
    .set turn, 0
    rounds_of \R, \C
    .endm

    .macro store_sums R, C
    each g, %(\R * \C / 2), store_pair %(32 - \R * \C + 2 * g), %(33 - \R * \C + 2 * g), [sums, #(32 * g)]
    .endm

    all_tiles _narrow
