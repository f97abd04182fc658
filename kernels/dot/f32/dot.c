/* The list of kernels for dot products, fastest first. */
#include "kernels/dot/f32/dot.h"

DEFINE_NAMED_KERNELS(dot_f32, dot_f32_kernel, DOT_F32_KERNELS);

const struct dot_f32_kernel *dot_f32_find(uint32_t features, int in_order)
{
    size_t i = 0;
    while (!cpu_suits(dot_f32_kernels[i]->needs, dot_f32_kernels[i]->in_order, features, in_order))
        i++;
    return dot_f32_kernels[i];
}
