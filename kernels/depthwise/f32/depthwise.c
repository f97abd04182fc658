/* The list of depthwise kernels, fastest first. */
#include "kernels/depthwise/f32/depthwise.h"

DEFINE_NAMED_KERNELS(dwconv_f32, dwconv_f32_kernel, DWCONV_F32_KERNELS);

static int suits(const struct dwconv_f32_kernel *kernel, uint32_t features, int kind)
{
    return (!kernel->kind || kernel->kind == kind) && (kernel->needs & ~features) == 0;
}

const struct dwconv_f32_kernel *dwconv_f32_find(uint32_t features, int kind,
                                                const struct dwconv_f32_task *task)
{
    size_t i = 0;
    while (!suits(dwconv_f32_kernels[i], features, kind) ||
           !dwconv_f32_does(dwconv_f32_kernels[i], task))
        i++;
    return dwconv_f32_kernels[i];
}
