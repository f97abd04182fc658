/* Division by a known number without divisions. */
#include "tests/support/test.h"

#include <math.h>

#include "src/gemm/reciprocal.h"
#include "tests/support/fill.h"

static float quotient(float dividend, struct gemm_reciprocal by)
{
    return by.rest == 0 ? dividend * by.most : fmaf(dividend, by.most, dividend * by.rest);
}

/* The next dividend that is rounded otherwise, of all significands from `first` on; 0: none is. */
static float next_wrong(float first, float divisor, struct gemm_reciprocal by)
{
    for (float x = first; x < 0x1p24f; x++)
        if (quotient(x, by) != x / divisor)
            return x;
    return 0;
}

static void every_quotient_is_the_same(void **state)
{
    (void)state;
    const float divisors[] = {0.6f, 5};
    for (size_t i = 0; i < count_of(divisors); i++) {
        struct gemm_reciprocal by = gemm_reciprocal_of(divisors[i]);
        assert_true(by.most > 0);
        assert_true(next_wrong(0x1p23f, divisors[i], by) == 0);
    }
}

/* Those without a reciprocal would have a quotient that is wrong. */
static void divisors_are_refused_for_a_reason(void **state)
{
    (void)state;
    enum { ENOUGH = 2 };
    uint32_t seed = fill_seed();
    for (int found = 0; found < ENOUGH;) {
        float divisor = (float)(fill_next(&seed) >> 8 | 1 << 23);
        if (gemm_reciprocal_of(divisor).most > 0)
            continue;
        double exact = 1 / (double)divisor;
        float most = (float)exact;
        if ((double)most > exact)
            most = nextafterf(most, 0);
        struct gemm_reciprocal by = {most, (float)(exact - (double)most)};
        assert_true(next_wrong(0x1p23f, divisor, by) > 0);
        found++;
    }
}

static void random_quotients_are_the_same(void **state)
{
    (void)state;
    enum { DIVISORS = 300, DIVIDENDS = 1000 };
    uint32_t seed = fill_seed(), refused = 0;
    for (int i = 0; i < DIVISORS; i++) {
        uint32_t bits = fill_next(&seed);
        float divisor = ldexpf((float)(bits >> 8 | 1 << 23), (int)(bits & 31) - 40);
        struct gemm_reciprocal by = gemm_reciprocal_of(divisor);
        refused += by.most == 0;
        for (int n = 0; by.most > 0 && n < DIVIDENDS; n++) {
            float x = ldexpf((float)(int32_t)fill_next(&seed), (int)(bits >> 5 & 31) - 16);
            assert_true(quotient(x, by) == x / divisor);
        }
    }
    assert_true(refused < DIVISORS / 4);
}

static void keeps_what_is_special(void **state)
{
    (void)state;
    const float divisors[] = {3, 4, 0.6f, 0x1p-30f, 0x1p30f};
    for (size_t i = 0; i < count_of(divisors); i++) {
        struct gemm_reciprocal by = gemm_reciprocal_of(divisors[i]);
        assert_true(quotient(INFINITY, by) == INFINITY && quotient(-INFINITY, by) == -INFINITY);
        assert_true(isnan(quotient(NAN, by)) && quotient(0, by) == 0);
    }
    const float none[] = {0, -1, 0x1p-31f, 0x1p31f, INFINITY, NAN};
    for (size_t i = 0; i < count_of(none); i++)
        assert_true(gemm_reciprocal_of(none[i]).most == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quotient_is_the_same),
        cmocka_unit_test(divisors_are_refused_for_a_reason),
        cmocka_unit_test(random_quotients_are_the_same),
        cmocka_unit_test(keeps_what_is_special),
    };
    return cmocka_run_group_tests_name("reciprocal", tests, NULL, NULL);
}
