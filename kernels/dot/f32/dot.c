/* The list of kernels for dot products, fastest first. */
#include "kernels/dot/f32/dot.h"

const struct dot_f32_kernel *const dot_f32_kernels[] = {
#define LISTED(name) &dot_f32_##name,
    DOT_F32_KERNELS(LISTED)
#undef LISTED
};
const size_t dot_f32_kernel_count = sizeof dot_f32_kernels / sizeof dot_f32_kernels[0];

const struct dot_f32_kernel *dot_f32_find(uint32_t features, int in_order)
{
    size_t i = 0;
    while (!cpu_suits(dot_f32_kernels[i]->needs, dot_f32_kernels[i]->in_order, features, in_order))
        i++;
    return dot_f32_kernels[i];
}
