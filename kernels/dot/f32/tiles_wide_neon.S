/* The whole rounds of dot.h as in tiles_neon.S, for cores that issue in order, three
 * instructions a cycle of which two multiply and add (Cortex-A510, A520): one load lies between two
 * multiply-adds, and none also writes its address: `at` says how far rows and columns are.
 *
 * Rows are multiplied in groups of eight, or of all if there are fewer; while a group is multiplied
 * the next one comes, row by row into the same eight registers, and a vector of each column if it is
 * the next one of those too. 4x4 takes 32 FMLA in 52 instructions; 16x1 has more loads than FMLA. */
#include "kernels/dot/f32/tiles_in_order_neon.h"

    .set pointers_move, 0

at .req x3 /* once the columns' pointers are known */

    .macro load to, row
    ldr q\to, [x\row, at]
    .endm
    .macro store_two s0, s1, offset
    stp q\s0, q\s1, [sums, #\offset]
    .endm

/* Group g of a round: vector g * group / R of k, rows from g * group % R on. Number `op` of what it
 * loads: the next vector's address and columns, if it is the first group of one; rows. */
    .macro load_for_group R, C, g
    .set vector, \g * group / \R
    .set first_row, \g * group % \R
    .set number, op
    .if first_row == 0
    .set number, op - \C - 1
    .endif
    .if number >= 0
    set_row %(first_row + number)
    load %((\g * group + number) % 8), %(row)
    .elseif number == (0 - \C - 1)
    add at, at, #16
    .elseif number == (0 - \C)
    load %(32 - \R * \C - 2 * \C + vector * \C), 2
    .else
    load %(32 - \R * \C - \C + vector * \C + number), %(12 + \C + number)
    .endif
    .set op, op + 1
    .endm
    .macro count_loads R, C, g
    .set ops, group
    .if \g * group % \R == 0
    .set ops, group + \C + 1
    .endif
    .endm

/* Multiplies group g; loads group `next`, unless that is -1, and counts the round if `last` is 1. */
    .macro multiply_group R, C, g, next, last=0
    .set ops, 0
    .if \next >= 0
    count_loads \R, \C, \next
    .endif
    .set op, 0
    .set f, 0
    .rept group * \C
    .set i, f / \C
    .if op < ops
    .set ready, 0
    .if (group == 8) & (op >= (ops - group))
    .set ready, (op - (ops - group) + 1) * \C
    .endif
    .if (ready <= f) & (op * group * \C <= f * ops)
    load_for_group \R, \C, \next
    .endif
    .endif
    fma %(32 - \R * \C + (\g * group % \R) * \C + f), %((\g * group + i) % 8), %(32 - \R * \C - 2 * \C + (\g * group / \R) * \C + f % \C)
    .set f, f + 1
    .endr
    .if \last
    subs rounds, rounds, #1
    .endif
    .rept ops
    .if op < ops
    load_for_group \R, \C, \next
    .endif
    .endr
    .endm

    .macro load_group_0 R, C
    count_loads \R, \C, 0
    .set op, 0
    .rept ops
    load_for_group \R, \C, 0
    .endr
    .endm

    .macro begin_rounds
    mov at, #-16
    .endm

    all_tiles wide
