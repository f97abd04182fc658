/* The list of kernels for patches by pointer, fastest first. */
#include "kernels/indirect/f32/indirect.h"

const struct indirect_f32_kernel *const indirect_f32_kernels[] = {
#define LISTED(name) &indirect_f32_##name,
    INDIRECT_F32_KERNELS(LISTED)
#undef LISTED
};
const size_t indirect_f32_kernel_count =
    sizeof indirect_f32_kernels / sizeof indirect_f32_kernels[0];

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
