/* struct gemm_f32_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_f32_tile, tile, 0, 8, k, a, b, c, row, col, n, bias);
OFFSETS(gemm_f32_tile, tile, 64, 4, accumulate, low, high);
OFFSETS(gemm_f32_tile, tile, 80, 8, from, from_row, to);
