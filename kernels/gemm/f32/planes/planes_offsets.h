/* struct gemm_f32_planes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_f32_planes, a, STRIP_A, 0);
OFFSET(gemm_f32_planes, a_step, STRIP_A_STEP, 8);
OFFSET(gemm_f32_planes, rounds, STRIP_ROUNDS, 16);
OFFSET(gemm_f32_planes, tail, STRIP_TAIL, 24);
OFFSET(gemm_f32_planes, b, STRIP_B, 32);
OFFSET(gemm_f32_planes, c, STRIP_C, 40);
OFFSET(gemm_f32_planes, ldc, STRIP_LDC, 48);
OFFSET(gemm_f32_planes, tiles, STRIP_TILES, 56);
OFFSET(gemm_f32_planes, bias, STRIP_BIAS, 64);
OFFSET(gemm_f32_planes, clamp, STRIP_CLAMP, 72);
OFFSET(gemm_f32_planes, low, STRIP_LOW, 76);
OFFSET(gemm_f32_planes, high, STRIP_HIGH, 80);
