/* Strips of planes.h for NEON.
 *
 * A tile of V vectors of rows and `width` columns keeps its sums in the last V * width vector
 * registers, column after column; rows of A are the vectors, in v0 … v3, and values of B the lanes
 * of v4 … v7. Four steps of k take 4 * V * width FMLA, four LD1 of A and width / 4 of B: 8x12 has 96
 * FMLA in 105 instructions.
 *
 * A core that reorders hides what is in one block with many FMLA. So the first round, whose FMUL
 * need no sums of zero, begins the tile, and the last one stores it; `special` is one flag for all
 * that is not always there. */
#include "kernels/gemm/f32/planes/neon.h"

    .macro step op, V, width, a, number
    several ld1, \V, \a, in, a_step
    products \op, \V, \width, \a, %(\number * \width), 1
    .endm

/* Where there is room, two steps' rows of A have registers of their own. */
    .macro round V, width, first_op=fmla
    .set apart, (3 - \V) / 2 * \V
    step \first_op, \V, \width, 0, 0
    step fmla, \V, \width, %(apart), 1
    step fmla, \V, \width, 0, 2
    step fmla, \V, \width, %(apart), 3
    .endm

    .macro kernel name, V, width
    begin_strip \name
    /* rounds between the first and the last one; there is no last one if something is special */
    cmp special, #0
    cset middle, ne
    add middle, middle, rounds
    subs middle, middle, #2
    b.lo 20f

11: begin_tile
    mov count, middle
    round \V, \width, fmul
    cbz tail, 13f
    mov column, tail
12: single_step \V, \width
    subs column, column, #1
    b.ne 12b
13: cbz count, 15f
14: round \V, \width
    subs count, count, #1
    b.ne 14b
15: cbnz special, 22f
    round \V, \width
    store_columns \V, \width
    next_tile \V
    b.ne 11b
    b 30f

    /* too few rounds */
20: begin_tile
    clear_all %(32 - \V * \width), %(\V * \width)
    adds count, tail, rounds, lsl #2
    b.eq 22f
21: single_step \V, \width
    subs count, count, #1
    b.ne 21b

22: finish_sums \V, \width
    store_columns \V, \width
    next_tile \V
    b.eq 30f
    tbz middle, #63, 11b
    b 20b
30: pop_and_return
    end_function gemm_f32_planes_\name\()_neon
    .endm

    all_kernels
