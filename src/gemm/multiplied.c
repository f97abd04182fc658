/* Which type is multiplied, by what is stored and by what the attributes permit. */
#include "src/gemm/multiplied.h"

#include "src/core/data_type.h"
#include "src/gemm/operands.h"

/* Bits of the sets below. */
#define OF(element) (1u << (element))
enum { IN_BF16 = OF(ELEMENT_BF16) | OF(ELEMENT_S8) | OF(ELEMENT_U8) };

/* Does bf16 hold the type's values, or may they be rounded to it? */
static bool is_bf16(const struct problem *problem, enum element element)
{
    neo_fpmath_mode mode = problem->attributes.fpmath;
    bool rounds = mode == NEO_FPMATH_BF16 || mode == NEO_FPMATH_ANY;
    return OF(element) & IN_BF16 || (rounds && element == ELEMENT_F32);
}

static const struct gemm_type *other_than_f32(const struct gemm_type *type)
{
    return type == &gemm_types[GEMM_F32] ? NULL : type;
}

/* Without an instruction for it f32 is not rounded: that would only cost. */
static const struct gemm_type *in_bf16(const struct cpu *cpu, bool has_f32)
{
    const struct gemm_type *type = gemm_type_choose(cpu, ELEMENT_BF16, ELEMENT_F32);
    bool is_plain = !gemm_kernel_find(cpu, type)->needs;
    return has_f32 && is_plain ? NULL : other_than_f32(type);
}

/* What sums of f16 may be kept in. */
static enum element sum_of_f16(const struct problem *problem)
{
    neo_accumulation_mode mode = problem->attributes.accumulation;
    bool may_be_short = mode == NEO_ACCUMULATION_F16 || mode == NEO_ACCUMULATION_RELAXED ||
                        mode == NEO_ACCUMULATION_ANY;
    return may_be_short ? ELEMENT_F16 : ELEMENT_F32;
}

const struct gemm_type *gemm_multiplied(const struct problem *problem, const struct cpu *cpu,
                                        bool are_adjusted)
{
    enum element a = type_of(problem, SRC), b = type_of(problem, WEIGHTS);
    if (is_of_integers(problem))
        return gemm_type_choose(cpu, ELEMENT_S8, ELEMENT_S32);
    if (are_adjusted)
        return NULL;
    if (is_bf16(problem, a) && is_bf16(problem, b))
        return in_bf16(cpu, a == ELEMENT_F32 || b == ELEMENT_F32);
    if (a == ELEMENT_F16 && b == ELEMENT_F16)
        return other_than_f32(gemm_type_choose(cpu, ELEMENT_F16, sum_of_f16(problem)));
    return NULL;
}

double gemm_weight_bits(const struct problem *problem, const struct gemm_type *type)
{
    const neo_memory_desc *weights = &problem->tensors[WEIGHTS];
    bool is_packed = type && weights->format_kind != NEO_FORMAT_STRIDED;
    return is_packed ? 8 * (double)element_bytes(type->element)
                     : (double)data_type_bits(weights->data_type);
}
