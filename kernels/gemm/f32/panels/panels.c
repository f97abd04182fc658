/* The list of kernels for panels side by side, fastest first. */
#include "kernels/gemm/f32/panels/panels.h"

#if !NEO_PORTABLE
#define KERNEL(height, full, middle, last) \
    gemm_f32_direct_fn gemm_f32_panels_##height##x##full##_##middle##_##last##_neon;
#include "kernels/gemm/f32/panels/list.h"
#undef KERNEL
#define KERNEL(height, vectors, columns) \
    gemm_f32_direct_fn gemm_f32_panels_##height##x0_0_##vectors##_tail_##columns##_neon;
#include "kernels/gemm/f32/panels/tail_list.h"
#undef KERNEL
#endif

/* clang-format off */
#define ENTRY(height, full, middle, last, tail, kind, needs, run) \
    {{"gemm_f32_panels_" #height "x" #full "_" #middle "_" #last kind, needs, height, \
      3 * full + middle + last, 3, 0, 0, 0, height > 1, run}, {full, middle, last, tail}},
static const struct gemm_f32_panels_kernel kernels[] = {
#if !NEO_PORTABLE
#define KERNEL(height, full, middle, last) \
    ENTRY(height, full, middle, last, 0, "_neon", CPU_NEON, \
          gemm_f32_panels_##height##x##full##_##middle##_##last##_neon)
#include "kernels/gemm/f32/panels/list.h"
#undef KERNEL
#define KERNEL(height, vectors, columns) \
    ENTRY(height, 0, 0, vectors, columns, "_tail_" #columns "_neon", CPU_NEON, \
          gemm_f32_panels_##height##x0_0_##vectors##_tail_##columns##_neon)
#include "kernels/gemm/f32/panels/tail_list.h"
#undef KERNEL
#endif
#define KERNEL(height, full, middle, last) \
    ENTRY(height, full, middle, last, 0, "_ref", 0, gemm_f32_panels_##height##_ref)
#include "kernels/gemm/f32/panels/list.h"
#undef KERNEL
#define KERNEL(height, vectors, columns) \
    ENTRY(height, 0, 0, vectors, columns, "_tail_" #columns "_ref", 0, \
          gemm_f32_panels_##height##_ref)
#include "kernels/gemm/f32/panels/tail_list.h"
#undef KERNEL
};
#undef ENTRY
/* clang-format on */
const struct gemm_f32_panels_kernel *const gemm_f32_panels_kernels = kernels;
const size_t gemm_f32_panels_kernel_count = sizeof kernels / sizeof kernels[0];

static int is_for(const struct gemm_f32_panels_kernel *kernel, struct gemm_f32_panels panels)
{
    return kernel->panels.full == panels.full && kernel->panels.middle == panels.middle &&
           kernel->panels.last == panels.last && kernel->panels.tail == panels.tail;
}

size_t gemm_f32_panels_find(uint32_t features, size_t height, struct gemm_f32_panels panels)
{
    size_t i = 0;
    while (i < gemm_f32_panels_kernel_count &&
           !(kernels[i].tile.height == height && is_for(&kernels[i], panels) &&
             (kernels[i].tile.needs & ~features) == 0))
        i++;
    return i;
}

size_t gemm_f32_panels_height(struct gemm_f32_panels panels)
{
    size_t height = 0;
    for (size_t i = 0; i < gemm_f32_panels_kernel_count; i++)
        if (kernels[i].tile.height > height && is_for(&kernels[i], panels))
            height = kernels[i].tile.height;
    return height;
}
