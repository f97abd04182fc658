/* The definition of direct.h as loops: tiles that read rows of A. */
#include "kernels/gemm/f32/direct/ref.h"

#define KERNEL(height, width, vectors, group)                                               \
    gemm_f32_direct_fn gemm_f32_direct_##height##x##width##_ref;                            \
    void gemm_f32_direct_##height##x##width##_ref(const struct gemm_f32_direct *shape,      \
                                                  const float *a, const float *b, float *c, \
                                                  const float *bias)                        \
    {                                                                                       \
        run_strip_ref(&(struct strip){shape, a, b, bias, c}, shape->lda, 1,                 \
                      gemm_f32_direct_rows(shape, height), vectors, group);                 \
    }
#include "kernels/gemm/f32/direct/list.h"
#include "kernels/gemm/f32/direct/only_in_order_list.h"
#undef KERNEL

/* Four sums in turn. */
static float sum_of_parts(const struct strip *strip, const float *a, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t before = shape->b_tail || shape->rounds == 0 ? 0 : shape->tail;
    size_t turns = before + 4 * shape->rounds, steps = 4 * shape->rounds + shape->tail;
    float parts[4] = {0};
    for (size_t p = 0; p < turns; p++) {
        float *part = &parts[p < before ? p : (p - before) % 4];
        *part = fmaf(a[p], row_of_b(strip, p, 0)[j], *part);
    }
    float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    for (size_t p = turns; p < steps; p++)
        sum = fmaf(a[p], row_of_b(strip, p, 0)[j], sum);
    return sum;
}

static void run_parts_ref(const struct strip *strip, size_t rows, size_t vectors)
{
    const struct gemm_f32_direct *shape = strip->shape;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < 4 * (vectors - 1) + shape->lanes; j++)
            strip->c[i * shape->ldc + j] =
                finish_sum(strip, sum_of_parts(strip, strip->a + i * shape->lda, j), i, j);
}

#define KERNEL(height, width)                                                                     \
    gemm_f32_direct_fn gemm_f32_direct_##height##x##width##_parts_ref;                            \
    void gemm_f32_direct_##height##x##width##_parts_ref(const struct gemm_f32_direct *shape,      \
                                                        const float *a, const float *b, float *c, \
                                                        const float *bias)                        \
    {                                                                                             \
        run_parts_ref(&(struct strip){shape, a, b, bias, c}, gemm_f32_direct_rows(shape, height), \
                      width / 4);                                                                 \
    }
#include "kernels/gemm/f32/direct/parts_list.h"
