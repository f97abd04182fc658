/* The definition of panels.h as loops. */
#include <math.h>

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

/* The same in four parts, in a tail. */
static float tail_sum(const float *a, const float *column, size_t k)
{
    float parts[4] = {0};
    size_t first = (k - 1) % 4 + 1;
    for (size_t p = 0; p < k; p++) {
        float *part = &parts[p < first ? p : (p - first) % 4];
        *part = fmaf(a[p], column[p], *part);
    }
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

static void put(const struct gemm_f32_direct *strip, float *c, float sum, const float *bias)
{
    if (strip->special & GEMM_F32_SPECIAL_ADDS)
        sum += *c;
    if (bias)
        sum += *bias;
    if (strip->clamp) {
        sum = sum < strip->low ? strip->low : sum;
        sum = sum > strip->high ? strip->high : sum;
    }
    *c = sum;
}

/* Element j of a row, of so many. */
static float sum_of(const struct gemm_f32_direct *strip, const float *row, const float *b, size_t j,
                    size_t columns)
{
    size_t k = 4 * strip->rounds + strip->tail, whole = columns - strip->panels.tail;
    if (j < whole)
        return product_sum(row, column_of(strip, b, j), k);
    return tail_sum(row, b + (4 * gemm_f32_panels_vectors(strip->panels) + j - whole) * k, k);
}

static void run(const struct gemm_f32_direct *strip, const float *a, const float *b, float *c,
                const float *bias, size_t rows)
{
    size_t columns = 4 * gemm_f32_panels_vectors(strip->panels) - 4 + strip->lanes;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            put(strip, &c[i * strip->ldc + j], sum_of(strip, a + i * strip->lda, b, j, columns),
                bias ? bias + j : NULL);
}

#define KERNEL(height)                                                                       \
    void gemm_f32_panels_##height##_ref(const struct gemm_f32_direct *strip, const float *a, \
                                        const float *b, float *c, const float *bias)         \
    {                                                                                        \
        run(strip, a, b, c, bias, gemm_f32_direct_rows(strip, height));                      \
    }

KERNEL(1)
KERNEL(2)
KERNEL(3)
KERNEL(4)
KERNEL(5)
KERNEL(6)
KERNEL(7)
KERNEL(8)
