/* The list of kernels for rows of pixels, fastest first. */
#include "kernels/rowconv_f32.h"

#include <stdbool.h>

const struct rowconv_f32_kernel *const rowconv_f32_kernels[] = {
#if !NEO_PORTABLE
    &rowconv_f32_in_order_neon[0],
    &rowconv_f32_in_order_neon[1],
    &rowconv_f32_in_order_neon[2],
    &rowconv_f32_in_order_neon[3],
    &rowconv_f32_in_order_neon[4],
    &rowconv_f32_in_order_neon[5],
    &rowconv_f32_in_order_neon[6],
    &rowconv_f32_in_order_neon[7],
    &rowconv_f32_in_order_neon[8],
    &rowconv_f32_in_order_neon[9],
    &rowconv_f32_in_order_neon[10],
    &rowconv_f32_in_order_neon[11],
    &rowconv_f32_neon[0],
    &rowconv_f32_neon[1],
    &rowconv_f32_neon[2],
    &rowconv_f32_neon[3],
    &rowconv_f32_neon[4],
    &rowconv_f32_neon[5],
    &rowconv_f32_neon[6],
    &rowconv_f32_neon[7],
    &rowconv_f32_neon[8],
    &rowconv_f32_neon[9],
    &rowconv_f32_neon[10],
    &rowconv_f32_neon[11],
    &rowconv_f32_neon[12],
    &rowconv_f32_neon[13],
    &rowconv_f32_neon[14],
    &rowconv_f32_neon[15],
    &rowconv_f32_neon[16],
    &rowconv_f32_neon[17],
#endif
    &rowconv_f32_ref,
};
const size_t rowconv_f32_kernel_count = sizeof rowconv_f32_kernels / sizeof rowconv_f32_kernels[0];

static bool serves(const struct rowconv_f32_kernel *kernel, const struct cpu *cpu)
{
    return (kernel->needs & ~cpu->features) == 0 &&
           (!kernel->in_order || kernel->in_order == cpu->core->in_order);
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
    while (!serves(rowconv_f32_kernels[i], cpu) ||
           !fits(rowconv_f32_kernels[i], stride, taps, width))
        i++;
    return rowconv_f32_kernels[i];
}
