/* Tiles of direct.h that read columns of A for cores that issue two instructions in order: the steps
 * of kernels/gemm/f32/steps_in_order_neon.h, with rows of B for vectors and columns of A for lanes. */
    .set stores_are_pairs, 1
    .set lanes_apart, 1
    .set high_temp, 19
#include "kernels/gemm/f32/outer/neon.h"
#include "kernels/gemm/f32/steps_in_order_neon.h"

in .req x4
by .req x8
count .req x9

    .macro next_vectors
    add in, in, ldb
    .endm
    .macro next_lanes
    add by, by, lda
    .endm

    .macro kernel name, height, vectors
    set_kind \vectors, \height
    begin_kernel outer_\name\()_narrow, \height, \vectors, %(2 * \vectors + lane_registers), 1
11: mov by, next
    ldp in, rounds, [sp, #KEPT_B]
    cbz rounds, 16f
    sub count, rounds, #1
    rounds_of_steps fmul, \vectors, \height
    end_kernel outer_\name\()_narrow, \height, \vectors, \vectors, columns_tails, next_columns
    .endm

#define KERNEL(height, width) kernel height##x##width, height, %(width / 4);
#include "kernels/gemm/f32/outer/in_order_list.h"
