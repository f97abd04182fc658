/* The list of kernels for products of lines, fastest first. */
#include "kernels/gemm/f32/lines/lines.h"

const struct gemm_f32_lines_kernel *const gemm_f32_lines_kernels[] = {
#if !NEO_PORTABLE
    &gemm_f32_lines_neon,
#endif
    &gemm_f32_lines_ref,
};
const size_t gemm_f32_lines_kernel_count =
    sizeof gemm_f32_lines_kernels / sizeof gemm_f32_lines_kernels[0];

const struct gemm_f32_lines_kernel *gemm_f32_lines_find(uint32_t features)
{
    size_t i = 0;
    while (gemm_f32_lines_kernels[i]->needs & ~features)
        i++;
    return gemm_f32_lines_kernels[i];
}
