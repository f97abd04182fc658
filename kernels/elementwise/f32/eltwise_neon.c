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

static inline float32x4_t logistic(float32x4_t x)
{
    return logistic_by(x, math_exp);
}

static inline float32x4_t tanh_by_exp(float32x4_t x)
{
    float32x4_t e = math_expm1_negative(vmulq_n_f32(vabsq_f32(x), -2));
    float32x4_t magnitude = vdivq_f32(vnegq_f32(e), vaddq_f32(e, splat(2)));
    return vbslq_f32(vdupq_n_u32(0x80000000u), x, magnitude);
}

static inline float32x4_t elu(float32x4_t x, float32x4_t a)
{
    float32x4_t below = vmulq_f32(a, math_expm1_negative(vminq_f32(x, splat(0))));
    return vbslq_f32(vcgezq_f32(x), x, below); /* -0 stays */
}

static inline float32x4_t soft_relu(float32x4_t x, float32x4_t a)
{
    float32x4_t ax = vmulq_f32(a, x); /* where it overflows, x itself is right */
    float32x4_t e = math_exp(vnegq_f32(vabsq_f32(ax)));
    float32x4_t linear_part = vbslq_f32(vcgtzq_f32(ax), x, splat(0));
    return vaddq_f32(linear_part, vdivq_f32(math_log1p_unit(e), a));
}

static inline float32x4_t gelu_tanh(float32x4_t x)
{
    float32x4_t inner = vfmaq_f32(splat(1), vmulq_n_f32(x, 0.044715f), x);
    float32x4_t twice = vmulq_f32(vmulq_n_f32(x, 1.5957691216f), inner);
    return times(x, logistic(twice));
}

/* x - x tail(x), or x tail(-x) for x < 0; a tail of 0 wins over an infinity. */
static inline float32x4_t gelu_erf(float32x4_t x)
{
    float32x4_t part = math_tail_times(vminq_f32(vabsq_f32(x), splat(TAIL_END)));
    return vsubq_f32(vmaxq_f32(x, splat(-0.0f)), part); /* gelu(-0) is -0 */
}

static inline float32x4_t mish(float32x4_t x)
{
    /* tanh(log(1 + t)) = (t t + 2 t) / (t t + 2 t + 2), with t = e or 1 / e */
    float32x4_t e = math_exp(vnegq_f32(vabsq_f32(x)));
    float32x4_t below = vmulq_f32(e, vaddq_f32(e, splat(2)));
    float32x4_t above = vfmaq_n_f32(splat(1), e, 2);
    float32x4_t rest = vbslq_f32(vcltzq_f32(x), splat(2), vmulq_f32(vaddq_f32(e, e), e));
    float32x4_t numerator = vbslq_f32(vcltzq_f32(x), below, above);
    return times(x, vdivq_f32(numerator, vaddq_f32(numerator, rest)));
}

static inline float32x4_t hardsigmoid(float32x4_t x, float32x4_t a, float32x4_t b)
{
    return bound(vfmaq_f32(b, a, x), splat(0), splat(1));
}

/* Where the lowest number's factor is 0: an infinity goes as that one does. */
static inline float32x4_t hardswish_rising(float32x4_t x, float32x4_t a, float32x4_t b)
{
    x = vmaxq_f32(x, splat(-FLT_MAX));
    return vmulq_f32(x, hardsigmoid(x, a, b));
}

#define FUNCTION(name, result)                                                       \
    static inline float32x4_t name##_of(float32x4_t x, float32x4_t a, float32x4_t b) \
    {                                                                                \
        (void)a, (void)b;                                                            \
        return result;                                                               \
    }
#define KERNEL(name) \
    static void run_##name(size_t n, const float *src, float *dst, float alpha, float beta)
#define MAPPED(name, result, how)                 \
    FUNCTION(name, result)                        \
    KERNEL(name)                                  \
    {                                             \
        how(n, src, dst, alpha, beta, name##_of); \
    }
#define OF_EXP(name, result, factor, near)                                    \
    FUNCTION(name, result)                                                    \
    FUNCTION(name##_near, near)                                               \
    KERNEL(name)                                                              \
    {                                                                         \
        map_exp(n, src, dst, alpha, beta, factor, name##_near_of, name##_of); \
    }
/* The first one where the condition is true, which is of alpha and beta. */
#define OF_TWO(name, condition, result, other)                  \
    FUNCTION(name, result)                                      \
    FUNCTION(name##_else, other)                                \
    KERNEL(name)                                                \
    {                                                           \
        if (condition)                                          \
            map_wide(n, src, dst, alpha, beta, name##_of);      \
        else                                                    \
            map_wide(n, src, dst, alpha, beta, name##_else_of); \
    }

/* 0 times an infinity is not wanted, but NaN is: a maximum gives that. */
OF_TWO(relu, alpha == 0, vmaxq_f32(x, splat(0)), vbslq_f32(vcgtzq_f32(x), x, vmulq_f32(a, x)))
OF_TWO(hardswish, fmaf(alpha, -FLT_MAX, beta) <= 0, hardswish_rising(x, a, b),
       times(x, hardsigmoid(x, a, b)))
OF_EXP(logistic, logistic(x), 1, logistic_by(x, math_exp_near))
OF_EXP(exp, math_exp(x), 1, math_exp_near(x))
/* Near to 0 x is finite. */
OF_EXP(swish, times(x, logistic(vmulq_f32(a, x))), alpha,
       vmulq_f32(x, logistic_by(vmulq_f32(a, x), math_exp_near)))
MAPPED(tanh, tanh_by_exp(x), map)
MAPPED(elu, elu(x, a), map)
MAPPED(square, vmulq_f32(x, x), map_wide)
MAPPED(abs, vabsq_f32(x), map_wide)
MAPPED(sqrt, vsqrtq_f32(x), map)
MAPPED(linear, vfmaq_f32(b, a, x), map_wide)
MAPPED(soft_relu, soft_relu(x, a), map)
MAPPED(hardsigmoid, hardsigmoid(x, a, b), map_wide)
MAPPED(gelu_tanh, gelu_tanh(x), map)
MAPPED(gelu_erf, gelu_erf(x), map_wide)
MAPPED(log, math_log(x), map)
MAPPED(clip, bound(x, a, b), map_wide)
MAPPED(clip_v2, bound(x, a, b), map_wide)
MAPPED(pow, vmulq_f32(a, math_pow(x, b)), map)
MAPPED(round, vrndnq_f32(x), map)
MAPPED(mish, mish(x), map)

#define ROW(number, name) \
    [ELTWISE_F32_##number] = {"eltwise_f32_" #name "_neon", CPU_NEON, run_##name},
const struct eltwise_f32_kernel eltwise_f32_neon[ELTWISE_F32_COUNT] = {ELTWISE_F32_FUNCTIONS(ROW)};
#undef ROW
