/* Tiles of bf16 by BFMMLA, which has four values of each row and column; one row by BFDOT. */
#include "kernels/gemm/mmla_neon.h"

    .set sums_are_integers, 0

/* Halves of four floats. */
    .macro narrow to, from
    bfcvtn v\to\().4h, v\from\().4s
    .endm
    .macro narrow_more to, from
    bfcvtn2 v\to\().8h, v\from\().4s
    .endm

    .macro mmla sum, a, b
    bfmmla v\sum\().4s, v\a\().8h, v\b\().8h
    .endm
    .macro dot sum, b, a
    bfdot v\sum\().4s, v\b\().8h, v\a\().8h
    .endm
    .macro add_sums sum, other
    fadd v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm
    .macro add_pairs sum, low, high
    faddp v\sum\().4s, v\low\().4s, v\high\().4s
    .endm

    mmla_tiles gemm_bf16_mmla_tiles
