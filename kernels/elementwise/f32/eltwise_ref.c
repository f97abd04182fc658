/* The definition of the elementwise functions, by the C library. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/clamp_ref.h"
#include "kernels/elementwise/f32/eltwise.h"

#include <math.h>

typedef float scalar_fn(float x, float a, float b);

INLINE void map(size_t n, const float *src, float *dst, float alpha, float beta, scalar_fn *f)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = f(src[i], alpha, beta);
}

/* A factor that has become 0 wins over an infinity. */
static float times(float x, float factor)
{
    return factor == 0 ? 0 : x * factor;
}

static float relu(float x, float a)
{
    if (x > 0)
        return x;
    return a == 0 && !isnan(x) ? 0 : a * x;
}

static float soft_relu(float x, float a)
{
    float ax = a * x; /* where it overflows, x itself is right */
    return (ax > 0 ? x : 0) + log1pf(expf(-fabsf(ax))) / a;
}

static float logistic(float x)
{
    float e = expf(-fabsf(x));
    return (x < 0 ? e : 1) / (1 + e);
}

static float gelu_tanh(float x)
{
    const float two_sqrt_2_pi = 1.5957691216f;
    return times(x, logistic(two_sqrt_2_pi * x * fmaf(0.044715f * x, x, 1)));
}

static float mish(float x)
{
    float e = expf(-fabsf(x)), e2 = e * e;
    /* tanh(log(1 + t)) = (t t + 2 t) / (t t + 2 t + 2), with t = e or 1 / e */
    return times(x, x < 0 ? (e2 + 2 * e) / (e2 + 2 * e + 2) : (1 + 2 * e) / (1 + 2 * e + 2 * e2));
}

static float hardswish(float x, float factor)
{
    return factor == 0 && isinf(x) ? 0 : x * factor;
}

#define FUNCTION(name, result)                                                              \
    static float name##_of(float x, float a, float b)                                       \
    {                                                                                       \
        (void)a, (void)b;                                                                   \
        return result;                                                                      \
    }                                                                                       \
    static void run_##name(size_t n, const float *src, float *dst, float alpha, float beta) \
    {                                                                                       \
        map(n, src, dst, alpha, beta, name##_of);                                           \
    }

FUNCTION(relu, relu(x, a))
FUNCTION(tanh, tanhf(x))
FUNCTION(elu, x > 0 ? x : a * expm1f(x))
FUNCTION(square, x *x)
FUNCTION(abs, fabsf(x))
FUNCTION(sqrt, sqrtf(x))
FUNCTION(linear, fmaf(a, x, b))
FUNCTION(soft_relu, soft_relu(x, a))
FUNCTION(hardsigmoid, clamp(fmaf(a, x, b), 0, 1))
FUNCTION(logistic, logistic(x))
FUNCTION(exp, expf(x))
FUNCTION(gelu_tanh, gelu_tanh(x))
FUNCTION(gelu_erf, times(x, 0.5f * erfcf(-0.70710678119f * x)))
FUNCTION(swish, times(x, logistic(a *x)))
FUNCTION(log, logf(x))
FUNCTION(clip, clamp(x, a, b))
FUNCTION(clip_v2, clamp(x, a, b))
FUNCTION(pow, a *powf(x, b))
FUNCTION(round, rintf(x))
FUNCTION(mish, mish(x))
FUNCTION(hardswish, hardswish(x, clamp(fmaf(a, x, b), 0, 1)))

#define ROW(number, name) [ELTWISE_F32_##number] = {"eltwise_f32_" #name "_ref", 0, run_##name},
const struct eltwise_f32_kernel eltwise_f32_ref[ELTWISE_F32_COUNT] = {ELTWISE_F32_FUNCTIONS(ROW)};
#undef ROW
