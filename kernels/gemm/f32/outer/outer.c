/* The list of tiles that read columns of A, fastest first. */
#include "kernels/gemm/f32/outer/outer.h"

#if !NEO_PORTABLE
#define KERNEL(height, width) gemm_f32_direct_fn gemm_f32_outer_##height##x##width##_neon;
#include "kernels/gemm/f32/outer/list.h"
#undef KERNEL
#define KERNEL(height, width) gemm_f32_direct_fn gemm_f32_outer_##height##x##width##_narrow_neon;
#include "kernels/gemm/f32/outer/in_order_list.h"
#undef KERNEL
#endif
#define KERNEL(height, width) gemm_f32_direct_fn gemm_f32_outer_##height##x##width##_ref;
#include "kernels/gemm/f32/outer/list.h"
#undef KERNEL

/* clang-format off */
#define ENTRY(name_, needs_, height_, width, in_order_) \
    {.name = #name_, .needs = needs_, .height = height_, .vectors = width / 4, \
     .group = width / 4, .in_order = in_order_, .run = name_},
const struct gemm_f32_direct_kernel gemm_f32_outer_kernels[] = {
#if !NEO_PORTABLE
#define KERNEL(height, width) \
    ENTRY(gemm_f32_outer_##height##x##width##_narrow_neon, CPU_NEON, height, width, IN_ORDER_NARROW)
#include "kernels/gemm/f32/outer/in_order_list.h"
#undef KERNEL
#define KERNEL(height, width) \
    ENTRY(gemm_f32_outer_##height##x##width##_neon, CPU_NEON, height, width, 0)
#include "kernels/gemm/f32/outer/list.h"
#undef KERNEL
#endif
#define KERNEL(height, width) ENTRY(gemm_f32_outer_##height##x##width##_ref, 0, height, width, 0)
#include "kernels/gemm/f32/outer/list.h"
#undef KERNEL
};
#undef ENTRY
/* clang-format on */
const size_t gemm_f32_outer_kernel_count =
    sizeof gemm_f32_outer_kernels / sizeof gemm_f32_outer_kernels[0];

size_t gemm_f32_outer_find(const struct cpu *cpu, size_t height, size_t vectors)
{
    size_t i = 0;
    for (; i < gemm_f32_outer_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_outer_kernels[i];
        if (kernel->height == height && kernel->vectors == vectors &&
            cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order))
            break;
    }
    return i;
}

bool gemm_f32_outer_is_tuned(const struct core *core, size_t height, size_t vectors)
{
    for (size_t i = 0; core->in_order && i < gemm_f32_outer_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_outer_kernels[i];
        if (kernel->in_order == core->in_order && kernel->height == height &&
            kernel->vectors == vectors)
            return true;
    }
    return false;
}

size_t gemm_f32_outer_height(size_t vectors)
{
    size_t height = 0;
    for (size_t i = 0; i < gemm_f32_outer_kernel_count; i++) {
        const struct gemm_f32_direct_kernel *kernel = &gemm_f32_outer_kernels[i];
        if (kernel->vectors == vectors && kernel->height > height)
            height = kernel->height;
    }
    return height;
}
