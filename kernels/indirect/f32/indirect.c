/* The list of kernels for patches by pointer, fastest first. */
#include "kernels/indirect/f32/indirect.h"

DEFINE_NAMED_KERNELS(indirect_f32, indirect_f32_kernel, INDIRECT_F32_KERNELS);

int indirect_f32_suits(const struct indirect_f32_kernel *kernel, size_t channels, size_t width)
{
    return channels >= kernel->channels && channels % kernel->multiple == 0 &&
           kernel->pixels[width / 4 - 1];
}

const struct indirect_f32_kernel *indirect_f32_find(uint32_t features, int in_order,
                                                    size_t channels, size_t width)
{
    for (size_t i = 0;; i++) {
        const struct indirect_f32_kernel *kernel = indirect_f32_kernels[i];
        if (cpu_suits(kernel->needs, kernel->in_order, features, in_order) &&
            indirect_f32_suits(kernel, channels, width))
            return kernel;
    }
}
