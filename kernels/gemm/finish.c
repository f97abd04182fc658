/* The list of kernels that finish sums of s32. */
#include "kernels/gemm/finish.h"

const struct gemm_finish_kernel *const gemm_finish_kernels[] = {
#if !NEO_PORTABLE
    &gemm_finish_neon[0], &gemm_finish_neon[1], &gemm_finish_neon[2],
#endif
    &gemm_finish_ref[0],  &gemm_finish_ref[1],  &gemm_finish_ref[2],
};
const size_t gemm_finish_kernel_count = sizeof gemm_finish_kernels / sizeof gemm_finish_kernels[0];

gemm_finish_fn *gemm_finish_find(uint32_t features, enum element dst)
{
    for (size_t i = 0; i < gemm_finish_kernel_count; i++)
        if (gemm_finish_kernels[i]->dst == dst && !(gemm_finish_kernels[i]->needs & ~features))
            return gemm_finish_kernels[i]->run;
    return NULL;
}
