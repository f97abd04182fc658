/* The list of depthwise kernels, fastest first. */
#include "kernels/depthwise/f32/depthwise.h"

const struct dwconv_f32_kernel *const dwconv_f32_kernels[] = {
#if !NEO_PORTABLE
    &dwconv_f32_planes_pairs_neon,
    &dwconv_f32_planes_a55_neon,
    &dwconv_f32_planes_neon,
    &dwconv_f32_planes_stride_2_a55_neon,
    &dwconv_f32_planes_dilated_neon,
    &dwconv_f32_wide_neon,
    &dwconv_f32_3x3_a55_neon,
    &dwconv_f32_3x3_neon,
    &dwconv_f32_tall_a55_neon,
    &dwconv_f32_taps_a55_neon,
    &dwconv_f32_tall_neon,
    &dwconv_f32_row_neon,
    &dwconv_f32_lanes_neon,
    &dwconv_f32_neon,
#endif
    &dwconv_f32_ref,
};
const size_t dwconv_f32_kernel_count = sizeof dwconv_f32_kernels / sizeof dwconv_f32_kernels[0];

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
