/* struct gemm_blocks_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_blocks_tile, blocks, TILE_BLOCKS, 0);
OFFSET(gemm_blocks_tile, block, TILE_BLOCK, 8);
OFFSET(gemm_blocks_tile, a, TILE_A, 16);
OFFSET(gemm_blocks_tile, a_step, TILE_A_STEP, 24);
OFFSET(gemm_blocks_tile, b, TILE_B, 32);
OFFSET(gemm_blocks_tile, scales, TILE_SCALES, 40);
OFFSET(gemm_blocks_tile, c, TILE_C, 48);
OFFSET(gemm_blocks_tile, row, TILE_ROW, 56);
