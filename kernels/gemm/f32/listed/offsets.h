/* struct gemm_f32_listed, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_f32_listed, rows, STRIP_ROWS, 0);
OFFSET(gemm_f32_listed, segments, STRIP_SEGMENTS, 8);
OFFSET(gemm_f32_listed, rounds, STRIP_ROUNDS, 16);
OFFSET(gemm_f32_listed, tail, STRIP_TAIL, 24);
OFFSET(gemm_f32_listed, b, STRIP_B, 32);
OFFSET(gemm_f32_listed, b_step, STRIP_B_STEP, 40);
OFFSET(gemm_f32_listed, c, STRIP_C, 48);
OFFSET(gemm_f32_listed, ldc, STRIP_LDC, 56);
OFFSET(gemm_f32_listed, tiles, STRIP_TILES, 64);
OFFSET(gemm_f32_listed, panels, STRIP_PANELS, 72);
OFFSET(gemm_f32_listed, bias, STRIP_BIAS, 80);
OFFSET(gemm_f32_listed, accumulate, STRIP_ACCUMULATE, 88);
OFFSET(gemm_f32_listed, clamp, STRIP_CLAMP, 92);
OFFSET(gemm_f32_listed, low, STRIP_LOW, 96);
OFFSET(gemm_f32_listed, high, STRIP_HIGH, 100);
OFFSET(gemm_f32_listed, from, STRIP_FROM, 112);
OFFSET(gemm_f32_listed, from_row, STRIP_FROM_ROW, 120);
OFFSET(gemm_f32_listed, to, STRIP_TO, 128);
OFFSET(gemm_f32_listed, missing, STRIP_MISSING, 136);
OFFSET(gemm_f32_listed, a, STRIP_A, 144);
OFFSET(gemm_f32_listed, a_row, STRIP_A_ROW, 152);
OFFSET(gemm_f32_listed, b_eights, STRIP_B_EIGHTS, 160);
OFFSET(gemm_f32_listed, eights_step, STRIP_EIGHTS_STEP, 168);
OFFSET(gemm_f32_listed, eights, STRIP_EIGHTS, 176);
OFFSET(gemm_f32_listed, columns, STRIP_COLUMNS, 184);
OFFSET(gemm_f32_listed, column_step, STRIP_COLUMN_STEP, 192);
OFFSET(gemm_f32_listed, b_skip, STRIP_B_SKIP, 200);
OFFSET(gemm_f32_listed, ahead, STRIP_AHEAD, 208);
OFFSET(gemm_f32_listed, ahead_step, STRIP_AHEAD_STEP, 216);
