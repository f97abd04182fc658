/* Elementwise functions, four values at a time. tests/kernels/eltwise_f32.c states and checks
 * the largest error of each; the functions they are made of are in
 * kernels/elementwise/f32/math_neon.h. */
#include <float.h>

#include "kernels/asm/vector_neon.h"
#include "kernels/elementwise/f32/eltwise.h"
#include "kernels/elementwise/f32/math_neon.h"

typedef float32x4_t vector_fn(float32x4_t x, float32x4_t a, float32x4_t b);

/* The last values are done in a vector of their own, by the same arithmetic. */
INLINE void map(size_t n, const float *src, float *dst, float alpha, float beta, vector_fn *f)
{
    float32x4_t a = vdupq_n_f32(alpha), b = vdupq_n_f32(beta);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(dst + i, f(vld1q_f32(src + i), a, b));
    if (i < n)
        store_part(dst + i, f(load_part(src + i, n - i), a, b), n - i);
}

/* The same for functions of few instructions, beside which those of the loop count. Four vectors
 * are read before any is written, which may be in the same place. */
INLINE void map_wide(size_t n, const float *src, float *dst, float alpha, float beta, vector_fn *f)
{
    float32x4_t a = vdupq_n_f32(alpha), b = vdupq_n_f32(beta);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        float32x4x4_t x = vld1q_f32_x4(src + i);
        x.val[0] = f(x.val[0], a, b);
        x.val[1] = f(x.val[1], a, b);
        x.val[2] = f(x.val[2], a, b);
        x.val[3] = f(x.val[3], a, b);
        vst1q_f32_x4(dst + i, x);
    }
    map(n - i, src + i, dst + i, alpha, beta, f);
}

/* The same for functions of exp(c x): near to 0 all is done by math_exp_near(), and where one of 16
 * values is not, by math_exp(), which gives others the same. */
INLINE void map_exp(size_t n, const float *src, float *dst, float alpha, float beta, float c,
                    vector_fn *near, vector_fn *f)
{
    float32x4_t a = vdupq_n_f32(alpha), b = vdupq_n_f32(beta);
    float32x4_t limit = vdupq_n_f32(EXP_NEAR / fabsf(c));
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        float32x4x4_t x = vld1q_f32_x4(src + i);
        uint32x4_t low = vandq_u32(vcaltq_f32(x.val[0], limit), vcaltq_f32(x.val[1], limit));
        uint32x4_t high = vandq_u32(vcaltq_f32(x.val[2], limit), vcaltq_f32(x.val[3], limit));
        if (vminvq_u32(vandq_u32(low, high)) == 0) {
            map(16, src + i, dst + i, alpha, beta, f);
            continue;
        }
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++)
            vst1q_f32(dst + i + 4 * v, near(x.val[v], a, b));
    }
    map(n - i, src + i, dst + i, alpha, beta, f);
}

/* NaN stays. */
static inline float32x4_t bound(float32x4_t x, float32x4_t low, float32x4_t high)
{
    return vminq_f32(vmaxq_f32(x, low), high);
}

/* A factor that has become 0 wins over an infinity. */
static inline float32x4_t times(float32x4_t x, float32x4_t factor)
{
    uint32x4_t is_zero = vceqzq_f32(factor);
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(vmulq_f32(x, factor)), is_zero));
}

typedef float32x4_t exp_fn(float32x4_t x);

INLINE float32x4_t logistic_by(float32x4_t x, exp_fn *exp)
{
    float32x4_t e = exp(vnegq_f32(vabsq_f32(x)));
    float32x4_t numerator = vbslq_f32(vcltzq_f32(x), e, splat(1));
    return vdivq_f32(numerator, vaddq_f32(e, splat(1)));
}

static inline float32x4_t logistic(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return logistic_by(x, math_exp);
}

static inline float32x4_t logistic_near(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return logistic_by(x, math_exp_near);
}

/* 0 times an infinity is not wanted, but NaN is: a maximum gives that. */
static inline float32x4_t relu(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return vmaxq_f32(x, splat(0));
}

static inline float32x4_t leaky_relu(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)b;
    return vbslq_f32(vcgtzq_f32(x), x, vmulq_f32(a, x));
}

static inline float32x4_t tanh_of(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    float32x4_t e = math_expm1_negative(vmulq_n_f32(vabsq_f32(x), -2));
    float32x4_t magnitude = vdivq_f32(vnegq_f32(e), vaddq_f32(e, splat(2)));
    return vbslq_f32(vdupq_n_u32(0x80000000u), x, magnitude);
}

static inline float32x4_t elu(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)b;
    float32x4_t below = vmulq_f32(a, math_expm1_negative(vminq_f32(x, splat(0))));
    return vbslq_f32(vcgezq_f32(x), x, below); /* -0 stays */
}

static inline float32x4_t square(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return vmulq_f32(x, x);
}

static inline float32x4_t absolute(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return vabsq_f32(x);
}

static inline float32x4_t sqrt_of(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return vsqrtq_f32(x);
}

static inline float32x4_t linear(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return vfmaq_f32(b, a, x);
}

static inline float32x4_t soft_relu(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)b;
    float32x4_t ax = vmulq_f32(a, x); /* where it overflows, x itself is right */
    float32x4_t e = math_exp(vnegq_f32(vabsq_f32(ax)));
    float32x4_t linear_part = vbslq_f32(vcgtzq_f32(ax), x, splat(0));
    return vaddq_f32(linear_part, vdivq_f32(math_log1p_unit(e), a));
}

static inline float32x4_t hardsigmoid(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return bound(vfmaq_f32(b, a, x), splat(0), splat(1));
}

static inline float32x4_t exp_of(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return math_exp(x);
}

static inline float32x4_t exp_near(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return math_exp_near(x);
}

static inline float32x4_t gelu_tanh(float32x4_t x, float32x4_t a, float32x4_t b)
{
    float32x4_t inner = vfmaq_f32(splat(1), vmulq_n_f32(x, 0.044715f), x);
    float32x4_t twice = vmulq_f32(vmulq_n_f32(x, 1.5957691216f), inner);
    return times(x, logistic(twice, a, b));
}

/* x - x tail(x), or x tail(-x) for x < 0; a tail of 0 wins over an infinity. */
static inline float32x4_t gelu_erf(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    float32x4_t part = math_tail_times(vminq_f32(vabsq_f32(x), splat(TAIL_END)));
    return vsubq_f32(vmaxq_f32(x, splat(-0.0f)), part); /* gelu(-0) is -0 */
}

static inline float32x4_t swish(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return times(x, logistic(vmulq_f32(a, x), a, b));
}

/* x is finite here. */
static inline float32x4_t swish_near(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)b;
    return vmulq_f32(x, logistic_by(vmulq_f32(a, x), math_exp_near));
}

static inline float32x4_t log_of(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return math_log(x);
}

static inline float32x4_t clip(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return bound(x, a, b);
}

static inline float32x4_t clip_v2(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return bound(x, a, b);
}

static inline float32x4_t to_power(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return vmulq_f32(a, math_pow(x, b));
}

static inline float32x4_t round_of(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    return vrndnq_f32(x);
}

static inline float32x4_t mish(float32x4_t x, float32x4_t a, float32x4_t b)
{
    (void)a, (void)b;
    /* tanh(log(1 + t)) = (t t + 2 t) / (t t + 2 t + 2), with t = e or 1 / e */
    float32x4_t e = math_exp(vnegq_f32(vabsq_f32(x)));
    float32x4_t below = vmulq_f32(e, vaddq_f32(e, splat(2)));
    float32x4_t above = vfmaq_n_f32(splat(1), e, 2);
    float32x4_t rest = vbslq_f32(vcltzq_f32(x), splat(2), vmulq_f32(vaddq_f32(e, e), e));
    float32x4_t numerator = vbslq_f32(vcltzq_f32(x), below, above);
    return times(x, vdivq_f32(numerator, vaddq_f32(numerator, rest)));
}

static inline float32x4_t hardswish(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return times(x, hardsigmoid(x, a, b));
}

/* The same where the lowest number's factor is 0: an infinity goes as that one does. */
static inline float32x4_t hardswish_rising(float32x4_t x, float32x4_t a, float32x4_t b)
{
    x = vmaxq_f32(x, splat(-FLT_MAX));
    return vmulq_f32(x, hardsigmoid(x, a, b));
}

static void eltwise_f32_relu_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    if (alpha == 0)
        map_wide(n, src, dst, alpha, beta, relu);
    else
        map_wide(n, src, dst, alpha, beta, leaky_relu);
}

static void eltwise_f32_tanh_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, tanh_of);
}

static void eltwise_f32_elu_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, elu);
}

static void eltwise_f32_square_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_wide(n, src, dst, alpha, beta, square);
}

static void eltwise_f32_abs_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_wide(n, src, dst, alpha, beta, absolute);
}

static void eltwise_f32_sqrt_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, sqrt_of);
}

static void eltwise_f32_linear_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_wide(n, src, dst, alpha, beta, linear);
}

static void eltwise_f32_soft_relu_neon(size_t n, const float *src, float *dst, float alpha,
                                       float beta)
{
    map(n, src, dst, alpha, beta, soft_relu);
}

static void eltwise_f32_hardsigmoid_neon(size_t n, const float *src, float *dst, float alpha,
                                         float beta)
{
    map_wide(n, src, dst, alpha, beta, hardsigmoid);
}

static void eltwise_f32_logistic_neon(size_t n, const float *src, float *dst, float alpha,
                                      float beta)
{
    map_exp(n, src, dst, alpha, beta, 1, logistic_near, logistic);
}

static void eltwise_f32_exp_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_exp(n, src, dst, alpha, beta, 1, exp_near, exp_of);
}

static void eltwise_f32_gelu_tanh_neon(size_t n, const float *src, float *dst, float alpha,
                                       float beta)
{
    map(n, src, dst, alpha, beta, gelu_tanh);
}

static void eltwise_f32_gelu_erf_neon(size_t n, const float *src, float *dst, float alpha,
                                      float beta)
{
    map_wide(n, src, dst, alpha, beta, gelu_erf);
}

static void eltwise_f32_swish_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_exp(n, src, dst, alpha, beta, alpha, swish_near, swish);
}

static void eltwise_f32_log_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, log_of);
}

static void eltwise_f32_clip_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map_wide(n, src, dst, alpha, beta, clip);
}

static void eltwise_f32_clip_v2_neon(size_t n, const float *src, float *dst, float alpha,
                                     float beta)
{
    map_wide(n, src, dst, alpha, beta, clip_v2);
}

static void eltwise_f32_pow_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, to_power);
}

static void eltwise_f32_round_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, round_of);
}

static void eltwise_f32_mish_neon(size_t n, const float *src, float *dst, float alpha, float beta)
{
    map(n, src, dst, alpha, beta, mish);
}

static void eltwise_f32_hardswish_neon(size_t n, const float *src, float *dst, float alpha,
                                       float beta)
{
    if (fmaf(alpha, -FLT_MAX, beta) <= 0)
        map_wide(n, src, dst, alpha, beta, hardswish_rising);
    else
        map_wide(n, src, dst, alpha, beta, hardswish);
}

const struct eltwise_f32_kernel eltwise_f32_neon[ELTWISE_F32_COUNT] = {
    [ELTWISE_F32_RELU] = {"eltwise_f32_relu_neon", CPU_NEON, eltwise_f32_relu_neon},
    [ELTWISE_F32_TANH] = {"eltwise_f32_tanh_neon", CPU_NEON, eltwise_f32_tanh_neon},
    [ELTWISE_F32_ELU] = {"eltwise_f32_elu_neon", CPU_NEON, eltwise_f32_elu_neon},
    [ELTWISE_F32_SQUARE] = {"eltwise_f32_square_neon", CPU_NEON, eltwise_f32_square_neon},
    [ELTWISE_F32_ABS] = {"eltwise_f32_abs_neon", CPU_NEON, eltwise_f32_abs_neon},
    [ELTWISE_F32_SQRT] = {"eltwise_f32_sqrt_neon", CPU_NEON, eltwise_f32_sqrt_neon},
    [ELTWISE_F32_LINEAR] = {"eltwise_f32_linear_neon", CPU_NEON, eltwise_f32_linear_neon},
    [ELTWISE_F32_SOFT_RELU] = {"eltwise_f32_soft_relu_neon", CPU_NEON, eltwise_f32_soft_relu_neon},
    [ELTWISE_F32_HARDSIGMOID] = {"eltwise_f32_hardsigmoid_neon", CPU_NEON,
                                 eltwise_f32_hardsigmoid_neon},
    [ELTWISE_F32_LOGISTIC] = {"eltwise_f32_logistic_neon", CPU_NEON, eltwise_f32_logistic_neon},
    [ELTWISE_F32_EXP] = {"eltwise_f32_exp_neon", CPU_NEON, eltwise_f32_exp_neon},
    [ELTWISE_F32_GELU_TANH] = {"eltwise_f32_gelu_tanh_neon", CPU_NEON, eltwise_f32_gelu_tanh_neon},
    [ELTWISE_F32_GELU_ERF] = {"eltwise_f32_gelu_erf_neon", CPU_NEON, eltwise_f32_gelu_erf_neon},
    [ELTWISE_F32_SWISH] = {"eltwise_f32_swish_neon", CPU_NEON, eltwise_f32_swish_neon},
    [ELTWISE_F32_LOG] = {"eltwise_f32_log_neon", CPU_NEON, eltwise_f32_log_neon},
    [ELTWISE_F32_CLIP] = {"eltwise_f32_clip_neon", CPU_NEON, eltwise_f32_clip_neon},
    [ELTWISE_F32_CLIP_V2] = {"eltwise_f32_clip_v2_neon", CPU_NEON, eltwise_f32_clip_v2_neon},
    [ELTWISE_F32_POW] = {"eltwise_f32_pow_neon", CPU_NEON, eltwise_f32_pow_neon},
    [ELTWISE_F32_ROUND] = {"eltwise_f32_round_neon", CPU_NEON, eltwise_f32_round_neon},
    [ELTWISE_F32_MISH] = {"eltwise_f32_mish_neon", CPU_NEON, eltwise_f32_mish_neon},
    [ELTWISE_F32_HARDSWISH] = {"eltwise_f32_hardswish_neon", CPU_NEON, eltwise_f32_hardswish_neon},
};
