/* Tiles of f16 with sums of f32, by FMLAL: a vector of B has columns for two of sums. */
#include "kernels/gemm/lanes_neon.h"

    .set lane_bytes, 2
    .set b_bytes, 8

    .macro mac sum, b, a, lane, half
    .if \half
    fmlal2 v\sum\().4s, v\b\().4h, v\a\().h[\lane]
    .else
    fmlal v\sum\().4s, v\b\().4h, v\a\().h[\lane]
    .endif
    .endm
    .macro add_sets sum, other
    fadd v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm

    lanes_tiles gemm_f16_long_tiles
