/* struct gemm_blocks_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_blocks_tile, tile, 0, 8, blocks, block, a, a_step, b, scales, c, row);
