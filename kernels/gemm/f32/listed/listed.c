/* The list of kernels for listed rows, fastest first. */
#include "kernels/gemm/f32/listed/listed.h"

DEFINE_NAMED_KERNELS(gemm_f32_listed, gemm_f32_listed_kernels, GEMM_F32_LISTED_KERNELS);

static int suits(const struct gemm_f32_listed_kernels *kernels, uint32_t features, int in_order)
{
    return cpu_suits(kernels->needs, kernels->in_order, features, in_order);
}

const struct gemm_f32_listed_kernels *gemm_f32_listed_find(uint32_t features, int in_order)
{
    size_t i = 0;
    while (!suits(gemm_f32_listed_kernels[i], features, in_order))
        i++;
    return gemm_f32_listed_kernels[i];
}

size_t gemm_f32_listed_lowest(uint32_t features)
{
    size_t lowest = GEMM_F32_LISTED_HEIGHT;
    for (size_t i = 0; i < gemm_f32_listed_kernel_count; i++) {
        const struct gemm_f32_listed_kernels *kernels = gemm_f32_listed_kernels[i];
        if (suits(kernels, features, kernels->in_order) && kernels->height < lowest)
            lowest = kernels->height;
    }
    return lowest;
}

gemm_f32_listed_fn *gemm_f32_listed_run(const struct gemm_f32_listed_kernels *kernels,
                                        size_t height, size_t width)
{
    static const uint8_t index[] = {0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}; /* plus 1; 0: none */
    if (height < 1 || height > GEMM_F32_LISTED_HEIGHT || width >= sizeof index || !index[width])
        return NULL;
    return kernels->run[index[width] - 1][height - 1];
}
