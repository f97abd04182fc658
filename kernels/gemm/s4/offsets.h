/* struct gemm_s4_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_s4_tile, tile, 0, 8, blocks, block, a, b, c, row, starts, row_scales);
OFFSETS(gemm_s4_tile, tile, 72, 8, add);
