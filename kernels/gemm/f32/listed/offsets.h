/* struct gemm_f32_listed, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_f32_listed, strip, 0, 8, rows, segments, rounds, tail, b, b_step, c, ldc);
OFFSETS(gemm_f32_listed, strip, 64, 8, tiles, panels, bias, accumulate);
OFFSETS(gemm_f32_listed, strip, 92, 4, clamp, low, high);
OFFSETS(gemm_f32_listed, strip, 112, 8, from, from_row, to, missing, a, a_row, b_eights);
OFFSETS(gemm_f32_listed, strip, 168, 8, eights_step, eights, columns, column_step, b_skip, ahead);
OFFSETS(gemm_f32_listed, strip, 216, 8, ahead_step);
