/* The definition of direct.h and of gemm/f32/panels/panels.h as loops. */
#include <math.h>

#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/gemm/f32/direct/direct.h"

/* What one call is given. */
struct strip {
    const struct gemm_f32_direct *shape;
    const float *a, *b, *bias;
    float *c;
    const struct gemm_f32_kind *kind;
};

static float element_of_a(const struct strip *strip, size_t i, size_t p)
{
    size_t lda = strip->shape->lda;
    return strip->a[strip->kind->way == GEMM_F32_COLUMNS ? p * lda + i : i * lda + p];
}

static size_t depth_of(const struct strip *strip)
{
    return 4 * strip->shape->rounds + strip->shape->tail;
}

static size_t columns_of(const struct strip *strip)
{
    return 4u * (strip->kind->vectors - 1u) + strip->shape->lanes;
}

/* Is it one of those that come once more behind the panels? */
static int is_in_tail(const struct strip *strip, size_t j)
{
    return j + strip->kind->panels.tail >= columns_of(strip);
}

static float element_of_panels(const struct strip *strip, size_t p, size_t j)
{
    const struct gemm_f32_panels *panels = &strip->kind->panels;
    size_t k = depth_of(strip), full = 12u * panels->full, middle = full + 4u * panels->middle;
    size_t first = j / 12 * 12, width = 12; /* of its panel */
    if (is_in_tail(strip, j))
        return strip->b[(4u * strip->kind->vectors + j + panels->tail - columns_of(strip)) * k + p];
    if (j >= full) {
        first = j < middle ? full : middle;
        width = j < middle ? middle - full : 4u * panels->last;
    }
    return strip->b[first * k + p * width + j - first];
}

static float element_of_b(const struct strip *strip, size_t p, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t whole = 4 * shape->rounds, width = 4u * strip->kind->group;
    if (strip->kind->way == GEMM_F32_PANELS)
        return element_of_panels(strip, p, j);
    if (shape->b_tail && p >= whole)
        return shape->b_tail[(p - whole) * shape->tail_ldb + j];
    return strip->b[p * shape->ldb + j / width * shape->gap + j % width];
}

static float sum_in_order(const struct strip *strip, size_t i, size_t j)
{
    float sum = 0;
    for (size_t p = 0; p < depth_of(strip); p++) {
        float x = element_of_a(strip, i, p), y = element_of_b(strip, p, j);
        sum = p ? fmaf(x, y, sum) : x * y;
    }
    return sum;
}

/* Four sums: the first steps, as many as are no whole round, one each, rounds in turn; then what
 * comes after rounds. */
static float sum_of_parts(const struct strip *strip, size_t i, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    size_t before = shape->b_tail || shape->rounds == 0 ? 0 : shape->tail;
    size_t turns = before + 4 * shape->rounds;
    float parts[4] = {0};
    for (size_t p = 0; p < turns; p++) {
        float *part = &parts[p < before ? p : (p - before) % 4];
        *part = fmaf(element_of_a(strip, i, p), element_of_b(strip, p, j), *part);
    }
    float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    for (size_t p = turns; p < depth_of(strip); p++)
        sum = fmaf(element_of_a(strip, i, p), element_of_b(strip, p, j), sum);
    return sum;
}

/* What goes to C. */
static float element_of_c(const struct strip *strip, size_t i, size_t j)
{
    const struct gemm_f32_direct *shape = strip->shape;
    int parts = strip->kind->way == GEMM_F32_PARTS || is_in_tail(strip, j);
    float sum = (parts ? sum_of_parts : sum_in_order)(strip, i, j);
    if (shape->special & GEMM_F32_SPECIAL_ADDS)
        sum += strip->c[i * shape->ldc + j];
    if (strip->bias)
        sum += strip->bias[j];
    return shape->clamp ? clamp(sum, shape->low, shape->high) : sum;
}

static void run(const struct strip *strip, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns_of(strip); j++)
            strip->c[i * strip->shape->ldc + j] = element_of_c(strip, i, j);
}

/* clang-format off */
#define LIST(list)
#define NEON(...)
#define REF(name, height, ...) \
    gemm_f32_direct_fn gemm_f32_##name; \
    void gemm_f32_##name(const struct gemm_f32_direct *shape, const float *a, const float *b, \
                         float *c, const float *bias) \
    { \
        static const struct gemm_f32_kind kind = __VA_ARGS__; \
        run(&(struct strip){shape, a, b, bias, c, &kind}, gemm_f32_direct_rows(shape, height)); \
    }
#define END(list)
#include "kernels/gemm/f32/direct/table.h"
