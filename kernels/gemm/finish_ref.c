/* The definition of how sums are finished. */
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/finish.h"

static float sum_of(const struct gemm_finish *finish, enum element element, size_t i, size_t j)
{
    size_t at = i * finish->row + j;
    if (element == ELEMENT_F32)
        return ((const float *)finish->sums)[at];
    uint32_t sum = ((const uint32_t *)finish->sums)[at];
    if (finish->rows)
        sum += (uint32_t)finish->rows[i] * (uint32_t)finish->zeros[j];
    return (float)(int32_t)(sum - (finish->is_float ? GEMM_FLOAT_START : 0));
}

static float value(const struct gemm_finish *finish, enum element sum, size_t i, size_t j)
{
    float out = sum_of(finish, sum, i, j);
    if (finish->row_scales)
        out *= finish->row_scales[i];
    if (finish->scales)
        out *= finish->scales[j];
    if (finish->offsets)
        out += finish->offsets[j];
    if (finish->is_clamped)
        out = clamp(out, finish->low, finish->high);
    if (!finish->is_requantized)
        return out;
    out /= finish->divisor;
    return out + finish->zero;
}

static void run(const struct gemm_finish *finish, enum element sum, enum element dst)
{
    for (size_t i = 0; i < finish->m; i++)
        for (size_t j = 0; j < finish->n; j++)
            element_write_f32(dst, finish->dst, (ptrdiff_t)(i * finish->dst_row + j),
                              value(finish, sum, i, j));
}

#define KERNEL(types, sum, dst)                                  \
    static void finish_##types(const struct gemm_finish *finish) \
    {                                                            \
        run(finish, ELEMENT_##sum, ELEMENT_##dst);               \
    }
GEMM_FINISH_LIST(KERNEL)
#undef KERNEL

#define KERNEL(types, sum, dst) \
    {"finish_" #types "_ref", 0, ELEMENT_##sum, ELEMENT_##dst, finish_##types},
const struct gemm_finish_kernel gemm_finish_ref[GEMM_FINISH_TYPES] = {GEMM_FINISH_LIST(KERNEL)};
#undef KERNEL
