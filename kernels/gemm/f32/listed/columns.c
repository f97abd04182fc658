/* The list of kernels for listed rows whose last columns are contiguous, fastest first. */
#include "kernels/gemm/f32/listed/listed.h"

#if !NEO_PORTABLE
#define KERNEL(height, vectors, columns) \
    gemm_f32_listed_fn gemm_f32_listed_columns_##height##x##vectors##_##columns##_neon;
#include "kernels/gemm/f32/listed/columns_list.h"
#undef KERNEL
#endif

/* clang-format off */
#define ENTRY(height, vectors, columns, kind, needs, run) \
    {"gemm_f32_listed_columns_" #height "x" #vectors "_" #columns kind, needs, height, vectors, \
     columns, run},
static const struct gemm_f32_listed_columns kernels[] = {
#if !NEO_PORTABLE
#define KERNEL(height, vectors, columns) \
    ENTRY(height, vectors, columns, "_neon", CPU_NEON, \
          gemm_f32_listed_columns_##height##x##vectors##_##columns##_neon)
#include "kernels/gemm/f32/listed/columns_list.h"
#undef KERNEL
#endif
#define KERNEL(height, vectors, columns) \
    ENTRY(height, vectors, columns, "_ref", 0, gemm_f32_listed_columns_ref)
#include "kernels/gemm/f32/listed/columns_list.h"
#undef KERNEL
};
#undef ENTRY
/* clang-format on */
const struct gemm_f32_listed_columns *const gemm_f32_listed_columns_kernels = kernels;
const size_t gemm_f32_listed_columns_kernel_count = sizeof kernels / sizeof kernels[0];

static int is_for(const struct gemm_f32_listed_columns *kernel, size_t width)
{
    return 4u * kernel->vectors + kernel->columns == width;
}

gemm_f32_listed_fn *gemm_f32_listed_columns_find(uint32_t features, size_t height, size_t width)
{
    for (size_t i = 0; i < gemm_f32_listed_columns_kernel_count; i++)
        if (kernels[i].height == height && is_for(&kernels[i], width) &&
            (kernels[i].needs & ~features) == 0)
            return kernels[i].run;
    return NULL;
}

size_t gemm_f32_listed_columns_height(size_t width)
{
    size_t height = 0;
    for (size_t i = 0; i < gemm_f32_listed_columns_kernel_count; i++)
        if (kernels[i].height > height && is_for(&kernels[i], width))
            height = kernels[i].height;
    return height;
}
