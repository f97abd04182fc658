/* The list of kernels for planes, fastest first. */
#include "kernels/gemm/f32/planes/planes.h"

const struct gemm_f32_planes_kernels *const gemm_f32_planes_kernels[] = {
#define LISTED(name) &gemm_f32_planes_##name,
    GEMM_F32_PLANES_KERNELS(LISTED)
#undef LISTED
};
const size_t gemm_f32_planes_kernel_count =
    sizeof gemm_f32_planes_kernels / sizeof gemm_f32_planes_kernels[0];

static int suits(const struct gemm_f32_planes_kernels *kernels, uint32_t features, int in_order)
{
    return (kernels->needs & ~features) == 0 &&
           (!kernels->in_order || kernels->in_order == in_order);
}

const struct gemm_f32_planes_kernels *gemm_f32_planes_find(uint32_t features, int in_order)
{
    size_t i = 0;
    while (!suits(gemm_f32_planes_kernels[i], features, in_order))
        i++;
    return gemm_f32_planes_kernels[i];
}
