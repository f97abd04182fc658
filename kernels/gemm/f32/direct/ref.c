/* The definition of direct.h as loops: tiles that read rows of A. */
#include "kernels/gemm/f32/direct/ref.h"

/* Four sums in turn, then what comes after rounds. */
static float sum_of_parts(const struct strip *strip, const float *a, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t before = shape->b_tail || shape->rounds == 0 ? 0 : shape->tail;
    size_t turns = before + 4 * shape->rounds, steps = 4 * shape->rounds + shape->tail;
    float sum = sum_in_turn(a, strip->b + j, shape->ldb, before, turns);
    for (size_t p = turns; p < steps; p++)
        sum = fmaf(a[p], row_of_b(strip, p, 0)[j], sum);
    return sum;
}

#define RUN(name, height, vectors, group, sum)                                               \
    gemm_f32_direct_fn name;                                                                 \
    void name(const struct gemm_f32_direct *shape, const float *a, const float *b, float *c, \
              const float *bias)                                                             \
    {                                                                                        \
        run_strip_ref(&(struct strip){shape, a, b, bias, c, shape->lda, 1, vectors, group},  \
                      gemm_f32_direct_rows(shape, height), sum);                             \
    }
#define KERNEL(height, width, vectors, group) \
    RUN(gemm_f32_direct_##height##x##width##_ref, height, vectors, group, sum_in_order)
#include "kernels/gemm/f32/direct/list.h"
#include "kernels/gemm/f32/direct/only_in_order_list.h"
#undef KERNEL
#define KERNEL(height, width) \
    RUN(gemm_f32_direct_##height##x##width##_parts_ref, height, width / 4, width / 4, sum_of_parts)
#include "kernels/gemm/f32/direct/parts_list.h"
