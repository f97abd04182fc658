/* Strips of listed.h for cores that issue in order, three instructions a cycle of which two
 * multiply and add (Cortex-A510, A520).
 *
 * There every two multiply-adds leave room for one other instruction, which must not write its
 * address as well. A tile of `height` rows and `vectors` vectors keeps its sums in the last height *
 * vectors vector registers and four steps of each row of A in the first `height` ones; between them
 * are `places` vectors of B, which replace each other: number l is in the register l % places of
 * these, and is loaded when vector l - places is no longer needed. `ahead` of them are there before a
 * round begins; with two vectors in a row there could be more, but rows of A come last in a round and
 * must not have to wait for these: the last two multiply-adds share a cycle with the branch.
 *
 * A round is four steps of k, and multiplies one row after the other with the vectors of a step. But
 * 7x12 has only four places: there all but the last step multiply one vector after the other with all
 * rows. A round of 7x12 has 84 multiply-adds, 19 loads and four other instructions. */
#include "kernels/gemm/f32/listed/in_order_neon.h"

    .macro load_first_of a, row
    ldr q\a, [x\row]
    .endm
    .macro load_row a, row
    ldr q\a, [x\row, scratch]
    .endm
    .macro load_b number, to, offset
    ldr q\to, [b, #\offset]
    .endm
/* ---- a round ---- */

/* Multiply-add number f: vector q of B, row i. */
    .macro multiply_next height, vectors
    .set q, f / (\height * \vectors) * \vectors + f % \vectors
    .set i, f / \vectors % \height
    .if (places < (2 * \vectors)) & (f < (3 * \height * \vectors))
    .set q, f / \height
    .set i, f % \height
    .endif
    fma %(32 - \height * \vectors + i * \vectors + q % \vectors), %(\height + q % places), %(i), %(q / \vectors)
    .endm

/* The multiply-adds that have to come before vector l can be loaded. */
    .macro find_ready height, vectors
    .set q, l - places
    .set ready, q / \vectors * \height * \vectors + (\height - 1) * \vectors + q % \vectors + 1
    .if places < (2 * \vectors)
    .set ready, (q + 1) * \height
    .endif
    .if l < places
    .set ready, 0
    .endif
    .endm

/* The other instructions: the last row of A and vectors of B for which the round before had no
 * registers; then the vectors after these; among them, what counts rounds, and the next addresses of
 * A and B; then rows of A. `kind`: -1 for the counter, -2 and -3 for the addresses, i for row i, and
 * 8 + l for vector l; `ready`: the multiply-adds that have to come before it. */
    .macro find_op height, vectors
    .set l, ahead - 1 + op
    .if op > (2 * \vectors)
    .set l, ahead - 4 + op
    .endif
    .set kind, 8 + l
    find_ready \height, \vectors
    .if op == 0
    .set kind, \height - 1
    .set ready, 0
    .elseif (op > (2 * \vectors)) & (op <= (2 * \vectors + 3))
    .set kind, 2 * \vectors - op
    .set ready, 0
    .elseif op > (4 * \vectors + 3)
    .set kind, op - 4 * \vectors - 4
    .set ready, (3 * \height + kind + 1) * \vectors
    .endif
    .endm
    .macro other_op height, vectors
    .if kind == (0 - 1)
    subs pairs, pairs, #1
    .elseif kind == (0 - 2)
    add scratch, scratch, #16
    .elseif kind == (0 - 3)
    add b, b, #64 * \vectors
    .set moved, 64 * \vectors
    .elseif kind < 8
    load_row %(kind), %(8 + kind)
    .else
    load_b %(l), %(\height + l % places), %(16 * l - moved)
    .endif
    .set op, op + 1
    .endm

/* Four steps of k, and loads for the next round. */
    .macro round height, vectors
    .set ops, 4 * \vectors + \height + 3
    .set apart, 2
    .if (4 * \height * \vectors) < (2 * ops)
    .set apart, 1
    .endif
    .set at_once, 1
    .if \height == 1 /* or loads would come too late */
    .set at_once, 2
    .endif
    .set moved, 0
    .set op, 0
    .set f, 0
    .rept 4 * \height * \vectors
    .rept at_once
    .if (op < ops) & (f % apart == 0)
    find_op \height, \vectors
    .if ready <= f
    other_op \height, \vectors
    .endif
    .endif
    .endr
    multiply_next \height, \vectors
    .set f, f + 1
    .endr
    .rept ops
    .if op < ops
    find_op \height, \vectors
    other_op \height, \vectors
    .endif
    .endr
    .endm

/* The last one: loads nothing beyond it. */
    .macro last_round height, vectors
    load_row %(\height - 1), %(7 + \height)
    .set l, ahead
    .set f, 0
    .rept 4 * \height * \vectors
    find_ready \height, \vectors
    .if (l < (4 * \vectors)) & (ready <= f)
    load_b %(l), %(\height + l % places), %(16 * l)
    .set l, l + 1
    .endif
    multiply_next \height, \vectors
    .set f, f + 1
    .endr
    add b, b, #64 * \vectors
    .endm

/* ---- a tail ---- */

/* The last round of a segment with a tail. When a row of A is through, its register gets the last
 * four values of the segment: those of the tail are in its last lanes. Vector j of B's first row of
 * the tail goes to register j of those for B; with four places the last step needs all but one. */
    .macro last_round_before_tail height, vectors
    load_row %(\height - 1), %(7 + \height)
    ldr pairs, [strip, #STRIP_TAIL]
    .set l, ahead
    .set f, 0
    .set op, 0
    .rept 4 * \height * \vectors
    find_ready \height, \vectors
    .if (l < (4 * \vectors)) & (ready <= f)
    load_b %(l), %(\height + l % places), %(16 * l)
    .set l, l + 1
    .elseif f % apart == 0
    find_tail_op \height, \vectors
    .if ready <= f
    tail_op \height, \vectors
    .endif
    .endif
    multiply_next \height, \vectors
    .set f, f + 1
    .endr
    .rept \height + \vectors
    tail_op \height, \vectors
    .endr
    add b, b, #64 * \vectors
    .endm

/* The address of the values, the comparison that finds the first step, vector 0 of B, the others if
 * there are places, rows, and the other vectors. */
    .macro find_tail_op height, vectors
    .set early, \vectors
    .if places < (2 * \vectors)
    .set early, 1
    .endif
    .set row_op, op - 2 - early
    .set ready, 3 * \height * \vectors
    .if op < 2
    .set ready, \height * \vectors
    .elseif row_op >= \height
    .set ready, 4 * \height * \vectors
    .elseif row_op >= 0
    .set ready, (3 * \height + row_op + 1) * \vectors
    .endif
    .endm
    .macro tail_op height, vectors
    find_tail_op \height, \vectors
    .if op == 0
    add scratch, scratch, pairs, lsl #2
    .elseif op == 1
    cmp pairs, #2
    .elseif row_op < 0
    load_b 0, %(\height + op - 2), %(64 * \vectors + 16 * (op - 2))
    .elseif row_op < \height
    load_row %(row_op), %(8 + row_op)
    .elseif early + row_op - \height < \vectors
    load_b 0, %(\height + early + row_op - \height), %(64 * \vectors + 16 * (early + row_op - \height))
    .endif
    .set op, op + 1
    .endm

/* A step of the tail by lanes of A, and loads for the next one. */
    .macro tail_step height, vectors, lane
    .set f, 0
    .rept \height * \vectors
    .set q, f / \height
    .set i, f % \height
    fma %(32 - \height * \vectors + i * \vectors + q), %(\height + q), %(i), \lane
    .set f, f + 1
    .if (\lane < 3) & (f % \height == 0)
    load_b 0, %(\height + q), %(16 * \vectors + 16 * q)
    .endif
    .endr
    add b, b, #16 * \vectors
    .endm

    .macro find_tail
    ldr x8, [strip, #STRIP_TAIL]
    cmp x8, #0
    cset x8, ne
    .endm

/* The last round and the tail of a segment. */
    .macro finish_segment height, vectors
35: last_round_before_tail \height, \vectors
    b.lo 38f
    b.eq 37f
    tail_step \height, \vectors, 1
37: tail_step \height, \vectors, 2
38: tail_step \height, \vectors, 3
    b 26f
    .endm

/* ---- before a round ---- */

/* What there has to be: other rows of A, vectors of B. */
    .macro first_load height
    .if op < (\height - 1)
    load_first_of %(op), %(8 + op)
    .else
    load_b 0, %(op + 1), %(16 * (op + 1 - \height))
    .endif
    .set op, op + 1
    .endm
    .macro first_loads height, vectors
    .set op, 0
    .rept \height + ahead - 1
    first_load \height
    .endr
    .endm

/* The same, and sums of zero. */
    .macro first_loads_and_clear height, vectors
    .set op, 0
    .set f, 0
    .rept \height * \vectors
    clear %(32 - \height * \vectors + f)
    .set f, f + 1
    .if (f % 2 == 0) & (op < (\height + ahead - 1))
    first_load \height
    .endif
    .endr
    .rept \height + ahead - 1
    .if op < (\height + ahead - 1)
    first_load \height
    .endif
    .endr
    .endm

/* ---- a tile ---- */

    .macro all_rounds height, vectors
    mov scratch, #0
    subs pairs, rounds, #1
    b.eq 14f
13: round \height, \vectors
    b.ne 13b
14: tbnz special, #HAS_TAIL, 35f
    last_round \height, \vectors
    .endm

    .macro kernel height, width, vectors
    .set places, 4
    .if \vectors == 2
    .set places, 8
    .elseif (\vectors == 3) & (\height < 7)
    .set places, 6
    .endif
    .set ahead, places - \vectors
    .if \vectors == 2
    .set ahead, 4
    .endif
    kernel_by \height\()x\width\()_wide, \height, \vectors
    .endm

    all_heights kernel, 12, 3
    all_heights kernel, 8, 2
    all_heights kernel, 4, 1
