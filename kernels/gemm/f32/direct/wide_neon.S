/* Tiles of direct.h for cores that issue in order, three instructions a cycle of which two
 * multiply and add (Cortex-A510, A520).
 *
 * There every other instruction is to share a cycle with two multiply-adds, and none may be used
 * soon after it. So what a step of k loads for the next one lies between its multiply-adds, one
 * instruction after every two of them. Loads that also write their address would take two places,
 * so addresses are moved on by themselves; and as results are written in order, that comes some
 * multiply-adds after loads of several registers, which end late.
 *
 * A round is four steps, for which a row of A is one vector; it is replaced as soon as the row is
 * through with it. Of B there are two rows of the strip in registers, of which one is multiplied
 * while the other one comes. So a tile takes height * (vectors + 1) + 2 * vectors registers. A round
 * of 6x12 has 72 multiply-adds and 17 other instructions. A tile needs eight sums at least, as each
 * is ready for its next multiply-add after four cycles: 1x3x12 is the best that panels allow for
 * one row. */

    .set stores_are_pairs, 1
    .set loads_come_first, 1
#include "kernels/gemm/f32/direct/neon.h"

    .macro load_row a, row
    ldr q\a, [x\row, scratch]
    .endm
    .macro load_group row, count, first
    .if \count == 1
    ldr q\first, [x\row]
    .else
    several_at ld1, \count, \first, x\row
    .endif
    .endm
    .macro move_on at, by
    add x\at, x\at, \by
    .endm

/* Number `op` of a step's other instructions: the vectors of B's next row, group by group, to
 * register `to` and the following; then, if more is 1, the rows of A but the `late` ones for which
 * there is no room, or if it is 2 those, and what counts the rounds; among or behind them
 * B's addresses, from number `moves` on. `ready` multiply-adds have to come before
 * it. */
    .macro find_ready vectors, group, more
    .set ready, apart * op + apart / 2
    .if (\vectors > 1) & (op >= (\vectors / \group))
    .set ready, 2 * (\vectors / \group) + 6
    .if (\more == 1) & ((op < moves) | (op >= (moves + \vectors / \group)))
    find_number \vectors, \group
    .set ready, (number + 1) * \vectors
    .if ready < (2 * (\vectors / \group) + 2)
    .set ready, 2 * (\vectors / \group) + 2
    .endif
    .endif
    .elseif op >= 2
    .set ready, op - 1
    .endif
    .if (\more == 2) & (op >= (\vectors / \group)) & (op < (\vectors / \group + late))
    .set ready, 2 * op
    .endif
    .endm
    .macro find_number vectors, group
    .set number, op - \vectors / \group
    .if op >= (moves + \vectors / \group)
    .set number, number - \vectors / \group
    .endif
    .endm
    .macro other_op vectors, group, to, more
    find_number \vectors, \group
    .if number < 0
    load_group %(4 + op), \group, %(\to + op * \group)
    .elseif (op >= moves) & (op < (moves + \vectors / \group))
    move_on %(4 + op - moves), ldb
    .elseif \more == 1
    load_row %(number), %(8 + number)
    .elseif number < late
    load_row %(rows - late + number), %(8 + rows - late + number)
    .else
    adds scratch, scratch, #16
    .endif
    .set op, op + 1
    .endm

/* One step of k from B's row at register `from`; loads the next one to `to` unless that is 0. */
    .macro spread_step height, vectors, group, lane, from, to, more, fop=fmla
    .set rows, \height
    .set apart, 2
    .set late, \height + 2 * (\vectors / \group) - \height * \vectors / 2
    .if \height * \vectors <= 8
    .set apart, 0
    .endif
    .if (late < 0) | (\height < 4) | (\height * \vectors <= 8)
    .set late, 0
    .endif
    .set ops, 0
    .if \to
    .set ops, 2 * (\vectors / \group)
    .endif
    .if \more == 1
    .set ops, ops + \height - late
    .elseif \more == 2
    .set ops, ops + 1 + late
    .endif
    .set moves, ops - \vectors / \group
    .if \vectors == 1
    .set moves, 1
    .elseif (\more == 1) & (\height > 3) /* before the last row */
    .set moves, \vectors / \group + \height - late - 1
    .endif
    .set op, 0
    .set f, 0
    .set last, 0 - 2
    .rept \height * \vectors
    .rept \vectors / \group
    .if op < ops
    find_ready \vectors, \group, \more
    .if (ready <= f) & (f >= (last + apart))
    other_op \vectors, \group, \to, \more
    .set last, f
    .endif
    .endif
    .endr
    multiply \fop, %(32 - \height * \vectors + f), %(\from + f % \vectors), %(f / \vectors), \lane
    .set f, f + 1
    .endr
    .rept ops
    .if op < ops
    other_op \vectors, \group, \to, \more
    .endif
    .endr
    .endm

/* Rows are at the ends of their whole rounds, `scratch` counts from the beginning to there. */
    .macro begin_steps height, vectors, group, to
    lsl scratch, rounds, #4
    .set i, 8
    .rept \height
    move_on %(i), scratch
    .set i, i + 1
    .endr
    neg scratch, scratch
    first_loads \height, \vectors, \group, \to
    .endm

/* Rows of A, and two of B: nothing may come among the first products, as each is waited for. */
    .macro first_loads height, vectors, group, to
    .if two_ahead
    first_loads_ahead \height, \vectors
    .else
    first_loads_spread \height, \vectors, \group, \to
    .endif
    .endm
    .macro first_loads_spread height, vectors, group, to
    .set moves, \vectors / \group
    .set op, 0
    .rept moves
    other_op \vectors, \group, \to, 0
    .endr
    for_each_row load_row, \height
    .rept moves
    other_op \vectors, \group, \to, 0
    .endr
    .set op, 0
    .rept 2 * moves
    other_op \vectors, \group, %(\to + \vectors), 0
    .endr
    adds scratch, scratch, #16
    .endm

/* A step of what the rounds leave: all of B's row before the first product. */
    .macro step height, vectors, group, lane
    .set moves, \vectors / \group
    .set op, 0
    .rept 2 * moves
    other_op \vectors, \group, \height, 0
    .endr
    .set f, 0
    .rept \height * \vectors
    multiply fmla, %(32 - \height * \vectors + f), %(\height + f % \vectors), %(f / \vectors), \lane
    .set f, f + 1
    .endr
    .endm

    .macro rounds_spread height, vectors, group, even, odd
23: spread_step \height, \vectors, \group, 0, \even, 0, 0, fmul
    b.eq 9f
12: spread_step \height, \vectors, \group, 1, \odd, \even, 0
    spread_step \height, \vectors, \group, 2, \even, \odd, 0
    spread_step \height, \vectors, \group, 3, \odd, \even, 1
    spread_step \height, \vectors, \group, 0, \even, \odd, 2
    b.ne 12b
9:
    .endm

/* ---- tiles whose steps are shorter than a load of B and the new address behind it take ---- */

/* B has a place for each of the four steps, two of them among the registers that callers do not keep,
 * and comes two rows at a time, from x4 and x5, which x6 moves on, early enough that nothing waits:
 * a round of 3x12 takes 18 cycles instead of 19. */
    .macro find_place height, vectors, lane
    .set place, \height + \lane * \vectors
    .if \lane >= 2
    .set place, 16 + (\lane - 2) * \vectors
    .endif
    .endm
    .macro load_ahead row, lane, height, vectors
    find_place \height, \vectors, \lane
    load_group \row, \vectors, %(place)
    .endm

    .macro first_loads_ahead height, vectors
    lsl x6, ldb, #1
    add x5, x4, ldb
    load_ahead 4, 0, \height, \vectors
    load_ahead 5, 1, \height, \vectors
    for_each_row load_row, \height
    move_on 4, x6
    move_on 5, x6
    load_ahead 4, 2, \height, \vectors
    move_on 4, x6
    adds scratch, scratch, #16
    .endm

/* What comes behind multiply-add `f` of a round, of which those of step 1 are the first: loads of B
 * as soon as its places are free, of A as soon as a row is through with it. */
    .macro others_3_3 f
    behind \f, 2, load_ahead, 5, 3, 3, 3
    behind \f, 4, load_ahead, 4, 0, 3, 3
    behind \f, 10, move_on, 5, x6
    behind \f, 12, move_on, 4, x6
    behind \f, 16, load_ahead, 5, 1, 3, 3
    behind \f, 18, load_ahead, 4, 2, 3, 3
    behind \f, 22, load_row, 0, 8
    behind \f, 24, load_row, 1, 9
    behind \f, 26, load_row, 2, 10
    behind \f, 28, move_on, 5, x6
    behind \f, 30, move_on, 4, x6
    behind \f, 32, adds, scratch, scratch, #16
    .endm
    .macro behind f, when, op, operands:vararg
    .if \f == \when
    \op \operands
    .endif
    .endm

/* Products of the step for `lane`, with a round's other instructions or without. */
    .macro step_ahead height, vectors, lane, others, fop=fmla
    .set f, 0
    .rept \height * \vectors
    find_place \height, \vectors, \lane
    multiply \fop, %(32 - \height * \vectors + f), %(place + f % \vectors), %(f / \vectors), \lane
    .if \others
    others_\height\()_\vectors %(((\lane + 3) % 4) * \height * \vectors + f)
    .endif
    .set f, f + 1
    .endr
    .endm

    .macro rounds_ahead height, vectors
23: step_ahead \height, \vectors, 0, 0, fmul
    b.eq 9f
12: step_ahead \height, \vectors, 1, 1
    step_ahead \height, \vectors, 2, 1
    step_ahead \height, \vectors, 3, 1
    step_ahead \height, \vectors, 0, 1
    b.ne 12b
9:  load_ahead 5, 3, \height, \vectors
    .endm

/* ---- from a tile to the next one, where there is nothing but whole rounds and whole rows ---- */

/* Other than 0: there is. */
#define KEPT_OTHERS 24

    .macro keep_others
    ldp scratch, rounds, [strip, #STRIP_TAIL]
    orr scratch, scratch, rounds
    str scratch, [sp, #KEPT_OTHERS]
    .endm

/* A tile's sums to C, and the beginning of the next one: `rounds` is where B begins, `scratch` the
 * bytes of a row's rounds below zero, and rows are at the ends of these. What takes one cycle does
 * not come after what takes two, as results are written in order. */
    .macro store_and_begin height, vectors, group, to
    mov x4, rounds
    row_after 8, %(7 + \height), 0
    .set row, 0
    .rept \height
    store_pairs \vectors, %(32 - \height * \vectors + row * \vectors)
    add c, c, ldc
    .set row, row + 1
    .if row < \height
    row_after %(8 + row), %(7 + row), 0
    .endif
    .endr
    sub tiles, tiles, #1
    .if \vectors > \group
    ldr x5, [strip, #STRIP_GAP]
    add x5, x4, x5, lsl #2
    .endif
    first_loads \height, \vectors, \group, \to
    .endm

    .macro last_step height, vectors, group, lane, from, to
    .if two_ahead
    step_ahead \height, \vectors, \lane, 0
    .else
    spread_step \height, \vectors, \group, \lane, \from, \to, 0
    .endif
    .endm

/* The last round's; then the next tile, if nothing but whole rounds and rows is left of this one. A
 * single row has no next tile. */
    .macro last_steps height, vectors, group, even, odd
    .if \height > 1
    ldp scratch, rounds, [sp, #KEPT_ROUNDS]
    .endif
    last_step \height, \vectors, \group, 1, \odd, \even
    .if \height > 1
    neg scratch, scratch, lsl #4
    .endif
    last_step \height, \vectors, \group, 2, \even, \odd
    .if \height > 1
    cmp rounds, #0
    ccmp tiles, #1, #4, eq
    ldr rounds, [sp, #KEPT_B]
    .endif
    last_step \height, \vectors, \group, 3, \odd, 0
    .if \height > 1
    b.eq 24f
    store_and_begin \height, \vectors, \group, \even
    b 23b
    .endif
    .endm

/* `odd`: where the rows of B at odd steps are; `even`: where the others are. */
    .macro kernel name, height, vectors, group
    steps \name\()_wide, \height, \vectors, \group, \height, %(\height + \vectors)
    .endm
    .macro steps name, height, vectors, group, even, odd
    .set two_ahead, (\height == 3) & (\vectors == 3) & (\group == 3)
    begin_kernel direct_\name, \height, \vectors, %(\height + 2 * \vectors), 0
    .if \height > 1
    keep_others
    .endif
11: begin_tile \height, \vectors, \group
    cbz rounds, 16f
    begin_steps \height, \vectors, \group, \even
    .if two_ahead
    rounds_ahead \height, \vectors
    .else
    rounds_spread \height, \vectors, \group, \even, \odd
    .endif
    last_steps \height, \vectors, \group, \even, \odd
24: end_kernel direct_\name, \height, \vectors, \group
    .endm

#define KERNEL(height, width) kernel height##x##width, height, %(width / 4), %(width / 4);
#include "kernels/gemm/f32/direct/in_order_list.h"
#undef KERNEL
#define KERNEL(name, height, vectors, group) kernel name, height, vectors, group;
#include "kernels/gemm/f32/direct/groups_list.h"
