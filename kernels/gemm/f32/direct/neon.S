/* Tiles of direct.h for NEON.
 *
 * A tile of `height` rows and `vectors` vectors keeps its sums in the last height * vectors vector
 * registers, four steps of each row of A in the first `height` ones, and a group of B's vectors
 * between them. Four steps of k take `height` loads of A, four LD1 for each group of B, 4 * height *
 * vectors FMLA and two instructions of the loop: 7x12 has 84 FMLA in 97 instructions, 5x16 80 in
 * 91, 4x24 96 in 110. */
#include "kernels/gemm/f32/rows_neon.h"

#define KERNEL(height, width, vectors, group) \
    rows_kernel direct_##height##x##width, height, vectors, group, group, vectors##_##group;
#include "kernels/gemm/f32/direct/list.h"
