/* The tables of binary kernels, fastest first. */
#include "kernels/elementwise/f32/binary.h"

const struct binary_f32_kernel *const binary_f32_kernels[] = {
#if !NEO_PORTABLE
    binary_f32_neon,
#endif
    binary_f32_ref,
};
const size_t binary_f32_kernel_count = sizeof binary_f32_kernels / sizeof binary_f32_kernels[0];

const struct sum_f32_kernel *const sum_f32_kernels[] = {
#if !NEO_PORTABLE
    &sum_f32_neon,
#endif
    &sum_f32_ref,
};
const size_t sum_f32_kernel_count = sizeof sum_f32_kernels / sizeof sum_f32_kernels[0];

const struct blend_f32_kernel *const blend_f32_kernels[] = {
#if !NEO_PORTABLE
    &blend_f32_neon,
#endif
    &blend_f32_ref,
};
const size_t blend_f32_kernel_count = sizeof blend_f32_kernels / sizeof blend_f32_kernels[0];

const struct binary_f32_kernel *binary_f32_find(uint32_t features, enum binary_f32_alg alg)
{
    size_t i = 0;
    while (binary_f32_kernels[i][alg].needs & ~features)
        i++;
    return &binary_f32_kernels[i][alg];
}

const struct sum_f32_kernel *sum_f32_find(uint32_t features)
{
    size_t i = 0;
    while (sum_f32_kernels[i]->needs & ~features)
        i++;
    return sum_f32_kernels[i];
}

const struct blend_f32_kernel *blend_f32_find(uint32_t features)
{
    size_t i = 0;
    while (blend_f32_kernels[i]->needs & ~features)
        i++;
    return blend_f32_kernels[i];
}
