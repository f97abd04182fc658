/* Which products fetch packed weights from memory while they multiply those before. */
#include <math.h>

#include "src/gemm/gemm.h"
#include "src/gemm/step.h"

double gemm_reading(const struct cpu *cpu, double bytes, double all_bytes)
{
    double cycles = bytes / fmax(cpu_bandwidth(cpu), 1e-3) * cpu->core->ghz;
    bool is_far = all_bytes > (double)cpu->l2_bytes / 2 && cpu_bandwidth(cpu) > 0;
    return is_far ? cycles * fmax(cpu->core->fmla_per_cycle, 1) : 0;
}

bool gemm_fetching_pays(const struct cpu *cpu, double bytes, double products)
{
    enum { LITTLE = 8 }; /* of the time of products is this part */
    double reading = gemm_reading(cpu, bytes, bytes);
    return reading > 0 && LITTLE * reading > products;
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

/* An instruction of a type does more products than one of f32, and k steps of them. */
static double panel_reading(const struct gemm_shape *shape, const struct cpu *cpu)
{
    const struct gemm_type *f32 = &gemm_types[GEMM_F32], *type = shape->type ? shape->type : f32;
    double panel = (double)gemm_panel_bytes(type, LAYOUT_PANEL, shape->k);
    double all = (double)gemm_panel_bytes(type, shape->n, shape->k);
    return gemm_reading(cpu, panel, all) * (double)type->products / (double)f32->products;
}

void gemm_plan_fetching(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    plan->panel_reading =
        shape->b_packed && !gemm_is_unknown(shape) ? panel_reading(shape, cpu) : 0;
    plan->fetches = plan->listed && shape->b_packed && !gemm_is_unknown(shape) &&
                    plan->block_tiles > 1 &&
                    pays(cpu, plan->listed, (double)shape->m, (double)shape->n, (double)shape->k);
}
