/* The list of kernels for planes, fastest first. */
#include "kernels/gemm/f32/planes/planes.h"

const struct gemm_f32_planes_kernels *const gemm_f32_planes_kernels[] = {
#define LISTED(name) &gemm_f32_planes_##name,
    GEMM_F32_PLANES_KERNELS(LISTED)
#undef LISTED
};
const size_t gemm_f32_planes_kernel_count =
    sizeof gemm_f32_planes_kernels / sizeof gemm_f32_planes_kernels[0];

const struct gemm_f32_planes_kernels *gemm_f32_planes_find(uint32_t features, int in_order)
{
    size_t i = 0;
    while (!cpu_suits(gemm_f32_planes_kernels[i]->needs, gemm_f32_planes_kernels[i]->in_order,
                      features, in_order))
        i++;
    return gemm_f32_planes_kernels[i];
}
