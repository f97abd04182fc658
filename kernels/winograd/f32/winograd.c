/* The list of Winograd transforms, fastest first. */
#include "kernels/winograd/f32/winograd.h"

#include <stdbool.h>

DEFINE_NAMED_KERNELS(winograd_f32, winograd_f32_kernel, WINOGRAD_F32_KERNELS);

static bool serves(const struct winograd_f32_kernel *kernel, const struct cpu *cpu)
{
    return cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order) &&
           (!kernel->sums || kernel->sums <= cpu->core->fmla_per_cycle * cpu->core->fmla_latency);
}

const struct winograd_f32_kernel *winograd_f32_find(const struct cpu *cpu)
{
    size_t i = 0;
    while (!serves(winograd_f32_kernels[i], cpu))
        i++;
    return winograd_f32_kernels[i];
}
