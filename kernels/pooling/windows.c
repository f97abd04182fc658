/* The tables of kernels for windows, fastest first. */
#include "kernels/pooling/windows.h"

const windows_table *const windows_kernels[] = {
#if !NEO_PORTABLE
    &windows_neon,
#endif
    &windows_ref,
};
const size_t windows_kernel_count = sizeof windows_kernels / sizeof windows_kernels[0];

const struct windows_kernel *windows_find(uint32_t features, enum windows_alg alg,
                                          enum element element)
{
    size_t i = 0;
    while ((*windows_kernels[i])[alg][element].needs & ~features)
        i++;
    return &(*windows_kernels[i])[alg][element];
}
