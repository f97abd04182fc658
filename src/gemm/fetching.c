/* Which products fetch packed weights from memory while they multiply those before. */
#include <math.h>

#include "src/gemm/gemm.h"
#include "src/gemm/step.h"
#include "src/primitive/cost.h"

double gemm_reading(const struct cpu *cpu, double bytes, double all_bytes)
{
    double cycles = bytes / fmax(cpu_bandwidth(cpu), 1e-3) * cpu->core->ghz;
    bool is_far = all_bytes > (double)cpu->l2_bytes / 2 && cpu_bandwidth(cpu) > 0;
    return is_far ? cycles * fmax(cpu->core->fmla_per_cycle, 1) : 0;
}

static bool pays(double reading, double products)
{
    enum { LITTLE = 8 }; /* of the time of products is this part */
    return reading > 0 && (double)LITTLE * reading > products;
}

bool gemm_fetching_pays(const struct cpu *cpu, double bytes, double products)
{
    return pays(gemm_reading(cpu, bytes, bytes), products);
}

/* Of so many columns of n. An instruction of a type does more products than one of f32, and k steps
 * of them. */
static double columns_reading(const struct cpu *cpu, const struct gemm_type *given, double columns,
                              double n, double k)
{
    const struct gemm_type *f32 = &gemm_types[GEMM_F32], *type = given ? given : f32;
    double column = k * (double)element_bytes(type->element);
    return gemm_reading(cpu, columns * column, n * column) * (double)type->products /
           (double)f32->products;
}

/* Where rows are many, kernels of other types always may. */
static bool can_fetch(const struct gemm_f32_listed_kernels *kernels, const struct gemm_type *type,
                      double m)
{
    return type ? m > (double)GEMM_MR
                : kernels && kernels->fetch[kernels->height - 1] && m > kernels->height;
}

bool gemm_fetches(const struct cpu *cpu, const struct gemm_type *type, double m, double n, double k)
{
    const struct gemm_f32_listed_kernels *kernels =
        gemm_lists(cpu, n) ? gemm_f32_listed_find(cpu->features, cpu->core->in_order) : NULL;
    return can_fetch(kernels, type, m) && pays(columns_reading(cpu, type, n, n, k), m * n * k / 4);
}

void gemm_count_fetching(struct cost *cost, double n)
{
    const double panel = LAYOUT_PANEL; /* clang wants a double */
    cost->meanwhile = cost->cycles;
    cost->others += cost->weights * fmin(panel / fmax(n, 1), 1);
}

void gemm_plan_fetching(struct gemm_plan *plan, const struct cpu *cpu)
{
    const struct gemm_shape *shape = &plan->shape;
    double m = (double)shape->m, n = (double)shape->n, k = (double)shape->k;
    plan->fetches = false;
    plan->panel_reading = 0;
    if (!shape->b_packed || gemm_is_unknown(shape))
        return;
    plan->panel_reading = columns_reading(cpu, shape->type, (double)plan->panel_columns, n, k);
    plan->fetches = can_fetch(plan->listed, shape->type, m) &&
                    (shape->type || plan->block_tiles > 1) &&
                    pays(columns_reading(cpu, shape->type, n, n, k), m * n * k / 4);
}
