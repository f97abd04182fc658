/* What the assembly files of these tiles share: one step of k, and what is left of it after rounds.
 */

/* clang-format off */
#include "kernels/gemm/f32/direct/neon.h"

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

/* What is left of k after the rounds: 17 steps on from them, 16 begins without one. */
    .macro columns_tails height, vectors, group
16: ldr scratch, [strip, #strip.tail]
    clear_all %(32 - \height * \vectors), %(\height * \vectors)
    cbz scratch, 9f
17: begin_tail \height, \vectors, \group
18: one_step \height, \vectors
    subs scratch, scratch, #1
    b.ne 18b
    .endm

    .macro next_columns height
    add next, next, #4 * \height
    .endm
