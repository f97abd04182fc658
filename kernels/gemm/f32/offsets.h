/* struct gemm_f32_tile, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_f32_tile, tile, 0, 8, k, a, b, c, row, col);
OFFSETS(gemm_f32_tile, tile, 64, 8, bias, accumulate);
OFFSETS(gemm_f32_tile, tile, 76, 4, low, high);
OFFSETS(gemm_f32_tile, tile, 88, 8, from, from_row, to);
