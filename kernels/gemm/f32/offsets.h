/* struct gemm_f32_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_f32_tile, k, TILE_K, 0);
OFFSET(gemm_f32_tile, a, TILE_A, 8);
OFFSET(gemm_f32_tile, b, TILE_B, 16);
OFFSET(gemm_f32_tile, c, TILE_C, 24);
OFFSET(gemm_f32_tile, row, TILE_ROW, 32);
OFFSET(gemm_f32_tile, col, TILE_COLUMN, 40);
OFFSET(gemm_f32_tile, bias, TILE_BIAS, 64);
OFFSET(gemm_f32_tile, accumulate, TILE_ACCUMULATE, 72);
OFFSET(gemm_f32_tile, low, TILE_LOW, 76);
OFFSET(gemm_f32_tile, high, TILE_HIGH, 80);
OFFSET(gemm_f32_tile, from, TILE_FROM, 88);
OFFSET(gemm_f32_tile, from_row, TILE_FROM_ROW, 96);
OFFSET(gemm_f32_tile, to, TILE_TO, 104);
