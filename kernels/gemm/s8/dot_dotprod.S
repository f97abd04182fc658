/* Tiles of s8 by SDOT: a lane has four values of a row, a vector of B four of each of four columns. */
#include "kernels/gemm/lanes_neon.h"

    .set lane_bytes, 4
    .set b_bytes, 16
    .set sums_are_integers, 1

    .macro mac sum, b, a, lane, half
    sdot v\sum\().4s, v\b\().16b, v\a\().4b[\lane]
    .endm
    .macro add_sets to, sum, other
    add v\to\().4s, v\sum\().4s, v\other\().4s
    .endm

    lanes_tiles gemm_s8_dot_tiles
