/* The tables of converters, fastest first. */
#include "kernels/elementwise/convert.h"

const struct convert_kernel *const convert_kernels[] = {
#if !NEO_PORTABLE
    convert_neon,
#endif
    convert_ref,
};
const size_t convert_kernel_count = sizeof convert_kernels / sizeof convert_kernels[0];

const struct convert_kernel *convert_find(uint32_t features, enum element element)
{
    size_t i = 0;
    while (convert_kernels[i][element].needs & ~features)
        i++;
    return &convert_kernels[i][element];
}
