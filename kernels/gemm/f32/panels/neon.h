/* What the tiles of panels.h share, beside what they share with other tiles: how bias is added. */
/* clang-format off */
    .set columns_vary, 1
#include "kernels/gemm/f32/rows_neon.h"

/* To the first vectors of a row; scratch goes on to the bias of what follows. */
    .macro add_whole_bias height, vectors, whole
    .set j, 0
    .rept \whole
    ldr q0, [scratch], #16
    add_bias_at \height, \vectors, %(j)
    .set j, j + 1
    .endr
    .endm
    .macro add_bias_at height, vectors, j
    each i, \height, add_to %(32 - (\height - i) * \vectors + \j), 0
    .endm
