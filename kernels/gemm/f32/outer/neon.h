/* What the assembly files of these tiles share. A file has a macro for one step of k
 * that moves on to the next one:
 *
 *   one_step height, vectors */

/* clang-format off */
#include "kernels/gemm/f32/direct/neon.h"

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
