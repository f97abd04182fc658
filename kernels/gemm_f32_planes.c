/* The list of kernels for planes, fastest first. */
#include "kernels/gemm_f32_planes.h"

const struct gemm_f32_planes_kernels *const gemm_f32_planes_kernels[] = {
#if !NEO_PORTABLE
    &gemm_f32_planes_neon,
#endif
    &gemm_f32_planes_ref,
};
const size_t gemm_f32_planes_kernel_count =
    sizeof gemm_f32_planes_kernels / sizeof gemm_f32_planes_kernels[0];

const struct gemm_f32_planes_kernels *gemm_f32_planes_find(uint32_t features)
{
    size_t i = 0;
    while (gemm_f32_planes_kernels[i]->needs & ~features)
        i++;
    return gemm_f32_planes_kernels[i];
}
