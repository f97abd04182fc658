/* Tiles of f16 with sums of f32, by FMLAL: a vector of B has columns for two of sums. */
#include "kernels/gemm/lanes_neon.h"

    .set lane_bytes, 2
    .set b_bytes, 8
    .set sums_are_integers, 0

/* Halves of four floats. */
    .macro narrow to, from
    fcvtn v\to\().4h, v\from\().4s
    .endm
    .macro narrow_more to, from
    fcvtn2 v\to\().8h, v\from\().4s
    .endm

    .macro mac sum, b, a, lane, half
    when \half, fmlal2 v\sum\().4s, v\b\().4h, v\a\().h[\lane]
    otherwise fmlal v\sum\().4s, v\b\().4h, v\a\().h[\lane]
    .endm
    .macro add_sets to, sum, other
    fadd v\to\().4s, v\sum\().4s, v\other\().4s
    .endm

    lanes_tiles gemm_f16_long_tiles
