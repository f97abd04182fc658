/* The table of gemm_f32_planes_neon.S. */
#include "kernels/gemm_f32_planes.h"
#include "kernels/gemm_f32_planes_offsets.h"

gemm_f32_planes_fn gemm_f32_planes_16x4_neon, gemm_f32_planes_12x8_neon, gemm_f32_planes_8x12_neon,
    gemm_f32_planes_4x4_neon, gemm_f32_planes_4x8_neon, gemm_f32_planes_4x12_neon;

const struct gemm_f32_planes_kernels gemm_f32_planes_neon = {
    "gemm_f32_planes_neon",
    CPU_NEON,
    {{16, gemm_f32_planes_16x4_neon, gemm_f32_planes_4x4_neon},
     {12, gemm_f32_planes_12x8_neon, gemm_f32_planes_4x8_neon},
     {8, gemm_f32_planes_8x12_neon, gemm_f32_planes_4x12_neon}},
};
