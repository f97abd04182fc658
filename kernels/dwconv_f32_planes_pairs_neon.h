/* What the assembly for planes in place with stride 2 in pairs shares (dwconv_f32_planes.h).
 *
 * To separate even columns from odd ones takes the pipes of FMLA. So most columns are used as they
 * lie: two pairs of neighbours in a vector go with the weights of two neighbouring columns of the
 * kernel, twice. Even and odd lanes have sums of their own, and one FADDP of two vectors of them
 * makes four values of dst. Only the column of the kernel that is left over wants every other
 * column of source, by one UZP1 for four of them; it then serves all rows of dst it reaches. */
/* clang-format off */
#include "kernels/dwconv_f32_planes_neon.h"

to .req x3
/* x4 … x7: from a row's first weight to the others; and to the next row */
weights_row .req x8

/* ---- one instruction each ---- */

    .macro shift_out x, zero, bytes
    ext v\x\().16b, v\x\().16b, v\zero\().16b, #\bytes
    .endm
    .macro every_other op, to, x, y
    \op v\to\().4s, v\x\().4s, v\y\().4s
    .endm
    .macro find_bytes to, x, y, bytes
    tbl v\to\().16b, {v\x\().16b, v\y\().16b}, v\bytes\().16b
    .endm
    .macro add_neighbours to, first, second
    faddp v\to\().4s, v\first\().4s, v\second\().4s
    .endm
/* By a general register, whose way to vectors takes the pipes neither of FMLA nor of loads. */
    .macro spread_pair to, from
    dup v\to\().2d, \from
    .endm

/* ---- the weights of 3x3: of pairs in v(PAIR_WEIGHTS) to v(PAIR_WEIGHTS + 2), of the single column in
 * lanes of v(PAIR_WEIGHTS + 3) ---- */

/* To x5, x7, x(middle) and the stack, where they wait; `from`, x6 and x16 are lost. */
    .macro fetch_weights_3x3 from, middle
    lsl x5, w_tap, #1
    ldr w6, [\from]
    fetch_two 7, \from
    add \from, \from, weights_row
    ldr w16, [\from]
    orr x6, x6, x16, lsl #32
    fetch_two \middle, \from
    add \from, \from, weights_row
    ldr w16, [\from]
    stp x6, x16, [sp, #at_locals + 32]
    ldr w16, [\from, x5]
    ldr w5, [\from, w_tap]
    orr x5, x5, x16, lsl #32
    .endm
    .macro fetch_two to, from
    ldr w16, [\from, x5]
    ldr w\to, [\from, w_tap]
    orr x\to, x\to, x16, lsl #32
    .endm
    .macro spread_weights_3x3 middle
    spread_pair %(PAIR_WEIGHTS), x7
    spread_pair %(PAIR_WEIGHTS + 1), x\middle
    spread_pair %(PAIR_WEIGHTS + 2), x5
    load_local %(PAIR_WEIGHTS + 3), 32
    .endm
    .macro load_local to, at
    ldr q\to, [sp, #at_locals + \at]
    .endm
/* The bias of a plane; its upper half is zero. */
    .macro load_bias to
    ldr \to, [bias]
    add bias, bias, bias_next
    .endm
