/* Tiles of f16 with sums of f16, by FMLA: eight columns a vector. */
#include "kernels/gemm/lanes_neon.h"

    .set lane_bytes, 2
    .set b_bytes, 16
    .set sums_are_halves, 1
    .set has_ends, 0

    .macro mac sum, b, a, lane, half
    fmla v\sum\().8h, v\b\().8h, v\a\().h[\lane]
    .endm
    .macro add_sets to, sum, other
    fadd v\to\().8h, v\sum\().8h, v\other\().8h
    .endm

    lanes_tiles gemm_f16_tiles
