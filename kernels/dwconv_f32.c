/* The list of depthwise kernels, fastest first. */
#include "kernels/dwconv_f32.h"

const struct dwconv_f32_kernel *const dwconv_f32_kernels[] = {
#if !NEO_PORTABLE
    &dwconv_f32_width_neon, &dwconv_f32_3x3s1_neon, &dwconv_f32_3x3s2_neon,
    &dwconv_f32_5x5s1_neon, &dwconv_f32_5x5s2_neon, &dwconv_f32_neon,
#endif
    &dwconv_f32_ref,
};
const size_t dwconv_f32_kernel_count = sizeof dwconv_f32_kernels / sizeof dwconv_f32_kernels[0];

static int is_square(const struct dwconv_f32_task *task, size_t kernel, size_t stride)
{
    return task->kh == kernel && task->kw == kernel && task->stride_h == stride &&
           task->stride_w == stride && task->dilation_h == 1 && task->dilation_w == 1;
}

int dwconv_f32_does(const struct dwconv_f32_kernel *kernel, const struct dwconv_f32_task *task)
{
    if (kernel->by_width && (task->channels != 1 || task->column != 1 || task->dst_column != 1 ||
                             task->weights_tap != 1))
        return 0;
    return kernel->kernel == 0 || is_square(task, kernel->kernel, kernel->stride);
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
