/* Every elementwise kernel: its error against f64, its limits, and that it stays in its arrays. */
#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "tests/support/cases/eltwise_bounds.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/rounds.h"

enum { MOST = 4096 };
static struct guard guard_src, guard_dst;

/* The whole range of numbers, and the parts in which functions bend. */
static void make_inputs(float *out, size_t count, uint32_t *seed)
{
    static const float scales[] = {0.01f, 1, 4, 12, 100};
    fill_reals(out, count, seed);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = fill_next(seed);
        if (i % 6 == 0 && (bits & 0x7f800000) != 0x7f800000)
            memcpy(&out[i], &bits, sizeof bits);
        else
            out[i] *= scales[i % count_of(scales)];
    }
}

static const float specials[] = {0.0f,     -0.0f,     INFINITY, -INFINITY, NAN,     FLT_MAX,
                                 -FLT_MAX, FLT_MIN,   -FLT_MIN, 1e-45f,    -1e-45f, 1,
                                 -1,       88.72284f, -103.97f, -87.4f,    0.5f,    1.5f,
                                 -2.5f,    8388609,   1e10f,    -1e10f,    0.95f,   -6.3f};

static void check_piece(const struct eltwise_f32_kernel *kernel, enum eltwise_f32_alg alg, size_t p,
                        const float *inputs, size_t count)
{
    static double want[MOST];
    const struct eltwise_bound *bound = &eltwise_bounds[alg];
    float a = bound->alpha[p], b = bound->beta[p], *out = guard_end(&guard_dst, count * sizeof a);
    kernel->run(count, inputs, out, a, b);
    eltwise_define(alg, count, inputs, want, a, b);
    for (size_t i = 0; i < count; i++) {
        double error = eltwise_error(bound, want[i], out[i]);
        if (error > bound->ulps)
            fail_msg("%s(%.9g) alpha=%g beta=%g is %.9g, %.3f ulp from %.17g (seed %u)",
                     kernel->name, (double)inputs[i], (double)a, (double)b, (double)out[i], error,
                     want[i], fill_seed());
    }
}

static const struct eltwise_f32_kernel *kernel_of(void **state)
{
    return *state;
}

static enum eltwise_f32_alg alg_of(void **state)
{
    for (size_t i = 0; i < eltwise_f32_kernel_count; i++)
        for (size_t alg = 0; alg < ELTWISE_F32_COUNT; alg++)
            if (&eltwise_f32_kernels[i][alg] == kernel_of(state))
                return (enum eltwise_f32_alg)alg;
    fail();
    return ELTWISE_F32_COUNT;
}

static void check_inputs(void **state, const float *inputs, size_t count)
{
    enum eltwise_f32_alg alg = alg_of(state);
    for (size_t p = 0; p < ELTWISE_PARAMETERS; p++)
        if (eltwise_bound_is_new(&eltwise_bounds[alg], p))
            check_piece(kernel_of(state), alg, p, inputs, count);
}

static void is_near_the_f64_value(void **state)
{
    uint32_t seed = fill_seed();
    float *inputs = guard_end(&guard_src, MOST * sizeof(float));
    for (int round = 0; round < 4; round++) {
        make_inputs(inputs, MOST, &seed);
        check_inputs(state, inputs, MOST);
    }
    check_inputs(state, specials, count_of(specials));
}

/* By their bits, some of each exponent; tests/sweep takes all of them. */
static void values_of_all_exponents_are_near_the_f64_value(void **state)
{
    float *inputs = guard_end(&guard_src, MOST * sizeof(float));
    const size_t pieces = rounds_count(1, 256);
    const uint32_t step = (uint32_t)(((uint64_t)1 << 32) / (pieces * MOST)) | 1;
    uint32_t bits = 0;
    for (size_t piece = 0; piece < pieces; piece++) {
        for (size_t i = 0; i < MOST; i++, bits += step)
            memcpy(&inputs[i], &bits, sizeof bits);
        check_inputs(state, inputs, MOST);
    }
}

/* A bound that is 0 is as near as a zero of the other sign. */
static bool either_zero_is_right(enum eltwise_f32_alg alg, float a, float b)
{
    return (alg == ELTWISE_F32_CLIP || alg == ELTWISE_F32_CLIP_V2) && (a == 0 || b == 0);
}

/* The sign of a zero is that of C's functions. */
static void zeros_have_signs(void **state)
{
    static const float zeros[] = {0.0f, -0.0f};
    enum eltwise_f32_alg alg = alg_of(state);
    const struct eltwise_bound *bound = &eltwise_bounds[alg];
    for (size_t p = 0; p < ELTWISE_PARAMETERS; p++) {
        double want[2];
        float got[2], a = bound->alpha[p], b = bound->beta[p];
        kernel_of(state)->run(2, zeros, got, a, b);
        eltwise_define(alg, 2, zeros, want, a, b);
        for (size_t i = 0; i < 2; i++)
            if (want[i] == 0 && !signbit(want[i]) != !signbit(got[i]) &&
                !either_zero_is_right(alg, a, b))
                fail_msg("%s(%g) alpha=%g beta=%g is %g, not %g", kernel_of(state)->name,
                         (double)zeros[i], (double)a, (double)b, (double)got[i], want[i]);
    }
}

/* Every value in the first, a middle or the last vector, alone or with others, in place or not. */
static void does_not_depend_on_the_place(void **state)
{
    const struct eltwise_bound *bound = &eltwise_bounds[alg_of(state)];
    float all[count_of(specials)], a = bound->alpha[1], b = bound->beta[1];
    kernel_of(state)->run(count_of(specials), specials, all, a, b);
    for (size_t n = 0; n <= count_of(specials); n++)
        for (size_t first = 0; first + n <= count_of(specials); first++)
            for (int end = 0; end < 2; end++) {
                float *src = guard_at(&guard_src, n * sizeof(float), end);
                float *dst = guard_at(&guard_dst, n * sizeof(float), end);
                memcpy(src, specials + first, n * sizeof(float));
                kernel_of(state)->run(n, src, dst, a, b);
                assert_memory_equal(src, specials + first, n * sizeof(float));
                kernel_of(state)->run(n, src, src, a, b);
                for (size_t i = 0; i < n; i++) {
                    assert_true(dst[i] == all[first + i] || isnan(all[first + i]));
                    assert_true(src[i] == dst[i] || isnan(dst[i]));
                    assert_int_equal(isnan(dst[i]), isnan(all[first + i]));
                }
            }
}

static void pow_follows_c(void **state)
{
    (void)state;
    static const float exponents[] = {0,     -0.0f,    1,        2,         -1,  -3,  0.5f, -0.5f,
                                      1e10f, 16777215, INFINITY, -INFINITY, NAN, 100, -100};
    for (size_t t = 0; t < eltwise_f32_kernel_count; t++)
        for (size_t e = 0; e < count_of(exponents); e++)
            for (size_t i = 0; i < count_of(specials); i++) {
                const struct eltwise_f32_kernel *kernel = &eltwise_f32_kernels[t][ELTWISE_F32_POW];
                if (kernel->needs & ~cpu_get()->features)
                    continue;
                float got, b = exponents[e];
                kernel->run(1, &specials[i], &got, 1, b);
                const struct eltwise_bound *bound = &eltwise_bounds[ELTWISE_F32_POW];
                double want = pow((double)specials[i], (double)b);
                if (eltwise_error(bound, want, got) > bound->ulps)
                    fail_msg("%s: %g^%g is %g", kernel->name, (double)specials[i], (double)b,
                             (double)got);
                assert_int_equal(signbit(got) && got == 0,
                                 signbit(powf(specials[i], b)) && got == 0);
            }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_near_the_f64_value),
        cmocka_unit_test(values_of_all_exponents_are_near_the_f64_value),
        cmocka_unit_test(zeros_have_signs),
        cmocka_unit_test(does_not_depend_on_the_place),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(pow_follows_c),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, MOST * sizeof(float)},
        {&guard_dst, MOST * sizeof(float)},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < eltwise_f32_kernel_count; i++)
        for (size_t a = 0; a < ELTWISE_F32_COUNT; a++) {
            const struct eltwise_f32_kernel *kernel =
                eltwise_f32_find(i ? 0 : cpu_get()->features, (enum eltwise_f32_alg)a);
            kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
        }
    return kernel_tests_run("eltwise_f32", guards, count_of(guards));
}
