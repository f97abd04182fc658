/* The NEON kernels of gemm_f32_direct_neon.S. */
#include "kernels/gemm_f32_direct.h"
#include "kernels/gemm_f32_direct_offsets.h"

gemm_f32_direct_fn gemm_f32_direct_1x4_neon;
gemm_f32_direct_fn gemm_f32_direct_2x4_neon;
gemm_f32_direct_fn gemm_f32_direct_3x4_neon;
gemm_f32_direct_fn gemm_f32_direct_4x4_neon;
gemm_f32_direct_fn gemm_f32_direct_5x4_neon;
gemm_f32_direct_fn gemm_f32_direct_6x4_neon;
gemm_f32_direct_fn gemm_f32_direct_7x4_neon;
gemm_f32_direct_fn gemm_f32_direct_8x4_neon;
gemm_f32_direct_fn gemm_f32_direct_1x8_neon;
gemm_f32_direct_fn gemm_f32_direct_2x8_neon;
gemm_f32_direct_fn gemm_f32_direct_3x8_neon;
gemm_f32_direct_fn gemm_f32_direct_4x8_neon;
gemm_f32_direct_fn gemm_f32_direct_5x8_neon;
gemm_f32_direct_fn gemm_f32_direct_6x8_neon;
gemm_f32_direct_fn gemm_f32_direct_7x8_neon;
gemm_f32_direct_fn gemm_f32_direct_8x8_neon;
gemm_f32_direct_fn gemm_f32_direct_1x12_neon;
gemm_f32_direct_fn gemm_f32_direct_2x12_neon;
gemm_f32_direct_fn gemm_f32_direct_3x12_neon;
gemm_f32_direct_fn gemm_f32_direct_4x12_neon;
gemm_f32_direct_fn gemm_f32_direct_5x12_neon;
gemm_f32_direct_fn gemm_f32_direct_6x12_neon;
gemm_f32_direct_fn gemm_f32_direct_7x12_neon;
gemm_f32_direct_fn gemm_f32_direct_1x16_neon;
gemm_f32_direct_fn gemm_f32_direct_2x16_neon;
gemm_f32_direct_fn gemm_f32_direct_3x16_neon;
gemm_f32_direct_fn gemm_f32_direct_4x16_neon;
gemm_f32_direct_fn gemm_f32_direct_5x16_neon;
gemm_f32_direct_fn gemm_f32_direct_1x2x8_neon;
gemm_f32_direct_fn gemm_f32_direct_2x2x8_neon;
gemm_f32_direct_fn gemm_f32_direct_1x2x12_neon;
gemm_f32_direct_fn gemm_f32_direct_2x2x12_neon;
gemm_f32_direct_fn gemm_f32_direct_3x2x12_neon;
gemm_f32_direct_fn gemm_f32_direct_4x2x12_neon;
gemm_f32_direct_fn gemm_f32_direct_1x2x16_neon;
gemm_f32_direct_fn gemm_f32_direct_2x2x16_neon;
gemm_f32_direct_fn gemm_f32_direct_3x2x16_neon;
gemm_f32_direct_fn gemm_f32_direct_1x4x12_neon;
gemm_f32_direct_fn gemm_f32_direct_1x3x16_neon;

#define TILE(name, height, vectors, group)                                        \
    {                                                                             \
        "gemm_f32_direct_" #name "_neon", CPU_NEON, height, vectors, group, 0, 0, \
            gemm_f32_direct_##name##_neon                                         \
    }
/* clang-format off */
const struct gemm_f32_direct_kernel gemm_f32_direct_neon[GEMM_F32_DIRECT_TILES] = {
    TILE(1x4, 1, 1, 1),
    TILE(2x4, 2, 1, 1),
    TILE(3x4, 3, 1, 1),
    TILE(4x4, 4, 1, 1),
    TILE(5x4, 5, 1, 1),
    TILE(6x4, 6, 1, 1),
    TILE(7x4, 7, 1, 1),
    TILE(8x4, 8, 1, 1),
    TILE(1x8, 1, 2, 2),
    TILE(2x8, 2, 2, 2),
    TILE(3x8, 3, 2, 2),
    TILE(4x8, 4, 2, 2),
    TILE(5x8, 5, 2, 2),
    TILE(6x8, 6, 2, 2),
    TILE(7x8, 7, 2, 2),
    TILE(8x8, 8, 2, 2),
    TILE(1x12, 1, 3, 3),
    TILE(2x12, 2, 3, 3),
    TILE(3x12, 3, 3, 3),
    TILE(4x12, 4, 3, 3),
    TILE(5x12, 5, 3, 3),
    TILE(6x12, 6, 3, 3),
    TILE(7x12, 7, 3, 3),
    TILE(1x16, 1, 4, 4),
    TILE(2x16, 2, 4, 4),
    TILE(3x16, 3, 4, 4),
    TILE(4x16, 4, 4, 4),
    TILE(5x16, 5, 4, 4),
    TILE(1x2x8, 1, 4, 2),
    TILE(2x2x8, 2, 4, 2),
    TILE(1x2x12, 1, 6, 3),
    TILE(2x2x12, 2, 6, 3),
    TILE(3x2x12, 3, 6, 3),
    TILE(4x2x12, 4, 6, 3),
    TILE(1x2x16, 1, 8, 4),
    TILE(2x2x16, 2, 8, 4),
    TILE(3x2x16, 3, 8, 4),
    TILE(1x4x12, 1, 12, 3),
    TILE(1x3x16, 1, 12, 4),
};
/* clang-format on */
#undef TILE
