/* The list of kernels for matrices in place, fastest first. */
#include "kernels/gemm_f32_direct.h"

#define EIGHT(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5], &(t)[6], &(t)[7]
#define THREE_EIGHTS(t) EIGHT(t), EIGHT(t + 8), EIGHT(t + 16)
#define TILES(t) THREE_EIGHTS(t), EIGHT(t + 24), &(t)[32], &(t)[33], &(t)[34], &(t)[35], &(t)[36]
#define SHALLOW(t) THREE_EIGHTS(t), &(t)[24], &(t)[25], &(t)[26], &(t)[27], &(t)[28], &(t)[29]
const struct gemm_f32_direct_kernel *const gemm_f32_direct_kernels[] = {
#if !NEO_PORTABLE
    TILES(gemm_f32_direct_neon),
    SHALLOW(gemm_f32_shallow_neon),
#endif
    TILES(gemm_f32_direct_ref),
    SHALLOW(gemm_f32_shallow_ref),
};
#undef SHALLOW
#undef TILES
#undef THREE_EIGHTS
#undef EIGHT
const size_t gemm_f32_direct_kernel_count =
    sizeof gemm_f32_direct_kernels / sizeof gemm_f32_direct_kernels[0];

struct kind {
    size_t height, vectors, group, depth;
};

static size_t find(uint32_t features, const struct kind *kind)
{
    size_t i = 0;
    for (; i < gemm_f32_direct_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = gemm_f32_direct_kernels[i];
        if (kernel->height == kind->height && kernel->vectors == kind->vectors &&
            kernel->group == kind->group && kernel->depth == kind->depth &&
            (kernel->needs & ~features) == 0)
            break;
    }
    return i;
}

size_t gemm_f32_direct_find(uint32_t features, size_t height, size_t vectors, size_t group)
{
    return find(features, &(struct kind){height, vectors, group, 0});
}

size_t gemm_f32_direct_height(size_t vectors, size_t group)
{
    size_t height = 0;
    while (gemm_f32_direct_find(0, height + 1, vectors, group) < gemm_f32_direct_kernel_count)
        height++;
    return height;
}

size_t gemm_f32_shallow_find(uint32_t features, size_t depth, size_t vectors)
{
    return find(features, &(struct kind){1, vectors, vectors, depth});
}

size_t gemm_f32_shallow_vectors(size_t depth)
{
    size_t vectors = 0;
    while (depth && gemm_f32_shallow_find(0, depth, vectors + 1) < gemm_f32_direct_kernel_count)
        vectors++;
    return vectors;
}
