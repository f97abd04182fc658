/* Tiles of direct.h with four sums of each element, for NEON: so few of them that one sum
 * each would wait for itself.
 *
 * The sums that steps add to which are the first of four, or alone, are in the last height * vectors
 * vector registers, those of the second ones before them, and so on. Values of A's rows are in the
 * first `height` registers, and B's vectors behind them. 1x8 takes 8 FMLA in 15 instructions, which
 * wait for a multiply-add once. */
    .set parts, 4
    .set steps_differ, 1
#include "kernels/gemm/f32/rows_neon.h"

    .macro round_step height, vectors, group, lane, op=fmla
    load_b 4, \group, \height
    .set sum, 32 - (\lane + 1) * \height * \vectors
    multiply_tile \op, \height, \vectors, %sum, \vectors, \height, 0, \lane
    .endm

    .macro clear_parts height, vectors
31: clear_all %(32 - 2 * \height * \vectors), %(\height * \vectors)
32: clear_all %(32 - 3 * \height * \vectors), %(\height * \vectors)
33: clear_all %(32 - 4 * \height * \vectors), %(\height * \vectors)
    b 12b
    .endm

/* The first and the second, the third and the last, then these two. */
    .macro join_parts height, vectors
    .set i, 0
    .rept \height * \vectors
    add_to %(31 - i), %(31 - \height * \vectors - i)
    add_to %(31 - 2 * \height * \vectors - i), %(31 - 3 * \height * \vectors - i)
    .set i, i + 1
    .endr
    each i, %(\height * \vectors), add_to %(31 - i), %(31 - 2 * \height * \vectors - i)
    .endm

#define KERNEL(height, width) \
    rows_kernel direct_##height##x##width##_parts, height, %(width / 4), %(width / 4), %(width / 4), width;
#include "kernels/gemm/f32/direct/parts_list.h"
