/* The kernels of gemm_f32_direct_in_order_neon.S. */
#include "kernels/gemm_f32_direct.h"

gemm_f32_direct_fn gemm_f32_direct_1x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_2x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_3x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_4x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_5x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_6x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_7x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_8x4_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_1x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_2x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_3x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_4x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_5x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_6x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_7x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_8x8_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_1x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_2x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_3x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_4x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_5x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_6x12_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_1x16_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_2x16_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_3x16_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_4x16_narrow_neon;
gemm_f32_direct_fn gemm_f32_direct_1x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_2x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_3x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_4x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_5x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_6x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_7x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_8x4_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_1x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_2x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_3x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_4x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_5x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_6x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_7x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_8x8_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_1x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_2x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_3x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_4x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_5x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_6x12_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_1x16_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_2x16_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_3x16_wide_neon;
gemm_f32_direct_fn gemm_f32_direct_4x16_wide_neon;

#define TILE(name, height, vectors, kind)                                              \
    {                                                                                  \
        "gemm_f32_direct_" #name "_neon", CPU_NEON, height, vectors, vectors, 0, kind, \
            gemm_f32_direct_##name##_neon                                              \
    }
/* clang-format off */
const struct gemm_f32_direct_kernel gemm_f32_direct_narrow_neon[GEMM_F32_DIRECT_IN_ORDER] = {
    TILE(1x4_narrow, 1, 1, IN_ORDER_NARROW),
    TILE(2x4_narrow, 2, 1, IN_ORDER_NARROW),
    TILE(3x4_narrow, 3, 1, IN_ORDER_NARROW),
    TILE(4x4_narrow, 4, 1, IN_ORDER_NARROW),
    TILE(5x4_narrow, 5, 1, IN_ORDER_NARROW),
    TILE(6x4_narrow, 6, 1, IN_ORDER_NARROW),
    TILE(7x4_narrow, 7, 1, IN_ORDER_NARROW),
    TILE(8x4_narrow, 8, 1, IN_ORDER_NARROW),
    TILE(1x8_narrow, 1, 2, IN_ORDER_NARROW),
    TILE(2x8_narrow, 2, 2, IN_ORDER_NARROW),
    TILE(3x8_narrow, 3, 2, IN_ORDER_NARROW),
    TILE(4x8_narrow, 4, 2, IN_ORDER_NARROW),
    TILE(5x8_narrow, 5, 2, IN_ORDER_NARROW),
    TILE(6x8_narrow, 6, 2, IN_ORDER_NARROW),
    TILE(7x8_narrow, 7, 2, IN_ORDER_NARROW),
    TILE(8x8_narrow, 8, 2, IN_ORDER_NARROW),
    TILE(1x12_narrow, 1, 3, IN_ORDER_NARROW),
    TILE(2x12_narrow, 2, 3, IN_ORDER_NARROW),
    TILE(3x12_narrow, 3, 3, IN_ORDER_NARROW),
    TILE(4x12_narrow, 4, 3, IN_ORDER_NARROW),
    TILE(5x12_narrow, 5, 3, IN_ORDER_NARROW),
    TILE(6x12_narrow, 6, 3, IN_ORDER_NARROW),
    TILE(1x16_narrow, 1, 4, IN_ORDER_NARROW),
    TILE(2x16_narrow, 2, 4, IN_ORDER_NARROW),
    TILE(3x16_narrow, 3, 4, IN_ORDER_NARROW),
    TILE(4x16_narrow, 4, 4, IN_ORDER_NARROW),
};
const struct gemm_f32_direct_kernel gemm_f32_direct_wide_neon[GEMM_F32_DIRECT_IN_ORDER] = {
    TILE(1x4_wide, 1, 1, IN_ORDER_WIDE),
    TILE(2x4_wide, 2, 1, IN_ORDER_WIDE),
    TILE(3x4_wide, 3, 1, IN_ORDER_WIDE),
    TILE(4x4_wide, 4, 1, IN_ORDER_WIDE),
    TILE(5x4_wide, 5, 1, IN_ORDER_WIDE),
    TILE(6x4_wide, 6, 1, IN_ORDER_WIDE),
    TILE(7x4_wide, 7, 1, IN_ORDER_WIDE),
    TILE(8x4_wide, 8, 1, IN_ORDER_WIDE),
    TILE(1x8_wide, 1, 2, IN_ORDER_WIDE),
    TILE(2x8_wide, 2, 2, IN_ORDER_WIDE),
    TILE(3x8_wide, 3, 2, IN_ORDER_WIDE),
    TILE(4x8_wide, 4, 2, IN_ORDER_WIDE),
    TILE(5x8_wide, 5, 2, IN_ORDER_WIDE),
    TILE(6x8_wide, 6, 2, IN_ORDER_WIDE),
    TILE(7x8_wide, 7, 2, IN_ORDER_WIDE),
    TILE(8x8_wide, 8, 2, IN_ORDER_WIDE),
    TILE(1x12_wide, 1, 3, IN_ORDER_WIDE),
    TILE(2x12_wide, 2, 3, IN_ORDER_WIDE),
    TILE(3x12_wide, 3, 3, IN_ORDER_WIDE),
    TILE(4x12_wide, 4, 3, IN_ORDER_WIDE),
    TILE(5x12_wide, 5, 3, IN_ORDER_WIDE),
    TILE(6x12_wide, 6, 3, IN_ORDER_WIDE),
    TILE(1x16_wide, 1, 4, IN_ORDER_WIDE),
    TILE(2x16_wide, 2, 4, IN_ORDER_WIDE),
    TILE(3x16_wide, 3, 4, IN_ORDER_WIDE),
    TILE(4x16_wide, 4, 4, IN_ORDER_WIDE),
};
/* clang-format on */
#undef TILE
