/* The list of kernels that finish sums. */
#include "kernels/gemm/finish.h"

#define EIGHT(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5], &(t)[6], &(t)[7]
const struct gemm_finish_kernel *const gemm_finish_kernels[] = {
#if !NEO_PORTABLE
    EIGHT(gemm_finish_neon),
#endif
    EIGHT(gemm_finish_ref),
};
#undef EIGHT
_Static_assert(GEMM_FINISH_TYPES == 8, "all of each table are listed, and no more");
const size_t gemm_finish_kernel_count = sizeof gemm_finish_kernels / sizeof gemm_finish_kernels[0];

gemm_finish_fn *gemm_finish_find(uint32_t features, enum element sum, enum element dst)
{
    for (size_t i = 0; i < gemm_finish_kernel_count; i++) {
        const struct gemm_finish_kernel *kernel = gemm_finish_kernels[i];
        if (kernel->sum == sum && kernel->dst == dst && !(kernel->needs & ~features))
            return kernel->run;
    }
    return NULL;
}
