/* struct gemm_f32_planes, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_f32_planes, strip, 0, 8, a, a_step, rounds, tail, b, c, ldc, tiles);
OFFSETS(gemm_f32_planes, strip, 64, 8, bias, clamp);
OFFSETS(gemm_f32_planes, strip, 76, 4, low, high);
