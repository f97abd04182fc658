/* What the assembly for planes in place with stride 2 in pairs shares (planes.h).
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them
 * makes four values of dst. Only the column of the kernel that is left over wants every other
 * column of source, by one UZP1 for four of them; it then serves all rows of dst it reaches. */
/* clang-format off */
#include "kernels/depthwise/f32/planes/neon.h"

to .req x3
/* x4 … x7: from a row's first weight to the others; and to the next row */
weights_row .req x8

/* ---- one instruction each ---- */

    .macro find_bytes to, x, y, bytes
    tbl v\to\().16b, {v\x\().16b, v\y\().16b}, v\bytes\().16b
    .endm

/* ---- the weights of 3x3: of pairs in v(PAIR_WEIGHTS) to v(PAIR_WEIGHTS + 2), of the single column in
 * lanes of v(PAIR_WEIGHTS + 3) ---- */

/* To registers x(first) … x(first + 2) and the stack, where they wait. from, step (to the next row of
 * weights), single: numbers of registers, too; `from`, `single` and `scratch` are lost. */
    .macro fetch_weights_3x3 from, step, first, single
    lsl x\first, w_tap, #1
    ldr w\single, [x\from]
    fetch_pair_of %(\first + 1), \from, \first
    add x\from, x\from, x\step
    ldr w16, [x\from]
    orr x\single, x\single, x16, lsl #32
    fetch_pair_of %(\first + 2), \from, \first
    add x\from, x\from, x\step
    ldr w16, [x\from]
    stp x\single, x16, [sp, #at_locals + 32]
    fetch_pair_of \first, \from, \first
    .endm
    .macro fetch_pair_of to, from, second
    ldr w16, [x\from, x\second]
    ldr w\to, [x\from, w_tap]
    orr x\to, x\to, x16, lsl #32
    .endm
/* Those of the plane after this one, if there is one: the flags say `ne`. */
    .macro fetch_next_weights_3x3 from, step, first, single
    cmp planes, #1
    cset x\from, ne
    add x\from, weights, x\from, lsl #2
    fetch_weights_3x3 \from, \step, \first, \single
    .endm
    .macro spread_weights_3x3 first
    each i, 3, spread_weights_of %(PAIR_WEIGHTS + i), %(\first + (i + 1) % 3)
    load_q %(PAIR_WEIGHTS + 3), [sp, #at_locals + 32]
    .endm
    .macro spread_weights_of to, from
    spread_pair \to, x\from
    .endm
/* The bias of a plane; its upper half is zero. */
    .macro load_bias to
    ldr \to, [bias]
    add bias, bias, bias_next
    .endm
