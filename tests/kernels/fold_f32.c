/* Folds: values, NaN, every size, nothing beyond the array. */
#include "tests/support/kernel_tests.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise/f32/fold.h"
#include "tests/support/fill.h"

enum { MOST = 83 };
static struct guard guard;

static const struct fold_f32_kernel *kernel_of(void **state, size_t *alg)
{
    const struct fold_f32_kernel *kernel = *state;
    for (size_t t = 0; t < fold_f32_kernel_count; t++)
        for (*alg = 0; *alg < FOLD_F32_COUNT; (*alg)++)
            if (&fold_f32_kernels[t][*alg] == kernel)
                return kernel;
    fail();
    return NULL;
}

static double want(size_t alg, size_t n, const float *x, double about)
{
    double sum = 0, squares = 0, product = 1, high = -HUGE_VAL, low = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        double value = (double)x[i];
        sum += value;
        squares += (value - about) * (value - about);
        product *= value;
        high = fmax(high, value);
        low = fmin(low, value);
    }
    const double all[] = {sum, squares, product, high, low};
    return all[alg];
}

/* Small integers, for products ones and twos: every result is exact. */
static void every_size_is_exact(void **state)
{
    size_t alg;
    uint32_t seed = fill_seed();
    const struct fold_f32_kernel *kernel = kernel_of(state, &alg);
    for (size_t n = 1; n <= MOST; n++)
        for (int end = 0; end < 2; end++) {
            float *x = guard_at(&guard, n * sizeof *x, end);
            fill_integers(x, n, &seed);
            for (size_t i = 0; i < n && alg == FOLD_F32_PRODUCT; i++)
                x[i] = i % 7 == 0 ? 2 : x[i] < 0 ? -1 : 1;
            assert_true((double)kernel->run(n, x, 2) == want(alg, n, x, 2));
        }
}

/* One value that is not like the others counts in every place. */
static void every_place_counts(void **state)
{
    size_t alg;
    const struct fold_f32_kernel *kernel = kernel_of(state, &alg);
    for (size_t at = 0; at < MOST; at++) {
        float *x = guard_at(&guard, MOST * sizeof *x, 1);
        for (size_t i = 0; i < MOST; i++)
            x[i] = 1;
        x[at] = alg == FOLD_F32_MIN ? -3 : 5;
        assert_true((double)kernel->run(MOST, x, 1) == want(alg, MOST, x, 1));
        x[at] = NAN;
        assert_true(isnan(kernel->run(MOST, x, 1)));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {cmocka_unit_test(every_size_is_exact),
                                             cmocka_unit_test(every_place_counts)};
    for (size_t t = 0; t < fold_f32_kernel_count; t++)
        for (size_t i = 0; i < FOLD_F32_COUNT; i++)
            kernel_tests_add(fold_f32_kernels[t][i].name, fold_f32_kernels[t][i].needs,
                             &fold_f32_kernels[t][i], each, count_of(each));
    return kernel_tests_run("fold_f32",
                            (struct kernel_tests_guard[]){{&guard, MOST * sizeof(float)}}, 1);
}
