/* The list of f32 packing kernels, fastest first. */
#include "kernels/pack/f32/pack.h"

const struct pack_f32_kernel *const pack_f32_kernels[] = {
#if !NEO_PORTABLE
    &pack_f32_neon,
#endif
    &pack_f32_generic,
};
const size_t pack_f32_kernel_count = sizeof pack_f32_kernels / sizeof pack_f32_kernels[0];

const struct pack_f32_kernel *pack_f32_find(uint32_t features)
{
    size_t i = 0;
    while (pack_f32_kernels[i]->needs & ~features)
        i++;
    return pack_f32_kernels[i];
}
