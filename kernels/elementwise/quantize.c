/* The list of kernels that quantize lines, fastest first. */
#include "kernels/elementwise/quantize.h"

const struct quantize_kernel *const quantize_kernels[] = {
#if !NEO_PORTABLE
    &quantize_neon[0],
    &quantize_neon[1],
#endif
    &quantize_ref[0],
    &quantize_ref[1],
};
const size_t quantize_kernel_count = sizeof quantize_kernels / sizeof quantize_kernels[0];

const struct quantize_kernel *quantize_find(uint32_t features, enum element dst)
{
    for (size_t i = 0; i < quantize_kernel_count; i++)
        if (quantize_kernels[i]->dst == dst && !(quantize_kernels[i]->needs & ~features))
            return quantize_kernels[i];
    return NULL;
}
