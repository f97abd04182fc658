/* The list of depthwise kernels, fastest first. */
#include "kernels/dwconv_f32.h"

const struct dwconv_f32_kernel *const dwconv_f32_kernels[] = {
#if !NEO_PORTABLE
    &dwconv_f32_wide_neon, &dwconv_f32_3x3_neon, &dwconv_f32_tall_neon, &dwconv_f32_neon,
#endif
    &dwconv_f32_ref,
};
const size_t dwconv_f32_kernel_count = sizeof dwconv_f32_kernels / sizeof dwconv_f32_kernels[0];

int dwconv_f32_does(const struct dwconv_f32_kernel *kernel, const struct dwconv_f32_task *task)
{
    return !kernel->does || kernel->does(task);
}

const struct dwconv_f32_kernel *dwconv_f32_find(uint32_t features,
                                                const struct dwconv_f32_task *task)
{
    size_t i = 0;
    while ((dwconv_f32_kernels[i]->needs & ~features) ||
           !dwconv_f32_does(dwconv_f32_kernels[i], task))
        i++;
    return dwconv_f32_kernels[i];
}
