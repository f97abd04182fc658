/* The kernels that multiply four-bit weights. */
#include "kernels/gemm/s4/s4.h"

const struct gemm_s4_kernel *const gemm_s4_kernels[] = {
#if !NEO_PORTABLE
    &gemm_s4_dotprod[0],
    &gemm_s4_dotprod[1],
#endif
    &gemm_s4_ref[0],
    &gemm_s4_ref[1],
};
const size_t gemm_s4_kernel_count = sizeof gemm_s4_kernels / sizeof gemm_s4_kernels[0];

gemm_s4_fn *gemm_s4_find(uint32_t features, enum element scale)
{
    for (size_t i = 0; i < gemm_s4_kernel_count; i++)
        if (gemm_s4_kernels[i]->scale == scale && !(gemm_s4_kernels[i]->needs & ~features))
            return gemm_s4_kernels[i]->run;
    return NULL;
}
