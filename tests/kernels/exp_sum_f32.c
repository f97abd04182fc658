/* Powers and their sum: the error of each, NaN and infinities, every size, nothing beyond the
 * arrays. */
#include "tests/support/kernel_tests.h"

#include <float.h>
#include <math.h>

#include "kernels/elementwise/f32/fold.h"
#include "tests/support/fill.h"

enum { MOST = 83, MANY = 4096 };
static struct guard guard_x, guard_out;

/* 1.5 units in the last place of each; of their sum as many as there are, since all are positive.
 */
static void check(const struct exp_sum_f32_kernel *kernel, size_t n, const float *x, float max,
                  float *out)
{
    double wanted_sum = 0;
    float sum = kernel->run(n, x, max, out);
    for (size_t i = 0; i < n; i++) {
        double want = exp((double)(x[i] - max));
        wanted_sum += want;
        if (fabs((double)out[i] - want) > 1.5 * (double)FLT_EPSILON * want + (double)FLT_MIN)
            fail_msg("%s: exp(%g - %g) is %g, not %g", kernel->name, (double)x[i], (double)max,
                     (double)out[i], want);
    }
    assert_true(fabs((double)sum - wanted_sum) <=
                (2 + (double)n / 16) * (double)FLT_EPSILON * wanted_sum);
}

static void every_size_is_near(void **state)
{
    const struct exp_sum_f32_kernel *kernel = *state;
    uint32_t seed = fill_seed();
    for (size_t n = 1; n <= MOST; n++)
        for (int end = 0; end < 2; end++) {
            float *x = guard_at(&guard_x, n * sizeof *x, end);
            fill_reals(x, n, &seed);
            check(kernel, n, x, 1, guard_at(&guard_out, n * sizeof *x, end));
        }
}

static void the_whole_range_is_near(void **state)
{
    float *x = guard_at(&guard_x, MANY * sizeof *x, 1);
    for (int i = 0; i < MANY; i++)
        x[i] = 3 - 0.03f * (float)i;
    check(*state, MANY, x, 3, guard_at(&guard_out, MANY * sizeof *x, 1));
}

/* In every place; in place, too. */
static void infinities_are_nothing_and_nan_stays(void **state)
{
    const struct exp_sum_f32_kernel *kernel = *state;
    float *x = guard_at(&guard_x, MOST * sizeof *x, 1);
    for (size_t at = 0; at < MOST; at++) {
        for (size_t i = 0; i < MOST; i++)
            x[i] = i == at ? 1 : -INFINITY;
        assert_true(kernel->run(MOST, x, 1, x) == 1 && x[at] == 1 && x[(at + 1) % MOST] == 0);
        for (size_t i = 0; i < MOST; i++)
            x[i] = i == at ? NAN : 0;
        assert_true(isnan(kernel->run(MOST, x, 0, x)) && isnan(x[at]) && x[(at + 1) % MOST] == 1);
        x[at] = INFINITY;
        assert_true(isnan(kernel->run(MOST, x, INFINITY, x)) && isnan(x[at]));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(every_size_is_near), cmocka_unit_test(the_whole_range_is_near),
        cmocka_unit_test(infinities_are_nothing_and_nan_stays)};
    for (size_t t = 0; t < exp_sum_f32_kernel_count; t++)
        kernel_tests_add(exp_sum_f32_kernels[t]->name, exp_sum_f32_kernels[t]->needs,
                         exp_sum_f32_kernels[t], each, sizeof each / sizeof *each);
    return kernel_tests_run("exp_sum_f32",
                            (struct kernel_tests_guard[]){{&guard_x, MANY * sizeof(float)},
                                                          {&guard_out, MANY * sizeof(float)}},
                            2);
}
