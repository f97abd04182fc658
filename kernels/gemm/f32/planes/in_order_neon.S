/* Strips of planes.h for cores that issue in order: the tiles of
 * kernels/gemm/f32/planes/neon.S, with the steps of kernels/gemm/f32/steps_in_order_neon.h. */
#include "kernels/gemm/f32/steps_in_order_neon.h"
#include "kernels/gemm/f32/planes/neon.h"

by .req x12 /* b */

    .macro next_vectors
    add in, in, a_step
    .endm

    .macro kernel name, V, width
    begin_strip \name\()_narrow
    set_kind \V, \width
11: begin_tile
    subs count, rounds, #1
    b.lo 15f
    rounds_of_steps fmul, \V, \width
    cbnz tail, 17f
14: cbnz special, 18f
19: store_columns \V, \width
    next_tile \V
    b.ne 11b
    pop_and_return

15: clear_all %(32 - \V * \width), %(\V * \width)
    cbz tail, 14b
17: mov count, tail
10: single_step \V, \width
    subs count, count, #1
    b.ne 10b
    cbz special, 19b
18: finish_sums \V, \width
    b 19b
    end_function gemm_f32_planes_\name\()_narrow_neon
    .endm

    all_kernels
