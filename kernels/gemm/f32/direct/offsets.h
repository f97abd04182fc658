/* struct gemm_f32_direct, to assembly. */
#include "kernels/asm/offsets.h"

OFFSETS(gemm_f32_direct, strip, 0, 8, lda, ldc, ldb, tiles, rounds, tail, special, gap);
OFFSETS(gemm_f32_direct, strip, 64, 8, b_tail, tail_ldb, clamp, lanes);
OFFSETS(gemm_f32_direct, strip, 96, 4, low, high);
OFFSETS(gemm_f32_direct, strip, 104, 8, first, later);
OFFSETS(gemm_f32_direct, strip, 124, 1, ending, low_tiles);

/* The bit of GEMM_F32_SPECIAL_ADDS. */
#define SPECIAL_ADDS_BIT 2
#ifndef __ASSEMBLER__
_Static_assert(GEMM_F32_SPECIAL_ADDS == 1 << SPECIAL_ADDS_BIT, "what assembly tests");
#endif
