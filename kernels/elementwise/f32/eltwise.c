/* The tables of elementwise kernels, fastest first. */
#include "kernels/elementwise/f32/eltwise.h"

const struct eltwise_f32_kernel *const eltwise_f32_kernels[] = {
#if !NEO_PORTABLE
    eltwise_f32_neon,
#endif
    eltwise_f32_ref,
};
const size_t eltwise_f32_kernel_count = sizeof eltwise_f32_kernels / sizeof eltwise_f32_kernels[0];

/* A function begins as a reference kernel: rows of faster tables may be empty. */
const struct eltwise_f32_kernel *eltwise_f32_find(uint32_t features, enum eltwise_f32_alg alg)
{
    size_t i = 0;
    while (!eltwise_f32_kernels[i][alg].run || eltwise_f32_kernels[i][alg].needs & ~features)
        i++;
    return &eltwise_f32_kernels[i][alg];
}
