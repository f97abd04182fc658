/* The list of f32 matrix-multiplication kernels, fastest first. */
#include "kernels/gemm/f32/gemm.h"

#define ENTRY(name, run, needs, mr, nr, columns, packs, in_order) \
    {#name, needs, mr, nr, columns, packs, in_order, run},
const struct gemm_f32_kernel gemm_f32_kernels[] = {
#include "kernels/gemm/f32/table.h"
};
#undef ENTRY
const size_t gemm_f32_kernel_count = sizeof gemm_f32_kernels / sizeof gemm_f32_kernels[0];

static int suits(const struct gemm_f32_kernel *kernel, uint32_t features, int in_order, int columns,
                 int packs)
{
    return kernel->columns == (columns != 0) && kernel->packs == packs &&
           cpu_suits(kernel->needs, kernel->in_order, features, in_order);
}

const struct gemm_f32_kernel *gemm_f32_find(const struct cpu *cpu, size_t mr, size_t nr,
                                            int columns)
{
    int in_order = cpu->core->in_order;
    for (size_t i = 0; i < gemm_f32_kernel_count; i++) {
        const struct gemm_f32_kernel *kernel = &gemm_f32_kernels[i];
        if (kernel->mr == mr && kernel->nr == nr &&
            suits(kernel, cpu->features, in_order, columns, 0))
            return kernel;
    }
    return NULL;
}

/* Faster ones are earlier in the list. */
void gemm_f32_find_tiles(gemm_f32_fn *tiles[][GEMM_F32_MR], uint32_t features, int in_order,
                         int columns)
{
    for (size_t i = gemm_f32_kernel_count; i-- > 0;) {
        const struct gemm_f32_kernel *kernel = &gemm_f32_kernels[i];
        if (suits(kernel, features, in_order, columns, 0))
            tiles[kernel->nr / 4 - 1][kernel->mr - 1] = kernel->run;
    }
}

gemm_f32_fn *gemm_f32_find_packing(uint32_t features, int in_order, int columns)
{
    for (size_t i = 0; i < gemm_f32_kernel_count && !in_order; i++)
        if (suits(&gemm_f32_kernels[i], features, in_order, columns, 1))
            return gemm_f32_kernels[i].run;
    return NULL;
}
