/* Tiles of bf16 by BFDOT: a lane has two values of a row, a vector of B two of each of four columns. */
#include "kernels/gemm/lanes_neon.h"

    .set lane_bytes, 4
    .set b_bytes, 16
    .set sums_are_integers, 0

/* Halves of four floats. */
    .macro narrow to, from
    bfcvtn v\to\().4h, v\from\().4s
    .endm
    .macro narrow_more to, from
    bfcvtn2 v\to\().8h, v\from\().4s
    .endm

    .macro mac sum, b, a, lane, half
    bfdot v\sum\().4s, v\b\().8h, v\a\().2h[\lane]
    .endm
    .macro add_sets to, sum, other
    fadd v\to\().4s, v\sum\().4s, v\other\().4s
    .endm

    lanes_tiles gemm_bf16_dot_tiles
