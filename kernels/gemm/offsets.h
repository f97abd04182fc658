/* struct gemm_tile, to assembly. */
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
