/* The list of f32 matrix-multiplication kernels, fastest first. */
#include "kernels/gemm/f32/gemm.h"

/* clang-format off */
#define ONE_TILE(t) &(t)[0],
#define IN_ORDER_TILES(t) ONE_TILE(t) &(t)[1],
#define SIX_TILES(t) &(t)[0], &(t)[1], &(t)[2], &(t)[3], &(t)[4], &(t)[5],
#define TILES(t) SIX_TILES(t) SIX_TILES(t + 6) SIX_TILES(t + 12) SIX_TILES(t + 18)
#define LISTED(name, size) size(gemm_f32_##name)
/* clang-format on */
const struct gemm_f32_kernel *const gemm_f32_kernels[] = {GEMM_F32_TABLES(LISTED)};
const size_t gemm_f32_kernel_count = sizeof gemm_f32_kernels / sizeof gemm_f32_kernels[0];

#define SIZE(name, size) +GEMM_F32_##size
_Static_assert(sizeof gemm_f32_kernels / sizeof gemm_f32_kernels[0] == 0 GEMM_F32_TABLES(SIZE),
               "all of each table are listed, and no more");
#undef SIZE
#undef LISTED
#undef TILES
#undef SIX_TILES
#undef IN_ORDER_TILES
#undef ONE_TILE

const struct gemm_f32_kernel *const gemm_f32_packing_kernels[] = {
#if !NEO_PORTABLE
    &gemm_f32_packing_neon[0],
    &gemm_f32_packing_neon[1],
#endif
    &gemm_f32_packing_ref[0],
    &gemm_f32_packing_ref[1],
};
const size_t gemm_f32_packing_kernel_count =
    sizeof gemm_f32_packing_kernels / sizeof gemm_f32_packing_kernels[0];

static int suits(const struct gemm_f32_kernel *kernel, uint32_t features, int in_order, int columns)
{
    return kernel->columns == (columns != 0) &&
           (!kernel->in_order || kernel->in_order == in_order) && (kernel->needs & ~features) == 0;
}

const struct gemm_f32_kernel *gemm_f32_find(const struct cpu *cpu, size_t mr, size_t nr,
                                            int columns)
{
    int in_order = cpu->core->in_order;
    for (size_t i = 0; i < gemm_f32_kernel_count; i++) {
        const struct gemm_f32_kernel *kernel = gemm_f32_kernels[i];
        if (kernel->mr == mr && kernel->nr == nr && suits(kernel, cpu->features, in_order, columns))
            return kernel;
    }
    return NULL;
}

/* Faster ones are earlier in the list. */
void gemm_f32_find_tiles(gemm_f32_fn *tiles[][GEMM_F32_MR], uint32_t features, int in_order,
                         int columns)
{
    for (size_t i = gemm_f32_kernel_count; i-- > 0;) {
        const struct gemm_f32_kernel *kernel = gemm_f32_kernels[i];
        if (suits(kernel, features, in_order, columns))
            tiles[kernel->nr / 4 - 1][kernel->mr - 1] = kernel->run;
    }
}

gemm_f32_fn *gemm_f32_find_packing(uint32_t features, int in_order, int columns)
{
    for (size_t i = 0; i < gemm_f32_packing_kernel_count && !in_order; i++)
        if (suits(gemm_f32_packing_kernels[i], features, in_order, columns))
            return gemm_f32_packing_kernels[i]->run;
    return NULL;
}
