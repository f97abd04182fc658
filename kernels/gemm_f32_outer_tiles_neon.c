/* The NEON kernels of gemm_f32_outer_neon.S. */
#include "kernels/gemm_f32_outer.h"

gemm_f32_direct_fn gemm_f32_outer_1x4_neon;
gemm_f32_direct_fn gemm_f32_outer_2x4_neon;
gemm_f32_direct_fn gemm_f32_outer_3x4_neon;
gemm_f32_direct_fn gemm_f32_outer_4x4_neon;
gemm_f32_direct_fn gemm_f32_outer_5x4_neon;
gemm_f32_direct_fn gemm_f32_outer_6x4_neon;
gemm_f32_direct_fn gemm_f32_outer_7x4_neon;
gemm_f32_direct_fn gemm_f32_outer_8x4_neon;
gemm_f32_direct_fn gemm_f32_outer_1x8_neon;
gemm_f32_direct_fn gemm_f32_outer_2x8_neon;
gemm_f32_direct_fn gemm_f32_outer_3x8_neon;
gemm_f32_direct_fn gemm_f32_outer_4x8_neon;
gemm_f32_direct_fn gemm_f32_outer_5x8_neon;
gemm_f32_direct_fn gemm_f32_outer_6x8_neon;
gemm_f32_direct_fn gemm_f32_outer_7x8_neon;
gemm_f32_direct_fn gemm_f32_outer_8x8_neon;
gemm_f32_direct_fn gemm_f32_outer_1x12_neon;
gemm_f32_direct_fn gemm_f32_outer_2x12_neon;
gemm_f32_direct_fn gemm_f32_outer_3x12_neon;
gemm_f32_direct_fn gemm_f32_outer_4x12_neon;
gemm_f32_direct_fn gemm_f32_outer_5x12_neon;
gemm_f32_direct_fn gemm_f32_outer_6x12_neon;
gemm_f32_direct_fn gemm_f32_outer_7x12_neon;
gemm_f32_direct_fn gemm_f32_outer_8x12_neon;
gemm_f32_direct_fn gemm_f32_outer_1x16_neon;
gemm_f32_direct_fn gemm_f32_outer_2x16_neon;
gemm_f32_direct_fn gemm_f32_outer_3x16_neon;
gemm_f32_direct_fn gemm_f32_outer_4x16_neon;
gemm_f32_direct_fn gemm_f32_outer_5x16_neon;
gemm_f32_direct_fn gemm_f32_outer_6x16_neon;

#define TILE(size, height_, vectors_)                                                  \
    {                                                                                  \
        .name = "gemm_f32_outer_" #size "_neon", .needs = CPU_NEON, .height = height_, \
        .vectors = vectors_, .group = vectors_, .run = gemm_f32_outer_##size##_neon,   \
    }
/* clang-format off */
const struct gemm_f32_direct_kernel gemm_f32_outer_neon[GEMM_F32_OUTER_TILES] = {
    TILE(1x4, 1, 1),
    TILE(2x4, 2, 1),
    TILE(3x4, 3, 1),
    TILE(4x4, 4, 1),
    TILE(5x4, 5, 1),
    TILE(6x4, 6, 1),
    TILE(7x4, 7, 1),
    TILE(8x4, 8, 1),
    TILE(1x8, 1, 2),
    TILE(2x8, 2, 2),
    TILE(3x8, 3, 2),
    TILE(4x8, 4, 2),
    TILE(5x8, 5, 2),
    TILE(6x8, 6, 2),
    TILE(7x8, 7, 2),
    TILE(8x8, 8, 2),
    TILE(1x12, 1, 3),
    TILE(2x12, 2, 3),
    TILE(3x12, 3, 3),
    TILE(4x12, 4, 3),
    TILE(5x12, 5, 3),
    TILE(6x12, 6, 3),
    TILE(7x12, 7, 3),
    TILE(8x12, 8, 3),
    TILE(1x16, 1, 4),
    TILE(2x16, 2, 4),
    TILE(3x16, 3, 4),
    TILE(4x16, 4, 4),
    TILE(5x16, 5, 4),
    TILE(6x16, 6, 4),
};
/* clang-format on */
#undef TILE
