/* Tiles of s8 by SMMLA, which has eight values of each row and column; one row by SDOT. */
#include "kernels/gemm/mmla_neon.h"

    .set sums_are_integers, 1

    .macro mmla sum, a, b
    smmla v\sum\().4s, v\a\().16b, v\b\().16b
    .endm
    .macro dot sum, b, a
    sdot v\sum\().4s, v\b\().16b, v\a\().16b
    .endm
    .macro add_sums sum, other
    add v\sum\().4s, v\sum\().4s, v\other\().4s
    .endm
    .macro add_pairs sum, low, high
    addp v\sum\().4s, v\low\().4s, v\high\().4s
    .endm

    mmla_tiles gemm_s8_mmla_tiles
