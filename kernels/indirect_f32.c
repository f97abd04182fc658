/* The list of kernels for patches by pointer, fastest first. */
#include "kernels/indirect_f32.h"

const struct indirect_f32_kernel *const indirect_f32_kernels[] = {
#if !NEO_PORTABLE
    &indirect_f32_neon,
#endif
    &indirect_f32_ref,
};
const size_t indirect_f32_kernel_count =
    sizeof indirect_f32_kernels / sizeof indirect_f32_kernels[0];

const struct indirect_f32_kernel *indirect_f32_find(uint32_t features)
{
    size_t i = 0;
    while (indirect_f32_kernels[i]->needs & ~features)
        i++;
    return indirect_f32_kernels[i];
}
