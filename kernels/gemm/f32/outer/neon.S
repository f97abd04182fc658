/* Tiles of direct.h for NEON, which read columns of A: each step of k adds the product of a
 * piece of A's column by a piece of B's row. One or two loads bring the column, where a row's tile
 * needs one for each row and four steps: 8x12 has 24 FMLA in 27 instructions, and needs but five
 * registers beside its sums. */
#include "kernels/gemm/f32/outer/neon.h"

    .macro outer_round height, vectors, first_op=fmla
    one_step \height, \vectors, \first_op
    times 3, one_step \height, \vectors
    .endm

    .macro kernel name, height, vectors
    begin_kernel outer_\name, \height, \vectors, %(2 + \vectors), 0
11: mov x8, next
    ldp x4, rounds, [sp, #KEPT_B]
    cbz rounds, 16f
    outer_round \height, \vectors, fmul
    subs rounds, rounds, #1
    b.eq 13f
12: outer_round \height, \vectors
    subs rounds, rounds, #1
    b.ne 12b
    end_kernel outer_\name, \height, \vectors, \vectors, columns_tails, next_columns
    .endm

#define KERNEL(height, width) kernel height##x##width, height, %(width / 4);
#include "kernels/gemm/f32/outer/list.h"
