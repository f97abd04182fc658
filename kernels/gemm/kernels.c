/* The kernels of all types, and which of them a CPU takes. */
#include "kernels/gemm/types.h"

const struct gemm_kernel *const gemm_kernels[] = {
#if !NEO_PORTABLE
    &gemm_neon[0],
    &gemm_neon[1],
    &gemm_neon[2],
    &gemm_neon[3],
    &gemm_neon[4],
    &gemm_neon[5],
    &gemm_neon[6],
    &gemm_neon[7],
    &gemm_neon[8],
#else
    &gemm_generic[0],        &gemm_generic[1],         &gemm_generic[2],
    &gemm_generic[3],
#endif
    &gemm_ref[GEMM_F32],
    &gemm_ref[GEMM_S8_DOT],
    &gemm_ref[GEMM_S8_MMLA],
    &gemm_ref[GEMM_S8_WIDE],
    &gemm_ref[GEMM_BF16_DOT],
    &gemm_ref[GEMM_BF16_MMLA],
    &gemm_ref[GEMM_F16],
    &gemm_ref[GEMM_F16_LONG],
};
_Static_assert(GEMM_NEON_KERNELS == 9 && GEMM_GENERIC_KERNELS == 4,
               "all of the table are listed, and no more");
const size_t gemm_kernel_count = sizeof gemm_kernels / sizeof gemm_kernels[0];

static int suits(const struct gemm_kernel *kernel, const struct cpu *cpu)
{
    return cpu_suits(kernel->needs, kernel->in_order, cpu->features, cpu->core->in_order);
}

const struct gemm_kernel *gemm_kernel_find(const struct cpu *cpu, const struct gemm_type *type)
{
    size_t i = 0;
    while (gemm_kernels[i]->type != type || !suits(gemm_kernels[i], cpu))
        i++;
    return gemm_kernels[i];
}

static int holds(const struct gemm_type *type, enum element element)
{
    int is_float = element == ELEMENT_F16 || element == ELEMENT_BF16;
    return type->element == (element == ELEMENT_U8 ? ELEMENT_S8 : element) ||
           (is_float && type->element == ELEMENT_F32);
}

/* Plain loops need no feature, and have no instruction of a type's kind. */
static float products_per_cycle(const struct cpu *cpu, const struct gemm_type *type)
{
    int is_plain = !gemm_kernel_find(cpu, type)->needs;
    return is_plain ? 0 : cpu->core->macs[type->kind] * (float)type->products;
}

static int sums_as(const struct gemm_type *type, enum element sum)
{
    return type->within == sum || (sum == ELEMENT_F16 && type->within == ELEMENT_F32);
}

const struct gemm_type *gemm_type_choose(const struct cpu *cpu, enum element element,
                                         enum element sum)
{
    const struct gemm_type *best = NULL;
    float most = -1;
    for (size_t i = gemm_type_count; i-- > 0;) {
        const struct gemm_type *type = &gemm_types[i];
        float products = products_per_cycle(cpu, type);
        if (!sums_as(type, sum) || !holds(type, element) || products <= most)
            continue;
        best = type;
        most = products;
    }
    return best;
}
