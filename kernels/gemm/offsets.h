/* struct gemm_tile, and how it ends, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_tile, groups, TILE_GROUPS, 0);
OFFSET(gemm_tile, a, TILE_A, 8);
OFFSET(gemm_tile, b, TILE_B, 16);
OFFSET(gemm_tile, sums, TILE_SUMS, 24);
OFFSET(gemm_tile, row, TILE_ROW, 32);
OFFSET(gemm_tile, start, TILE_START, 40);
OFFSET(gemm_tile, mr, TILE_MR, 48);
OFFSET(gemm_tile, nr, TILE_NR, 52);
OFFSET(gemm_tile, add, TILE_ADD, 64);
OFFSET(gemm_tile, tiles, TILE_TILES, 68);
OFFSET(gemm_tile, end, TILE_END, 72);
OFFSET(gemm_tile, ahead, TILE_AHEAD, 80);
OFFSET(gemm_tile, beside, TILE_BESIDE, 88);

OFFSET(gemm_finish, row_scales, FINISH_ROW_SCALES, 48);
OFFSET(gemm_finish, scales, FINISH_SCALES, 56);
OFFSET(gemm_finish, offsets, FINISH_OFFSETS, 64);
OFFSET(gemm_finish, dst, FINISH_DST, 72);
OFFSET(gemm_finish, dst_row, FINISH_DST_ROW, 80);
OFFSET(gemm_finish, is_float, FINISH_IS_FLOAT, 88);
OFFSET(gemm_finish, is_clamped, FINISH_IS_CLAMPED, 92);
OFFSET(gemm_finish, is_requantized, FINISH_IS_REQUANTIZED, 96);
OFFSET(gemm_finish, low, FINISH_LOW, 100);
OFFSET(gemm_finish, high, FINISH_HIGH, 104);
OFFSET(gemm_finish, divisor, FINISH_DIVISOR, 108);
OFFSET(gemm_finish, reciprocal, FINISH_RECIPROCAL, 112);
OFFSET(gemm_finish, rest, FINISH_REST, 116);
OFFSET(gemm_finish, zero, FINISH_ZERO, 120);
OFFSET(gemm_finish, to, FINISH_TO, 124);

CONSTANT(ELEMENT_F32, 0);
CONSTANT(ELEMENT_U8, 5);
