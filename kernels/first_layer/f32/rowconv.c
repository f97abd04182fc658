/* The list of kernels for rows of pixels, fastest first. */
#include "kernels/first_layer/f32/rowconv.h"

#include <stdbool.h>

#if !NEO_PORTABLE
#include "kernels/first_layer/f32/offsets.h"
#define KERNEL(taps, stride, width, isa, in_order) \
    rowconv_f32_fn rowconv_f32_##taps##s##stride##_8x##width##_##isa;
#include "kernels/first_layer/f32/list.h"
#undef KERNEL
#endif

/* clang-format off */
#define KERNEL(taps, stride, width, isa, in_order) \
    {"rowconv_f32_" #taps "s" #stride "_8x" #width "_" #isa, CPU_NEON, stride, taps, width, \
     rowconv_f32_##taps##s##stride##_8x##width##_##isa, in_order},
const struct rowconv_f32_kernel rowconv_f32_kernels[] = {
#if !NEO_PORTABLE
#include "kernels/first_layer/f32/list.h"
#endif
    {"rowconv_f32_ref", 0, 0, 0, 0, rowconv_f32_ref, 0},
};
#undef KERNEL
/* clang-format on */
const size_t rowconv_f32_kernel_count = sizeof rowconv_f32_kernels / sizeof rowconv_f32_kernels[0];

static bool serves(const struct rowconv_f32_kernel *kernel, const struct cpu *cpu)
{
    return cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order);
}

static bool fits(const struct rowconv_f32_kernel *kernel, size_t stride, size_t taps, size_t width)
{
    return kernel->width == 0 ||
           (kernel->stride == stride && kernel->taps == taps && kernel->width == width);
}

const struct rowconv_f32_kernel *rowconv_f32_find(const struct cpu *cpu, size_t stride, size_t taps,
                                                  size_t width)
{
    size_t i = 0;
    while (!serves(&rowconv_f32_kernels[i], cpu) ||
           !fits(&rowconv_f32_kernels[i], stride, taps, width))
        i++;
    return &rowconv_f32_kernels[i];
}
