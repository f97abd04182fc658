/* struct gemm_s4_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_s4_tile, blocks, TILE_BLOCKS, 0);
OFFSET(gemm_s4_tile, block, TILE_BLOCK, 8);
OFFSET(gemm_s4_tile, a, TILE_A, 16);
OFFSET(gemm_s4_tile, b, TILE_B, 24);
OFFSET(gemm_s4_tile, c, TILE_C, 32);
OFFSET(gemm_s4_tile, row, TILE_ROW, 40);
OFFSET(gemm_s4_tile, starts, TILE_STARTS, 48);
OFFSET(gemm_s4_tile, row_scales, TILE_ROW_SCALES, 56);
OFFSET(gemm_s4_tile, add, TILE_ADD, 72);
