/* The kernels of gemm_f32_direct_narrow_neon.S and gemm_f32_direct_wide_neon.S. */
#include "kernels/gemm_f32_direct.h"

/* Names, heights, vectors, groups. */
/* clang-format off */
#define BOTH(with, core) \
    with(1x4_##core, 1, 1, 1) with(2x4_##core, 2, 1, 1) with(3x4_##core, 3, 1, 1) \
    with(4x4_##core, 4, 1, 1) with(5x4_##core, 5, 1, 1) with(6x4_##core, 6, 1, 1) \
    with(7x4_##core, 7, 1, 1) with(8x4_##core, 8, 1, 1) \
    with(1x8_##core, 1, 2, 2) with(2x8_##core, 2, 2, 2) with(3x8_##core, 3, 2, 2) \
    with(4x8_##core, 4, 2, 2) with(5x8_##core, 5, 2, 2) with(6x8_##core, 6, 2, 2) \
    with(7x8_##core, 7, 2, 2) with(8x8_##core, 8, 2, 2) \
    with(1x12_##core, 1, 3, 3) with(2x12_##core, 2, 3, 3) with(3x12_##core, 3, 3, 3) \
    with(4x12_##core, 4, 3, 3) with(5x12_##core, 5, 3, 3) with(6x12_##core, 6, 3, 3) \
    with(1x16_##core, 1, 4, 4) with(2x16_##core, 2, 4, 4) with(3x16_##core, 3, 4, 4) \
    with(4x16_##core, 4, 4, 4)
#define WIDE_ONLY(with) \
    with(1x2x12_wide, 1, 6, 3) with(2x2x12_wide, 2, 6, 3) with(1x2x16_wide, 1, 8, 4)
/* clang-format on */

#define DECLARE(name, height, vectors, group) gemm_f32_direct_fn gemm_f32_direct_##name##_neon;
BOTH(DECLARE, narrow)
BOTH(DECLARE, wide)
WIDE_ONLY(DECLARE)
#undef DECLARE

#define NARROW(name, height, vectors, group)                                                 \
    {"gemm_f32_direct_" #name "_neon", CPU_NEON, height, vectors, group, 0, IN_ORDER_NARROW, \
     gemm_f32_direct_##name##_neon},
#define WIDE(name, height, vectors, group)                                                 \
    {"gemm_f32_direct_" #name "_neon", CPU_NEON, height, vectors, group, 0, IN_ORDER_WIDE, \
     gemm_f32_direct_##name##_neon},
const struct gemm_f32_direct_kernel gemm_f32_direct_narrow_neon[GEMM_F32_DIRECT_NARROW] = {
    BOTH(NARROW, narrow)};
const struct gemm_f32_direct_kernel gemm_f32_direct_wide_neon[GEMM_F32_DIRECT_WIDE] = {
    BOTH(WIDE, wide) WIDE_ONLY(WIDE)};
#undef WIDE
#undef NARROW
#undef WIDE_ONLY
#undef BOTH
