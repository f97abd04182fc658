/* struct gemm_tile, and how it ends, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_tile, tile, 0, 8, groups, a, b, sums, row, start);
OFFSETS(gemm_tile, tile, 48, 4, mr, nr);
OFFSETS(gemm_tile, tile, 64, 4, add, tiles, end);
OFFSETS(gemm_tile, tile, 80, 8, ahead, beside);

OFFSETS(gemm_finish, finish, 48, 8, row_scales, scales, offsets, dst, dst_row);
OFFSETS(gemm_finish, finish, 88, 4, is_float, is_clamped, is_requantized, low, high);
OFFSETS(gemm_finish, finish, 108, 4, divisor, reciprocal, rest, zero, to);

CONSTANT(ELEMENT_F32, 0);
CONSTANT(ELEMENT_U8, 5);
