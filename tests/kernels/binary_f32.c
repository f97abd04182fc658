/* Binary kernels and the sum: values, NaN, broadcast, every size, nothing beyond the arrays. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/elementwise/f32/binary.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"

enum { MOST = 71 };
static struct guard guard_a, guard_b, guard_dst;

static const float values[] = {0.0f,  -0.0f,  1,      -1,       2.5f,      -3.25f,
                               1e30f, -1e30f, 1e-40f, INFINITY, -INFINITY, NAN};

static float want(size_t alg, float a, float b)
{
    const float ordered[] = {a + b, a - b,  a * b, a / b,  fminf(a, b), fmaxf(a, b),      a >= b,
                             a > b, a <= b, a < b, a == b, a != b,      a < 0 ? a * b : a};
    int keeps_nan = alg == BINARY_F32_MIN || alg == BINARY_F32_MAX;
    return keeps_nan && (isnan(a) || isnan(b)) ? NAN : ordered[alg];
}

static void assert_same(const char *name, float a, float b, float got, float expected)
{
    if (got == expected || (isnan(got) && isnan(expected)))
        return;
    print_error("%s(%g, %g) is %g, not %g\n", name, (double)a, (double)b, (double)got,
                (double)expected);
    fail();
}

static void check(const struct binary_f32_kernel *kernel, size_t alg, size_t n, size_t step,
                  uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 3;
    int end = options & 1;
    size_t b_count = step ? n : n ? 1 : 0;
    float *a = guard_at(&guard_a, n * sizeof(float), end);
    float *b = guard_at(&guard_b, b_count * sizeof(float), end);
    float *dst = guard_at(&guard_dst, n * sizeof(float), end), a_copy[MOST], b_copy[MOST];
    for (size_t i = 0; i < n; i++)
        a[i] = values[fill_next(seed) % count_of(values)];
    for (size_t i = 0; i < b_count; i++)
        b[i] = values[fill_next(seed) % count_of(values)];
    memcpy(a_copy, a, n * sizeof(float));
    memcpy(b_copy, b, b_count * sizeof(float));
    if (options & 2)
        dst = options & 4 && step ? b : a;
    kernel->run(n, a, b, step, dst);
    for (size_t i = 0; i < n; i++)
        assert_same(kernel->name, a_copy[i], b_copy[i * step], dst[i],
                    want(alg, a_copy[i], b_copy[i * step]));
}

static void every_function_is_right(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t t = 0; t < 2; t++)
        for (size_t alg = 0; alg < BINARY_F32_COUNT; alg++)
            for (size_t n = 0; n <= MOST; n++)
                for (int round = 0; round < 16; round++)
                    check(binary_f32_find(t ? 0 : cpu_get()->features, (enum binary_f32_alg)alg),
                          alg, n, (size_t)round % 2, &seed);
}

static void sums_scale_the_old_value(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    for (size_t t = 0; t < 2; t++)
        for (size_t n = 0; n <= MOST; n++)
            for (int place = 0; place < 6; place++) {
                const struct sum_f32_kernel *kernel = sum_f32_find(t ? 0 : cpu_get()->features);
                float *a = guard_at(&guard_a, n * sizeof(float), place & 1);
                float *old = guard_at(&guard_b, n * sizeof(float), place & 1);
                float *dst = guard_at(&guard_dst, n * sizeof(float), place & 1), expected[MOST];
                fill_reals(a, n, &seed);
                fill_reals(old, n, &seed);
                for (size_t i = 0; i < n; i++)
                    expected[i] = fmaf(0.3f, old[i] - 1.5f, a[i]);
                float *const places[] = {dst, a, old};
                kernel->run(n, a, old, 0.3f, 1.5f, places[place / 2]);
                for (size_t i = 0; i < n; i++)
                    assert_true(places[place / 2][i] == expected[i]);
            }
}

/* The same bits as fused steps one after another. */
static void blends_are_sums_in_order(void **state)
{
    (void)state;
    uint32_t seed = fill_seed();
    const float weights[] = {0.3f, -0.7f, 0.11f};
    for (size_t t = 0; t < blend_f32_kernel_count; t++)
        for (size_t n = 0; n <= MOST; n++)
            for (size_t count = 1; count <= 3; count++) {
                const struct blend_f32_kernel *kernel = blend_f32_kernels[t];
                float *a = guard_at(&guard_a, n * sizeof(float), (int)(count & 1));
                float *b = guard_at(&guard_b, n * sizeof(float), (int)(count & 1));
                float *dst = guard_at(&guard_dst, n * sizeof(float), (int)(n & 1));
                const float *const lines[] = {a, b, a};
                fill_reals(a, n, &seed);
                fill_reals(b, n, &seed);
                kernel->run(n, count, lines, weights, dst);
                for (size_t i = 0; i < n; i++) {
                    float want = a[i] * weights[0];
                    for (size_t l = 1; l < count; l++)
                        want = fmaf(lines[l][i], weights[l], want);
                    assert_true(dst[i] == want);
                }
            }
}

int main(void)
{
    guard_init(&guard_a, MOST * sizeof(float));
    guard_init(&guard_b, MOST * sizeof(float));
    guard_init(&guard_dst, MOST * sizeof(float));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_right),
        cmocka_unit_test(sums_scale_the_old_value),
        cmocka_unit_test(blends_are_sums_in_order),
    };
    return cmocka_run_group_tests_name("binary_f32", tests, NULL, NULL);
}
