/* The definition of the elementwise functions, by the C library. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/eltwise.h"

#include <math.h>

typedef float scalar_fn(float x, float a, float b);

INLINE void map(size_t n, const float *src, float *dst, float alpha, float beta, scalar_fn *f)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = f(src[i], alpha, beta);
}

/* NaN stays. */
static float bound(float x, float low, float high)
{
    if (x < low)
        return low;
    return x > high ? high : x;
}

/* A factor that has become 0 wins over an infinity. */
static float times(float x, float factor)
{
    return factor == 0 ? 0 : x * factor;
}

static float logistic(float x, float a, float b)
{
    (void)a, (void)b;
    float e = expf(-fabsf(x));
    return (x < 0 ? e : 1) / (1 + e);
}

static float relu(float x, float a, float b)
{
    (void)b;
    if (x > 0)
        return x;
    return a == 0 && !isnan(x) ? 0 : a * x;
}

static float tanh_of(float x, float a, float b)
{
    (void)a, (void)b;
    return tanhf(x);
}

static float elu(float x, float a, float b)
{
    (void)b;
    return x > 0 ? x : a * expm1f(x);
}

static float square(float x, float a, float b)
{
    (void)a, (void)b;
    return x * x;
}

static float absolute(float x, float a, float b)
{
    (void)a, (void)b;
    return fabsf(x);
}

static float sqrt_of(float x, float a, float b)
{
    (void)a, (void)b;
    return sqrtf(x);
}

static float linear(float x, float a, float b)
{
    return fmaf(a, x, b);
}

static float soft_relu(float x, float a, float b)
{
    (void)b;
    float ax = a * x; /* where it overflows, x itself is right */
    return (ax > 0 ? x : 0) + log1pf(expf(-fabsf(ax))) / a;
}

static float hardsigmoid(float x, float a, float b)
{
    return bound(fmaf(a, x, b), 0, 1);
}

static float exp_of(float x, float a, float b)
{
    (void)a, (void)b;
    return expf(x);
}

static float gelu_tanh(float x, float a, float b)
{
    (void)a, (void)b;
    const float two_sqrt_2_pi = 1.5957691216f;
    return times(x, logistic(two_sqrt_2_pi * x * fmaf(0.044715f * x, x, 1), 0, 0));
}

static float gelu_erf(float x, float a, float b)
{
    (void)a, (void)b;
    const float sqrt_half = 0.70710678119f;
    return times(x, 0.5f * erfcf(-sqrt_half * x));
}

static float swish(float x, float a, float b)
{
    (void)b;
    return times(x, logistic(a * x, 0, 0));
}

static float log_of(float x, float a, float b)
{
    (void)a, (void)b;
    return logf(x);
}

static float clip(float x, float a, float b)
{
    return bound(x, a, b);
}

static float clip_v2(float x, float a, float b)
{
    return bound(x, a, b);
}

static float to_power(float x, float a, float b)
{
    return a * powf(x, b);
}

static float round_of(float x, float a, float b)
{
    (void)a, (void)b;
    return rintf(x);
}

static float mish(float x, float a, float b)
{
    (void)a, (void)b;
    float e = expf(-fabsf(x)), e2 = e * e;
    /* tanh(log(1 + t)) = (t t + 2 t) / (t t + 2 t + 2), with t = e or 1 / e */
    return times(x, x < 0 ? (e2 + 2 * e) / (e2 + 2 * e + 2) : (1 + 2 * e) / (1 + 2 * e + 2 * e2));
}

static float hardswish(float x, float a, float b)
{
    float factor = bound(fmaf(a, x, b), 0, 1);
    return factor == 0 && isinf(x) ? 0 : x * factor;
}

static void eltwise_f32_relu_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, relu);
}

static void eltwise_f32_tanh_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, tanh_of);
}

static void eltwise_f32_elu_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, elu);
}

static void eltwise_f32_square_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, square);
}

static void eltwise_f32_abs_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, absolute);
}

static void eltwise_f32_sqrt_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, sqrt_of);
}

static void eltwise_f32_linear_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, linear);
}

static void eltwise_f32_soft_relu_ref(size_t n, const float *src, float *dst, float alpha,
                                      float beta)
{
    map(n, src, dst, alpha, beta, soft_relu);
}

static void eltwise_f32_hardsigmoid_ref(size_t n, const float *src, float *dst, float alpha,
                                        float beta)
{
    map(n, src, dst, alpha, beta, hardsigmoid);
}

static void eltwise_f32_logistic_ref(size_t n, const float *src, float *dst, float alpha,
                                     float beta)
{
    map(n, src, dst, alpha, beta, logistic);
}

static void eltwise_f32_exp_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, exp_of);
}

static void eltwise_f32_gelu_tanh_ref(size_t n, const float *src, float *dst, float alpha,
                                      float beta)
{
    map(n, src, dst, alpha, beta, gelu_tanh);
}

static void eltwise_f32_gelu_erf_ref(size_t n, const float *src, float *dst, float alpha,
                                     float beta)
{
    map(n, src, dst, alpha, beta, gelu_erf);
}

static void eltwise_f32_swish_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, swish);
}

static void eltwise_f32_log_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, log_of);
}

static void eltwise_f32_clip_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, clip);
}

static void eltwise_f32_clip_v2_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, clip_v2);
}

static void eltwise_f32_pow_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, to_power);
}

static void eltwise_f32_round_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, round_of);
}

static void eltwise_f32_mish_ref(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, mish);
}

static void eltwise_f32_hardswish_ref(size_t n, const float *src, float *dst, float alpha,
                                      float beta)
{
    map(n, src, dst, alpha, beta, hardswish);
}

const struct eltwise_f32_kernel eltwise_f32_ref[ELTWISE_F32_COUNT] = {
    [ELTWISE_F32_RELU] = {"eltwise_f32_relu_ref", 0, eltwise_f32_relu_ref},
    [ELTWISE_F32_TANH] = {"eltwise_f32_tanh_ref", 0, eltwise_f32_tanh_ref},
    [ELTWISE_F32_ELU] = {"eltwise_f32_elu_ref", 0, eltwise_f32_elu_ref},
    [ELTWISE_F32_SQUARE] = {"eltwise_f32_square_ref", 0, eltwise_f32_square_ref},
    [ELTWISE_F32_ABS] = {"eltwise_f32_abs_ref", 0, eltwise_f32_abs_ref},
    [ELTWISE_F32_SQRT] = {"eltwise_f32_sqrt_ref", 0, eltwise_f32_sqrt_ref},
    [ELTWISE_F32_LINEAR] = {"eltwise_f32_linear_ref", 0, eltwise_f32_linear_ref},
    [ELTWISE_F32_SOFT_RELU] = {"eltwise_f32_soft_relu_ref", 0, eltwise_f32_soft_relu_ref},
    [ELTWISE_F32_HARDSIGMOID] = {"eltwise_f32_hardsigmoid_ref", 0, eltwise_f32_hardsigmoid_ref},
    [ELTWISE_F32_LOGISTIC] = {"eltwise_f32_logistic_ref", 0, eltwise_f32_logistic_ref},
    [ELTWISE_F32_EXP] = {"eltwise_f32_exp_ref", 0, eltwise_f32_exp_ref},
    [ELTWISE_F32_GELU_TANH] = {"eltwise_f32_gelu_tanh_ref", 0, eltwise_f32_gelu_tanh_ref},
    [ELTWISE_F32_GELU_ERF] = {"eltwise_f32_gelu_erf_ref", 0, eltwise_f32_gelu_erf_ref},
    [ELTWISE_F32_SWISH] = {"eltwise_f32_swish_ref", 0, eltwise_f32_swish_ref},
    [ELTWISE_F32_LOG] = {"eltwise_f32_log_ref", 0, eltwise_f32_log_ref},
    [ELTWISE_F32_CLIP] = {"eltwise_f32_clip_ref", 0, eltwise_f32_clip_ref},
    [ELTWISE_F32_CLIP_V2] = {"eltwise_f32_clip_v2_ref", 0, eltwise_f32_clip_v2_ref},
    [ELTWISE_F32_POW] = {"eltwise_f32_pow_ref", 0, eltwise_f32_pow_ref},
    [ELTWISE_F32_ROUND] = {"eltwise_f32_round_ref", 0, eltwise_f32_round_ref},
    [ELTWISE_F32_MISH] = {"eltwise_f32_mish_ref", 0, eltwise_f32_mish_ref},
    [ELTWISE_F32_HARDSWISH] = {"eltwise_f32_hardswish_ref", 0, eltwise_f32_hardswish_ref},
};
