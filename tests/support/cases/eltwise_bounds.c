#include "tests/support/cases/eltwise_bounds.h"

#include <float.h>
#include <math.h>

#include "kernels/asm/inline.h"

typedef double scalar_fn(double x, double a, double b);

static double bound(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x; /* NaN stays */
}

static double times(double x, double factor)
{
    return factor == 0 ? 0 : x * factor;
}

/* Beyond this, exp is 0 or infinite as an f32, and what the C library has for vectors is slow. */
static double moderate(double x)
{
    return bound(x, -700, 700);
}

static double exponential(double x)
{
    return exp(moderate(x));
}

static double exponential_less_one(double x)
{
    return expm1(moderate(x));
}

static double logistic(double x)
{
    return 1 / (1 + exponential(-x));
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
    double below = a * exponential_less_one(x);
    return x > 0 ? x : below;
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
    return ((a * x > 0 ? a * x : 0) + log1p(exponential(-fabs(a * x)))) / a;
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
    return exponential(x);
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
    return times(x, tanh((x > 0 ? x : 0) + log1p(exponential(-fabs(x)))));
}
static double hardswish(double x, double a, double b)
{
    double factor = bound(a * x + b, 0, 1);
    return factor == 0 && isinf(x) ? 0 : x * factor;
}

INLINE void map(size_t n, const float *x, double *y, double a, double b, scalar_fn *f)
{
    for (size_t i = 0; i < n; i++)
        y[i] = f((double)x[i], a, b);
}

void eltwise_define(enum eltwise_f32_alg alg, size_t n, const float *x, double *y, float alpha,
                    float beta)
{
    double a = (double)alpha, b = (double)beta;
    switch (alg) {
#define CASE(alg, f)           \
    case ELTWISE_F32_##alg:    \
        map(n, x, y, a, b, f); \
        return;
        CASE(RELU, relu)
        CASE(TANH, tanh_of)
        CASE(ELU, elu)
        CASE(SQUARE, square)
        CASE(ABS, absolute)
        CASE(SQRT, sqrt_of)
        CASE(LINEAR, linear)
        CASE(SOFT_RELU, soft_relu)
        CASE(HARDSIGMOID, hardsigmoid)
        CASE(LOGISTIC, logistic_of)
        CASE(EXP, exp_of)
        CASE(GELU_TANH, gelu_tanh)
        CASE(GELU_ERF, gelu_erf)
        CASE(SWISH, swish)
        CASE(LOG, log_of)
        CASE(CLIP, bound)
        CASE(CLIP_V2, bound)
        CASE(POW, power)
        CASE(ROUND, round_of)
        CASE(MISH, mish)
        CASE(HARDSWISH, hardswish)
#undef CASE
    case ELTWISE_F32_COUNT:
        return;
    }
}

const struct eltwise_bound eltwise_bounds[ELTWISE_F32_COUNT] = {
    [ELTWISE_F32_RELU] = {0.5, 0, {0, 0.25f, -1}, {0}},
    [ELTWISE_F32_TANH] = {3, 0, {0}, {0}},
    [ELTWISE_F32_ELU] = {3, 0, {1, 0.3f, 2}, {0}},
    [ELTWISE_F32_SQUARE] = {0.5, 0, {0}, {0}},
    [ELTWISE_F32_ABS] = {0, 0, {0}, {0}},
    [ELTWISE_F32_SQRT] = {0.5, 0, {0}, {0}},
    [ELTWISE_F32_LINEAR] = {0.51, 0, {2, -0.5f, 1}, {1, 0.25f, 0}},
    [ELTWISE_F32_SOFT_RELU] = {4, 2e-7, {1, 0.7f, -2}, {0}},
    [ELTWISE_F32_HARDSIGMOID] = {0.51, 0, {0.2f, 1, 0.5f}, {0.5f, 0, 1}},
    [ELTWISE_F32_LOGISTIC] = {3, 0, {0}, {0}},
    [ELTWISE_F32_EXP] = {1.5, 0, {0}, {0}},
    [ELTWISE_F32_GELU_TANH] = {4, 2e-7, {0}, {0}},
    [ELTWISE_F32_GELU_ERF] = {4, 2e-7, {0}, {0}},
    [ELTWISE_F32_SWISH] = {4, 2e-7, {1, 1.7f, -0.5f}, {0}},
    [ELTWISE_F32_LOG] = {2, 0, {0}, {0}},
    [ELTWISE_F32_CLIP] = {0, 0, {-1, 0, 2}, {1, 6, 2}},
    [ELTWISE_F32_CLIP_V2] = {0, 0, {-1, 0, 2}, {1, 6, 2}},
    [ELTWISE_F32_POW] = {1.5, 0, {1, 2, 1}, {3, -1.37f, 0}},
    [ELTWISE_F32_ROUND] = {0, 0, {0}, {0}},
    [ELTWISE_F32_MISH] = {4, 2e-7, {0}, {0}},
    [ELTWISE_F32_HARDSWISH] = {1.51, 0, {1.0f / 6, 0.5f, 1}, {0.5f, 0, 1}},
};

bool eltwise_bound_is_new(const struct eltwise_bound *bound, size_t p)
{
    return p == 0 || bound->alpha[p] != bound->alpha[p - 1] || bound->beta[p] != bound->beta[p - 1];
}

static double ulp(double x)
{
    int exponent;
    (void)frexp(x, &exponent);
    return ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

double eltwise_error(const struct eltwise_bound *bound, double want, float got)
{
    if (isnan(want))
        return isnan(got) ? 0 : (double)INFINITY;
    if (isinf((float)want) || isinf(got)) /* next to the largest number either is right */
        return (float)want == got || fabs(want) > 0.9999998 * (double)FLT_MAX ? 0
                                                                              : (double)INFINITY;
    double error = fabs((double)got - want);
    return error <= bound->near ? 0 : error / ulp(want);
}
