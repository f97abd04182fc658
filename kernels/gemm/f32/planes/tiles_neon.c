/* The tables of neon.S and in_order_neon.S. */
#include "kernels/gemm/f32/planes/planes.h"
#include "kernels/gemm/f32/planes/planes_offsets.h"

#define DECLARE(core)                                                                        \
    gemm_f32_planes_fn gemm_f32_planes_16x4##core##_neon, gemm_f32_planes_12x8##core##_neon, \
        gemm_f32_planes_8x12##core##_neon, gemm_f32_planes_4x4##core##_neon,                 \
        gemm_f32_planes_4x8##core##_neon, gemm_f32_planes_4x12##core##_neon;
DECLARE()
DECLARE(_narrow)
#undef DECLARE

#define TILES(core)                                                                    \
    {                                                                                  \
        {16, gemm_f32_planes_16x4##core##_neon, gemm_f32_planes_4x4##core##_neon},     \
            {12, gemm_f32_planes_12x8##core##_neon, gemm_f32_planes_4x8##core##_neon}, \
            {8, gemm_f32_planes_8x12##core##_neon, gemm_f32_planes_4x12##core##_neon}, \
    }
const struct gemm_f32_planes_kernels gemm_f32_planes_neon = {"gemm_f32_planes_neon", CPU_NEON, 0,
                                                             TILES()};
const struct gemm_f32_planes_kernels gemm_f32_planes_narrow_neon = {
    "gemm_f32_planes_narrow_neon", CPU_NEON, IN_ORDER_NARROW, TILES(_narrow)};
#undef TILES
