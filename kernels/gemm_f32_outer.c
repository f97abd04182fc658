/* The list of tiles that read columns of A, fastest first. */
#include "kernels/gemm_f32_outer.h"

#define EIGHT(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5], &(t)[6], &(t)[7]
#define TILES(t)                                                                             \
    EIGHT(t), EIGHT(t + 8), EIGHT(t + 16), &(t)[24], &(t)[25], &(t)[26], &(t)[27], &(t)[28], \
        &(t)[29]
const struct gemm_f32_direct_kernel *const gemm_f32_outer_kernels[] = {
#if !NEO_PORTABLE
    TILES(gemm_f32_outer_neon),
#endif
    TILES(gemm_f32_outer_ref),
};
#undef TILES
#undef EIGHT
const size_t gemm_f32_outer_kernel_count =
    sizeof gemm_f32_outer_kernels / sizeof gemm_f32_outer_kernels[0];

size_t gemm_f32_outer_find(const struct cpu *cpu, size_t height, size_t vectors)
{
    size_t i = 0;
    for (; i < gemm_f32_outer_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = gemm_f32_outer_kernels[i];
        if (kernel->height == height && kernel->vectors == vectors &&
            (kernel->needs & ~cpu->features) == 0)
            break;
    }
    return i;
}

size_t gemm_f32_outer_height(size_t vectors)
{
    size_t height = 0;
    for (size_t i = 0; i < gemm_f32_outer_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = gemm_f32_outer_kernels[i];
        if (kernel->vectors == vectors && kernel->height > height)
            height = kernel->height;
    }
    return height;
}
