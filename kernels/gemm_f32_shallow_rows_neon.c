/* The NEON kernels of gemm_f32_shallow_neon.S. */
#include "kernels/gemm_f32_direct.h"

gemm_f32_direct_fn gemm_f32_shallow_1x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_1x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_1x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_1x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_2x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_2x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_2x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_2x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_3x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_3x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_3x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_3x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_4x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_4x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_4x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_4x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_5x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_5x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_5x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_5x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_6x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_6x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_6x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_6x16_neon;
gemm_f32_direct_fn gemm_f32_shallow_7x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_7x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_7x12_neon;
gemm_f32_direct_fn gemm_f32_shallow_8x4_neon;
gemm_f32_direct_fn gemm_f32_shallow_8x8_neon;
gemm_f32_direct_fn gemm_f32_shallow_8x12_neon;

#define ROWS(name, depth, vectors)                                                  \
    {                                                                               \
        "gemm_f32_shallow_" #name "_neon", CPU_NEON, 1, vectors, vectors, depth, 0, \
            gemm_f32_shallow_##name##_neon                                          \
    }
/* clang-format off */
const struct gemm_f32_direct_kernel gemm_f32_shallow_neon[GEMM_F32_SHALLOW] = {
    ROWS(1x4, 1, 1),
    ROWS(1x8, 1, 2),
    ROWS(1x12, 1, 3),
    ROWS(1x16, 1, 4),
    ROWS(2x4, 2, 1),
    ROWS(2x8, 2, 2),
    ROWS(2x12, 2, 3),
    ROWS(2x16, 2, 4),
    ROWS(3x4, 3, 1),
    ROWS(3x8, 3, 2),
    ROWS(3x12, 3, 3),
    ROWS(3x16, 3, 4),
    ROWS(4x4, 4, 1),
    ROWS(4x8, 4, 2),
    ROWS(4x12, 4, 3),
    ROWS(4x16, 4, 4),
    ROWS(5x4, 5, 1),
    ROWS(5x8, 5, 2),
    ROWS(5x12, 5, 3),
    ROWS(5x16, 5, 4),
    ROWS(6x4, 6, 1),
    ROWS(6x8, 6, 2),
    ROWS(6x12, 6, 3),
    ROWS(6x16, 6, 4),
    ROWS(7x4, 7, 1),
    ROWS(7x8, 7, 2),
    ROWS(7x12, 7, 3),
    ROWS(8x4, 8, 1),
    ROWS(8x8, 8, 2),
    ROWS(8x12, 8, 3),
};
/* clang-format on */
#undef ROWS
