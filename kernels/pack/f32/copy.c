/* The list of f32 copy kernels, fastest first. */
#include "kernels/pack/f32/copy.h"

const struct copy_f32_kernel *const copy_f32_kernels[] = {
#if !NEO_PORTABLE
    &copy_f32_neon,
#endif
    &copy_f32_ref,
};
const size_t copy_f32_kernel_count = sizeof copy_f32_kernels / sizeof copy_f32_kernels[0];

const struct copy_f32_kernel *copy_f32_find(uint32_t features)
{
    size_t i = 0;
    while (copy_f32_kernels[i]->needs & ~features)
        i++;
    return copy_f32_kernels[i];
}
