/* The list of kernels for patches by pointer, fastest first. */
#include "kernels/indirect_f32.h"

const struct indirect_f32_kernel *const indirect_f32_kernels[] = {
#if !NEO_PORTABLE
    &indirect_f32_narrow_neon,
    &indirect_f32_wide_neon,
    &indirect_f32_neon,
#endif
    &indirect_f32_ref,
};
const size_t indirect_f32_kernel_count =
    sizeof indirect_f32_kernels / sizeof indirect_f32_kernels[0];

static int suits(const struct indirect_f32_kernel *kernel, uint32_t features, int in_order,
                 size_t channels)
{
    return (kernel->needs & ~features) == 0 && channels >= kernel->channels &&
           (!kernel->in_order || kernel->in_order == in_order);
}

const struct indirect_f32_kernel *indirect_f32_find(uint32_t features, int in_order,
                                                    size_t channels)
{
    size_t i = 0;
    while (!suits(indirect_f32_kernels[i], features, in_order, channels))
        i++;
    return indirect_f32_kernels[i];
}
