/* Multiply-adds, and loads and other instructions among them, for cores that issue two instructions
 * in order (Cortex-A53, A55). Loads are of halves: one of 128 bits takes both issue slots for two
 * cycles. */

/* clang-format off */
#include "kernels/asm/assembly_neon.h"

    .set n, 0 /* the multiply-add */

/* So many multiply-adds, number n by the file's multiply_next; what takes no cycle of its own, by
 * next_other, after each; then what there was no room for. */
    .macro multiply_all op, count
    .set n, 0
    .rept \count
    multiply_next \op
    next_other
    .set n, n + 1
    .endr
    each_from n, 100, 60, next_other
    .endm

/* A half: the lower one, then the upper one through x19 or x20, which goes to its place three
 * multiply-adds later. halved: the upper one is still to be loaded; waiting: so many are to go to
 * their places, the first one after multiply-add waiting_until. */
    .set halved, 0
    .set waiting, 0
    .set waiting_until, 0
    .set half, 0

/* A vector, or its next half; full: not only its lower half. */
    .macro load_some vector, from, place, full=1
    .if !halved
    ldr d\vector, [\from, #\place]
    .set halved, \full
    .else
    load_upper %(19 + half), \vector, \from, %(\place + 8)
    .endif
    .endm
    .macro load_upper register, vector, from, place
    ldr x\register, [\from, #\place]
    .set halved, 0
    .set waiting, waiting + 1
    .if waiting == 1
    .set waiting_vector, \vector
    .set waiting_until, n + 3
    .else
    .set later_vector, \vector
    .set later_until, n + 3
    .endif
    .set half, 1 - half
    .endm
/* What counts loads goes on when both halves are on their way. */
    .macro count_if_whole counter
    when %(!halved), .set \counter, \counter + 1
    .endm
    .macro insert_upper
    .set oldest, half
    when %(waiting == 1), .set oldest, 1 - half
    insert_half %(waiting_vector), %(19 + oldest)
    .set waiting, waiting - 1
    .if waiting
    .set waiting_vector, later_vector
    .set waiting_until, later_until
    .endif
    .endm
