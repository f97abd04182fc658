/* The tables of gemm_f32_direct_narrow_neon.S and gemm_f32_direct_wide_neon.S. */
#include "kernels/gemm_f32_direct.h"

#define KERNEL(height, width)                                            \
    gemm_f32_direct_fn gemm_f32_direct_##height##x##width##_narrow_neon, \
        gemm_f32_direct_##height##x##width##_wide_neon;
#include "kernels/gemm_f32_direct_in_order_list.h"
#undef KERNEL
gemm_f32_direct_fn gemm_f32_direct_1x2x8_wide_neon, gemm_f32_direct_2x2x8_wide_neon,
    gemm_f32_direct_1x2x12_wide_neon, gemm_f32_direct_2x2x12_wide_neon,
    gemm_f32_direct_1x2x16_wide_neon;

/* clang-format off */
#define TILE(name, height, vectors, group, in_order) \
    {"gemm_f32_direct_" #name "_neon", CPU_NEON, height, vectors, group, 0, in_order, \
     gemm_f32_direct_##name##_neon},
const struct gemm_f32_direct_kernel gemm_f32_direct_narrow_neon[GEMM_F32_DIRECT_NARROW] = {
#define KERNEL(height, width) \
    TILE(height##x##width##_narrow, height, width / 4, width / 4, IN_ORDER_NARROW)
#include "kernels/gemm_f32_direct_in_order_list.h"
#undef KERNEL
};
const struct gemm_f32_direct_kernel gemm_f32_direct_wide_neon[GEMM_F32_DIRECT_WIDE] = {
#define KERNEL(height, width) \
    TILE(height##x##width##_wide, height, width / 4, width / 4, IN_ORDER_WIDE)
#include "kernels/gemm_f32_direct_in_order_list.h"
    TILE(1x2x8_wide, 1, 4, 2, IN_ORDER_WIDE)
    TILE(2x2x8_wide, 2, 4, 2, IN_ORDER_WIDE)
    TILE(1x2x12_wide, 1, 6, 3, IN_ORDER_WIDE)
    TILE(2x2x12_wide, 2, 6, 3, IN_ORDER_WIDE)
    TILE(1x2x16_wide, 1, 8, 4, IN_ORDER_WIDE)
};
