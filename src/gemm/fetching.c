/* Which products fetch packed weights from memory while they multiply those before. */
#include <math.h>

#include "src/gemm/gemm.h"
#include "src/gemm/step.h"

bool gemm_fetching_pays(const struct cpu *cpu, double bytes, double products)
{
    enum { LITTLE = 8 }; /* of the time of products is this part */
    double reading = bytes / fmax(cpu_bandwidth(cpu), 1e-3) * cpu->core->ghz;
    return bytes > (double)cpu->l2_bytes / 2 && cpu_bandwidth(cpu) > 0 &&
           LITTLE * reading > products / fmax(cpu->core->fmla_per_cycle, 1);
}

static bool pays(const struct cpu *cpu, const struct gemm_f32_listed_kernels *kernels, double m,
                 double n, double k)
{
    return kernels->fetch[0] && m > kernels->height &&
           gemm_fetching_pays(cpu, n * k * sizeof(float), m * n * k / 4);
}

bool gemm_fetches(const struct cpu *cpu, double m, double n, double k)
{
    const struct gemm_f32_listed_kernels *kernels =
        gemm_f32_listed_find(cpu->features, cpu->core->in_order);
    return gemm_lists(cpu, n) && pays(cpu, kernels, m, n, k);
}

void gemm_plan_fetching(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    plan->fetches = plan->listed && shape->b_packed && !gemm_is_unknown(shape) &&
                    plan->block_tiles > 1 &&
                    pays(cpu, plan->listed, (double)shape->m, (double)shape->n, (double)shape->k);
}
