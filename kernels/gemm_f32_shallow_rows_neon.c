/* The table of gemm_f32_shallow_neon.S. */
#include "kernels/gemm_f32_direct.h"

#define KERNEL(depth, width) gemm_f32_direct_fn gemm_f32_shallow_##depth##x##width##_neon;
#include "kernels/gemm_f32_shallow_list.h"
#undef KERNEL

/* clang-format off */
#define KERNEL(depth, width) \
    {"gemm_f32_shallow_" #depth "x" #width "_neon", CPU_NEON, 1, width / 4, width / 4, depth, 0, \
     gemm_f32_shallow_##depth##x##width##_neon},
const struct gemm_f32_direct_kernel gemm_f32_shallow_neon[GEMM_F32_SHALLOW] = {
#include "kernels/gemm_f32_shallow_list.h"
};
