/* The list of kernels for matrices in place, fastest first. */
#include "kernels/gemm_f32_direct.h"

#define EIGHT(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5], &(t)[6], &(t)[7]
#define TILES(t)                                                                                  \
    EIGHT(t), EIGHT(t + 8), EIGHT(t + 16), EIGHT(t + 24), &(t)[32], &(t)[33], &(t)[34], &(t)[35], \
        &(t)[36]
const struct gemm_f32_direct_kernel *const gemm_f32_direct_kernels[] = {
#if !NEO_PORTABLE
    TILES(gemm_f32_direct_neon),
#endif
    TILES(gemm_f32_direct_ref),
};
#undef TILES
#undef EIGHT
const size_t gemm_f32_direct_kernel_count =
    sizeof gemm_f32_direct_kernels / sizeof gemm_f32_direct_kernels[0];

size_t gemm_f32_direct_find(uint32_t features, size_t height, size_t vectors, size_t group)
{
    size_t i = 0;
    for (; i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = gemm_f32_direct_kernels[i];
        if (kernel->height == height && kernel->vectors == vectors && kernel->group == group &&
            (kernel->needs & ~features) == 0)
            break;
    }
    return i;
}

size_t gemm_f32_direct_height(size_t vectors, size_t group)
{
    size_t height = 0;
    while (gemm_f32_direct_find(0, height + 1, vectors, group) < gemm_f32_direct_kernel_count)
        height++;
    return height;
}
