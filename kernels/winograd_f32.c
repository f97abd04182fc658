/* The list of Winograd transforms, fastest first. */
#include "kernels/winograd_f32.h"

const struct winograd_f32_kernel *const winograd_f32_kernels[] = {
#if !NEO_PORTABLE
    &winograd_f32_neon,
#endif
    &winograd_f32_ref,
};
const size_t winograd_f32_kernel_count =
    sizeof winograd_f32_kernels / sizeof winograd_f32_kernels[0];

const struct winograd_f32_kernel *winograd_f32_find(uint32_t features)
{
    size_t i = 0;
    while (winograd_f32_kernels[i]->needs & ~features)
        i++;
    return winograd_f32_kernels[i];
}
