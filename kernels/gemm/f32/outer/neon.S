/* Tiles of direct.h for NEON, which read columns of A: each step of k adds the product of a
 * piece of A's column by a piece of B's row. One or two loads bring the column, where a row's tile
 * needs one for each row and four steps: 8x12 has 24 FMLA in 27 instructions, and needs but five
 * registers beside its sums. */
#include "kernels/gemm/f32/outer/neon.h"

/* A column of `height` values to v0 and v1, exactly these; and to the next one. */
    .macro load_column height
    when %(\height == 3), ldr s1, [x8, #8]
    or_when %(\height == 5), ldr s1, [x8, #16]
    or_when %(\height == 6), ldr d1, [x8, #16]
    or_when %(\height == 7), ldur q1, [x8, #12]
    when %(\height == 1), ld1r {v0.4s}, [x8], lda
    or_when %(\height < 4), ld1 {v0.2s}, [x8], lda
    or_when %(\height < 8), ld1 {v0.4s}, [x8], lda
    otherwise ld1 {v0.4s, v1.4s}, [x8], lda
    .endm

/* Where row i's value is then. */
    .macro find_value height, i
    .set value, \i / 4
    .set lane, \i % 4
    .if (\height == 3) & (\i == 2)
    .set value, 1
    .set lane, 0
    .elseif (\height == 7) & (\i >= 4)
    .set lane, \i - 3
    .endif
    .endm

    .macro one_step height, vectors, op=fmla
    load_column \height
    load_b 4, \vectors, 2
    .set i, 0
    .rept \height
    find_value \height, %(i)
    multiply_row_by \op, \vectors, %(32 - (\height - i) * \vectors), 2, %value, %lane
    .set i, i + 1
    .endr
    .endm

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
