/* Every elementwise kernel: its error against f64, its limits, and that it stays in its arrays. */
#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/elementwise/eltwise_f32.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"
#include "tests/support/rounds.h"

enum { MOST = 4096, PARAMETERS = 3 };
static struct guard guard_src, guard_dst;

static double bound(double x, double low, double high)
{
    return isnan(x) ? x : fmin(fmax(x, low), high);
}

static double times(double x, double factor)
{
    return factor == 0 ? 0 : x * factor;
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double relu(double x, double a, double b)
{
    (void)b;
    return x > 0 ? x : a == 0 && !isnan(x) ? 0 : a * x;
}
static double tanh_of(double x, double a, double b)
{
    (void)a, (void)b;
    return tanh(x);
}
static double elu(double x, double a, double b)
{
    (void)b;
    return x > 0 ? x : a * expm1(x);
}
static double square(double x, double a, double b)
{
    (void)a, (void)b;
    return x * x;
}
static double absolute(double x, double a, double b)
{
    (void)a, (void)b;
    return fabs(x);
}
static double sqrt_of(double x, double a, double b)
{
    (void)a, (void)b;
    return sqrt(x);
}
static double linear(double x, double a, double b)
{
    return a * x + b;
}
static double soft_relu(double x, double a, double b)
{
    (void)b;
    return (fmax(a * x, 0) + log1p(exp(-fabs(a * x))) + (isnan(x) ? x : 0)) / a;
}
static double hardsigmoid(double x, double a, double b)
{
    return bound(a * x + b, 0, 1);
}
static double logistic_of(double x, double a, double b)
{
    (void)a, (void)b;
    return logistic(x);
}
static double exp_of(double x, double a, double b)
{
    (void)a, (void)b;
    return exp(x);
}
static double gelu_tanh(double x, double a, double b)
{
    (void)a, (void)b;
    return times(x, logistic(2 * sqrt(2 / M_PI) * x * (1 + 0.044715 * x * x)));
}
static double gelu_erf(double x, double a, double b)
{
    (void)a, (void)b;
    return times(x, erfc(-x * M_SQRT1_2) / 2);
}
static double swish(double x, double a, double b)
{
    (void)b;
    return times(x, logistic(a * x));
}
static double log_of(double x, double a, double b)
{
    (void)a, (void)b;
    return log(x);
}
static double power(double x, double a, double b)
{
    return a * pow(x, b);
}
static double round_of(double x, double a, double b)
{
    (void)a, (void)b;
    return rint(x);
}
static double mish(double x, double a, double b)
{
    (void)a, (void)b;
    return times(x, tanh(fmax(x, 0) + log1p(exp(-fabs(x)))));
}
static double hardswish(double x, double a, double b)
{
    return times(x, bound(a * x + b, 0, 1));
}

/* A result is right within ulps units in the last place, or within near of the f64 value. The
 * second is for functions that pass through cancellation, or whose tail is far below 1. */
static const struct row {
    double (*function)(double x, double a, double b);
    double ulps, near;
    float alpha[PARAMETERS], beta[PARAMETERS];
} rows[ELTWISE_F32_COUNT] = {
    [ELTWISE_F32_RELU] = {relu, 0.5, 0, {0, 0.25f, -1}, {0}},
    [ELTWISE_F32_TANH] = {tanh_of, 3, 0, {0}, {0}},
    [ELTWISE_F32_ELU] = {elu, 3, 0, {1, 0.3f, 2}, {0}},
    [ELTWISE_F32_SQUARE] = {square, 0.5, 0, {0}, {0}},
    [ELTWISE_F32_ABS] = {absolute, 0, 0, {0}, {0}},
    [ELTWISE_F32_SQRT] = {sqrt_of, 0.5, 0, {0}, {0}},
    [ELTWISE_F32_LINEAR] = {linear, 0.51, 0, {2, -0.5f, 1}, {1, 0.25f, 0}},
    [ELTWISE_F32_SOFT_RELU] = {soft_relu, 4, 2e-7, {1, 0.7f, -2}, {0}},
    [ELTWISE_F32_HARDSIGMOID] = {hardsigmoid, 0.51, 0, {0.2f, 1, 0.5f}, {0.5f, 0, 1}},
    [ELTWISE_F32_LOGISTIC] = {logistic_of, 3, 0, {0}, {0}},
    [ELTWISE_F32_EXP] = {exp_of, 1.5, 0, {0}, {0}},
    [ELTWISE_F32_GELU_TANH] = {gelu_tanh, 4, 2e-7, {0}, {0}},
    [ELTWISE_F32_GELU_ERF] = {gelu_erf, 4, 2e-7, {0}, {0}},
    [ELTWISE_F32_SWISH] = {swish, 4, 2e-7, {1, 1.7f, -0.5f}, {0}},
    [ELTWISE_F32_LOG] = {log_of, 2, 0, {0}, {0}},
    [ELTWISE_F32_CLIP] = {bound, 0, 0, {-1, 0, 2}, {1, 6, 2}},
    [ELTWISE_F32_CLIP_V2] = {bound, 0, 0, {-1, 0, 2}, {1, 6, 2}},
    [ELTWISE_F32_POW] = {power, 1.5, 0, {1, 2, 1}, {3, -1.37f, 0}},
    [ELTWISE_F32_ROUND] = {round_of, 0, 0, {0}, {0}},
    [ELTWISE_F32_MISH] = {mish, 4, 2e-7, {0}, {0}},
    [ELTWISE_F32_HARDSWISH] = {hardswish, 1.51, 0, {1.0f / 6, 0.5f, 1}, {0.5f, 0, 1}},
};

static double ulp(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

/* 0 if right; otherwise the error in ulps, or infinity. */
static double error_of(const struct row *row, float x, float a, float b, float got)
{
    double want = row->function((double)x, (double)a, (double)b);
    if (isnan(want))
        return isnan(got) ? 0 : (double)INFINITY;
    if (isinf((float)want) || isinf(got)) /* next to the largest number either is right */
        return (float)want == got || fabs(want) > 0.9999998 * (double)FLT_MAX ? 0
                                                                              : (double)INFINITY;
    double error = fabs((double)got - want);
    return error <= row->near ? 0 : error / ulp(want);
}

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

/* The largest error with each pair of parameters, and what of. */
struct worst {
    double ulps[PARAMETERS];
    float at[PARAMETERS];
};

static void check_row(const struct eltwise_f32_kernel *kernel, const struct row *row,
                      const float *inputs, size_t count, struct worst *worst)
{
    for (size_t p = 0; p < PARAMETERS; p++) {
        float a = row->alpha[p], b = row->beta[p], *out = guard_end(&guard_dst, count * sizeof a);
        if (p > 0 && a == row->alpha[p - 1] && b == row->beta[p - 1])
            continue; /* the function has no parameters */
        kernel->run(count, inputs, out, a, b);
        for (size_t i = 0; i < count; i++) {
            double error = error_of(row, inputs[i], a, b, out[i]);
            if (error > worst->ulps[p])
                worst->ulps[p] = error, worst->at[p] = inputs[i];
            if (error > row->ulps) {
                print_error("%s(%.9g) alpha=%g beta=%g is %.9g, %.3f ulp from %.17g (seed %u)\n",
                            kernel->name, (double)inputs[i], (double)a, (double)b, (double)out[i],
                            error, row->function((double)inputs[i], (double)a, (double)b),
                            fill_seed());
                fail();
            }
        }
    }
}

/* With NEOPRENE_SHOW_ERRORS: what the bounds in the header come from. */
static void show(const struct eltwise_f32_kernel *kernel, const struct row *row,
                 const struct worst *worst)
{
    for (size_t p = 0; p < PARAMETERS && getenv("NEOPRENE_SHOW_ERRORS"); p++)
        print_message("%s alpha=%g beta=%g: %.3f ulp at %.9g\n", kernel->name,
                      (double)row->alpha[p], (double)row->beta[p], worst->ulps[p],
                      (double)worst->at[p]);
}

static const struct eltwise_f32_kernel *kernel_of(void **state)
{
    return *state;
}

static const struct row *row_of(void **state, size_t *alg)
{
    for (size_t i = 0; i < eltwise_f32_kernel_count; i++)
        for (*alg = 0; *alg < ELTWISE_F32_COUNT; (*alg)++)
            if (&eltwise_f32_kernels[i][*alg] == kernel_of(state))
                return &rows[*alg];
    fail();
    return NULL;
}

static void is_near_the_f64_value(void **state)
{
    uint32_t seed = fill_seed();
    size_t alg;
    const struct row *row = row_of(state, &alg);
    float *inputs = guard_end(&guard_src, MOST * sizeof(float));
    struct worst worst = {{0}, {0}};
    for (int round = 0; round < 4; round++) {
        make_inputs(inputs, MOST, &seed);
        check_row(kernel_of(state), row, inputs, MOST, &worst);
    }
    check_row(kernel_of(state), row, specials, count_of(specials), &worst);
}

/* By their bits: every f32 with NEOPRENE_LONG, else some of each exponent. */
static void all_values_are_near_the_f64_value(void **state)
{
    size_t alg, count = 0;
    const struct row *row = row_of(state, &alg);
    float *inputs = guard_end(&guard_src, MOST * sizeof(float));
    struct worst worst = {{0}, {0}};
    enum { SOME = 4096 };
    const uint64_t all = (uint64_t)1 << 32, step = all / rounds_count(SOME, (size_t)all) | 1;
    for (uint64_t bits = 0; bits < all; bits += step) {
        uint32_t word = (uint32_t)bits;
        memcpy(&inputs[count++], &word, sizeof word);
        if (count < MOST)
            continue;
        check_row(kernel_of(state), row, inputs, count, &worst);
        count = 0;
    }
    inputs = memmove(guard_end(&guard_src, count * sizeof(float)), inputs, count * sizeof(float));
    check_row(kernel_of(state), row, inputs, count, &worst);
    show(kernel_of(state), row, &worst);
}

/* Every value in the first, a middle or the last vector, alone or with others, in place or not. */
static void does_not_depend_on_the_place(void **state)
{
    size_t alg;
    const struct row *row = row_of(state, &alg);
    float all[count_of(specials)];
    kernel_of(state)->run(count_of(specials), specials, all, row->alpha[1], row->beta[1]);
    for (size_t n = 0; n <= count_of(specials); n++)
        for (size_t first = 0; first + n <= count_of(specials); first++)
            for (int end = 0; end < 2; end++) {
                float *src = guard_at(&guard_src, n * sizeof(float), end);
                float *dst = guard_at(&guard_dst, n * sizeof(float), end);
                memcpy(src, specials + first, n * sizeof(float));
                kernel_of(state)->run(n, src, dst, row->alpha[1], row->beta[1]);
                assert_memory_equal(src, specials + first, n * sizeof(float));
                kernel_of(state)->run(n, src, src, row->alpha[1], row->beta[1]);
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
                const struct row row = {power, 1.5, 0, {0}, {0}};
                if (error_of(&row, specials[i], 1, b, got) > row.ulps) {
                    print_error("%s: %g^%g is %g\n", kernel->name, (double)specials[i], (double)b,
                                (double)got);
                    fail();
                }
                assert_int_equal(signbit(got) && got == 0,
                                 signbit(powf(specials[i], b)) && got == 0);
            }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(is_near_the_f64_value),
        cmocka_unit_test(all_values_are_near_the_f64_value),
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
