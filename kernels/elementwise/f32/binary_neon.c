/* Binary functions, four values at a time. */
#include "kernels/asm/vector_neon.h"
#include "kernels/elementwise/f32/binary.h"

typedef float32x4_t vector_fn(float32x4_t a, float32x4_t b);

/* Four vectors. All of them are read before any is written, which may be in the same place. */
INLINE void map_four(const float *a, float32x4x4_t y, float *dst, vector_fn *f)
{
    float32x4x4_t x = vld1q_f32_x4(a);
    x.val[0] = f(x.val[0], y.val[0]);
    x.val[1] = f(x.val[1], y.val[1]);
    x.val[2] = f(x.val[2], y.val[2]);
    x.val[3] = f(x.val[3], y.val[3]);
    vst1q_f32_x4(dst, x);
}

INLINE void map(size_t n, const float *a, const float *b, size_t b_step, float *dst, vector_fn *f)
{
    if (n == 0)
        return;
    float32x4_t y = vdupq_n_f32(b[0]);
    size_t i = 0;
    if (b_step) {
        for (; i + 16 <= n; i += 16)
            map_four(a + i, vld1q_f32_x4(b + i), dst + i, f);
        for (; i + 4 <= n; i += 4)
            vst1q_f32(dst + i, f(vld1q_f32(a + i), vld1q_f32(b + i)));
    } else {
        for (; i + 16 <= n; i += 16)
            map_four(a + i, (float32x4x4_t){{y, y, y, y}}, dst + i, f);
        for (; i + 4 <= n; i += 4)
            vst1q_f32(dst + i, f(vld1q_f32(a + i), y));
    }
    if (i == n)
        return;
    if (b_step)
        y = load_part(b + i, n - i);
    store_part(dst + i, f(load_part(a + i, n - i), y), n - i);
}

/* 1 where a comparison is true, else 0. */
static inline float32x4_t truth(uint32x4_t mask)
{
    return vreinterpretq_f32_u32(vandq_u32(mask, vreinterpretq_u32_f32(vdupq_n_f32(1))));
}

#define FUNCTION(name, result)                                                                  \
    static inline float32x4_t name##_of(float32x4_t a, float32x4_t b)                           \
    {                                                                                           \
        return result;                                                                          \
    }                                                                                           \
    static void run_##name(size_t n, const float *a, const float *b, size_t b_step, float *dst) \
    {                                                                                           \
        map(n, a, b, b_step, dst, name##_of);                                                   \
    }

FUNCTION(add, vaddq_f32(a, b))
FUNCTION(sub, vsubq_f32(a, b))
FUNCTION(mul, vmulq_f32(a, b))
FUNCTION(div, vdivq_f32(a, b))
FUNCTION(min, vminq_f32(a, b))
FUNCTION(max, vmaxq_f32(a, b))
FUNCTION(ge, truth(vcgeq_f32(a, b)))
FUNCTION(gt, truth(vcgtq_f32(a, b)))
FUNCTION(le, truth(vcleq_f32(a, b)))
FUNCTION(lt, truth(vcltq_f32(a, b)))
FUNCTION(eq, truth(vceqq_f32(a, b)))
FUNCTION(ne, truth(vmvnq_u32(vceqq_f32(a, b))))
FUNCTION(prelu, vbslq_f32(vcltzq_f32(a), vmulq_f32(a, b), a))

#define ROW(number, name) \
    [BINARY_F32_##number] = {"binary_f32_" #name "_neon", CPU_NEON, run_##name},
const struct binary_f32_kernel binary_f32_neon[BINARY_F32_COUNT] = {BINARY_F32_FUNCTIONS(ROW)};
#undef ROW

static inline float32x4_t sum(float32x4_t a, float32x4_t old, float scale, float zero_point)
{
    return vfmaq_n_f32(a, vsubq_f32(old, vdupq_n_f32(zero_point)), scale);
}

static void run_sum(size_t n, const float *a, const float *old, float scale, float zero_point,
                    float *dst)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        vst1q_f32(dst + i, sum(vld1q_f32(a + i), vld1q_f32(old + i), scale, zero_point));
    if (i < n)
        store_part(dst + i,
                   sum(load_part(a + i, n - i), load_part(old + i, n - i), scale, zero_point),
                   n - i);
}

const struct sum_f32_kernel sum_f32_neon = {"sum_f32_neon", CPU_NEON, run_sum};

/* So many vectors stay in registers, while lines go by. */
INLINE void blend(size_t vectors, size_t i, size_t count, const float *const *lines,
                  const float *weights, float *dst)
{
    float32x4_t y[8];
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; v++)
        y[v] = vmulq_n_f32(vld1q_f32(lines[0] + i + 4 * v), weights[0]);
#pragma GCC unroll 4
    for (size_t l = 1; l < count; l++) {
        const float *line = lines[l] + i;
#pragma GCC unroll 8
        for (size_t v = 0; v < vectors; v++)
            y[v] = vfmaq_n_f32(y[v], vld1q_f32(line + 4 * v), weights[l]);
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; v++)
        vst1q_f32(dst + i + 4 * v, y[v]);
}

/* The columns that whole blocks have. */
INLINE size_t blend_blocks(size_t n, size_t count, const float *const *lines, const float *weights,
                           float *dst)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        blend(8, i, count, lines, weights, dst);
    return i;
}

/* The four pixels around a point. Lines and weights are in registers, whatever dst is written to.
 */
static size_t blend_four(size_t n, const float *const *lines, const float *weights, float *dst)
{
    const float *const from[4] = {lines[0], lines[1], lines[2], lines[3]};
    const float by[4] = {weights[0], weights[1], weights[2], weights[3]};
    return blend_blocks(n, 4, from, by, dst);
}

static void run_blend(size_t n, size_t count, const float *const *lines, const float *weights,
                      float *dst)
{
    size_t i = count == 4 ? blend_four(n, lines, weights, dst)
                          : blend_blocks(n, count, lines, weights, dst);
    for (; i + 4 <= n; i += 4)
        blend(1, i, count, lines, weights, dst);
    for (; i < n; i++) {
        float32x2_t y = vmul_n_f32(vdup_n_f32(lines[0][i]), weights[0]);
        for (size_t l = 1; l < count; l++)
            y = vfma_n_f32(y, vdup_n_f32(lines[l][i]), weights[l]);
        dst[i] = vget_lane_f32(y, 0);
    }
}

const struct blend_f32_kernel blend_f32_neon = {"blend_f32_neon", CPU_NEON, run_blend};
