/* The definition of panels.h as loops. */
#include "kernels/gemm/f32/direct/ref.h"
#include "kernels/gemm/f32/panels/panels.h"

/* Column j of B, and how far apart its elements are. */
struct column {
    const float *first;
    size_t stride;
};

static struct column column_of(const struct gemm_f32_direct *strip, const float *b, size_t j)
{
    size_t k = 4 * strip->rounds + strip->tail, full = 12u * strip->panels.full, width = 12;
    size_t panel = j / 12 * 12; /* its first column */
    if (j >= full) {
        size_t middle = 4u * strip->panels.middle;
        panel = j < full + middle ? full : full + middle;
        width = j < full + middle ? middle : 4u * strip->panels.last;
    }
    return (struct column){b + panel * k + (j - panel), width};
}

static float product_sum(const float *a, struct column column, size_t count)
{
    float sum = 0;
    for (size_t p = 0; p < count; p++)
        sum = p ? fmaf(a[p], column.first[p * column.stride], sum) : a[0] * column.first[0];
    return sum;
}

static float sum_of(const struct strip *strip, const float *a, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t k = 4 * shape->rounds + shape->tail, whole = columns_of(strip) - shape->panels.tail;
    if (j < whole)
        return product_sum(a, column_of(shape, strip->b, j), k);
    return sum_in_turn(a, strip->b + (4 * strip->vectors + j - whole) * k, 1, shape->tail, k);
}

#define KERNEL(height)                                                                       \
    void gemm_f32_panels_##height##_ref(const struct gemm_f32_direct *shape, const float *a, \
                                        const float *b, float *c, const float *bias)         \
    {                                                                                        \
        size_t vectors = gemm_f32_panels_vectors(shape->panels);                             \
        run_strip_ref(&(struct strip){shape, a, b, bias, c, shape->lda, 1, vectors, 3},      \
                      gemm_f32_direct_rows(shape, height), sum_of);                          \
    }

KERNEL(1)
KERNEL(2)
KERNEL(3)
KERNEL(4)
KERNEL(5)
KERNEL(6)
KERNEL(7)
KERNEL(8)
