/* The list of kernels for dot products, fastest first. */
#include "kernels/dot_f32.h"

const struct dot_f32_kernel *const dot_f32_kernels[] = {
#if !NEO_PORTABLE
    &dot_f32_neon,
#endif
    &dot_f32_ref,
};
const size_t dot_f32_kernel_count = sizeof dot_f32_kernels / sizeof dot_f32_kernels[0];

const struct dot_f32_kernel *dot_f32_find(uint32_t features)
{
    size_t i = 0;
    while (dot_f32_kernels[i]->needs & ~features)
        i++;
    return dot_f32_kernels[i];
}
