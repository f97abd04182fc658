/* struct gemm_f32_direct, to assembly. */
#include "kernels/asm/offsets.h"

OFFSET(gemm_f32_direct, lda, STRIP_LDA, 0);
OFFSET(gemm_f32_direct, ldc, STRIP_LDC, 8);
OFFSET(gemm_f32_direct, ldb, STRIP_LDB, 16);
OFFSET(gemm_f32_direct, tiles, STRIP_TILES, 24);
OFFSET(gemm_f32_direct, rounds, STRIP_ROUNDS, 32);
OFFSET(gemm_f32_direct, tail, STRIP_TAIL, 40);
OFFSET(gemm_f32_direct, special, STRIP_SPECIAL, 48);
OFFSET(gemm_f32_direct, gap, STRIP_GAP, 56);
OFFSET(gemm_f32_direct, b_tail, STRIP_B_TAIL, 64);
OFFSET(gemm_f32_direct, tail_ldb, STRIP_TAIL_LDB, 72);
OFFSET(gemm_f32_direct, clamp, STRIP_CLAMP, 80);
OFFSET(gemm_f32_direct, lanes, STRIP_LANES, 88);
OFFSET(gemm_f32_direct, low, STRIP_LOW, 96);
OFFSET(gemm_f32_direct, high, STRIP_HIGH, 100);
OFFSET(gemm_f32_direct, first, STRIP_FIRST, 104);
OFFSET(gemm_f32_direct, later, STRIP_LATER, 112);
OFFSET(gemm_f32_direct, ending, STRIP_ENDING, 124);
OFFSET(gemm_f32_direct, low_tiles, STRIP_LOW_TILES, 125);

/* The bit of GEMM_F32_SPECIAL_ADDS. */
#define SPECIAL_ADDS_BIT 2
#ifndef __ASSEMBLER__
_Static_assert(GEMM_F32_SPECIAL_ADDS == 1 << SPECIAL_ADDS_BIT, "what assembly tests");
#endif
