/* The definition of the binary functions. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/f32/binary.h"

#include <math.h>

typedef float scalar_fn(float a, float b);

INLINE void map(size_t n, const float *a, const float *b, size_t b_step, float *dst, scalar_fn *f)
{
    float first = n ? b[0] : 0; /* of one value for all: dst may be where it is */
    for (size_t i = 0; i < n; i++)
        dst[i] = f(a[i], b_step ? b[i] : first);
}

static float add(float a, float b)
{
    return a + b;
}

static float subtract(float a, float b)
{
    return a - b;
}

static float multiply(float a, float b)
{
    return a * b;
}

static float divide(float a, float b)
{
    return a / b;
}

static float smaller(float a, float b)
{
    return a < b || isnan(a) ? a : b;
}

static float greater(float a, float b)
{
    return a > b || isnan(a) ? a : b;
}

static float is_ge(float a, float b)
{
    return a >= b;
}

static float is_gt(float a, float b)
{
    return a > b;
}

static float is_le(float a, float b)
{
    return a <= b;
}

static float is_lt(float a, float b)
{
    return a < b;
}

static float is_eq(float a, float b)
{
    return a == b;
}

static float is_ne(float a, float b)
{
    return a != b;
}

static float prelu(float a, float b)
{
    return a < 0 ? a * b : a;
}

static void binary_f32_add_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, add);
}

static void binary_f32_sub_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, subtract);
}

static void binary_f32_mul_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, multiply);
}

static void binary_f32_div_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, divide);
}

static void binary_f32_min_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, smaller);
}

static void binary_f32_max_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, greater);
}

static void binary_f32_ge_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_ge);
}

static void binary_f32_gt_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_gt);
}

static void binary_f32_le_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_le);
}

static void binary_f32_lt_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_lt);
}

static void binary_f32_eq_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_eq);
}

static void binary_f32_ne_ref(size_t n, const float *a, const float *b, size_t b_step, float *dst)
{
    map(n, a, b, b_step, dst, is_ne);
}

static void binary_f32_prelu_ref(size_t n, const float *a, const float *b, size_t b_step,
                                 float *dst)
{
    map(n, a, b, b_step, dst, prelu);
}

const struct binary_f32_kernel binary_f32_ref[BINARY_F32_COUNT] = {
    [BINARY_F32_ADD] = {"binary_f32_add_ref", 0, binary_f32_add_ref},
    [BINARY_F32_SUB] = {"binary_f32_sub_ref", 0, binary_f32_sub_ref},
    [BINARY_F32_MUL] = {"binary_f32_mul_ref", 0, binary_f32_mul_ref},
    [BINARY_F32_DIV] = {"binary_f32_div_ref", 0, binary_f32_div_ref},
    [BINARY_F32_MIN] = {"binary_f32_min_ref", 0, binary_f32_min_ref},
    [BINARY_F32_MAX] = {"binary_f32_max_ref", 0, binary_f32_max_ref},
    [BINARY_F32_GE] = {"binary_f32_ge_ref", 0, binary_f32_ge_ref},
    [BINARY_F32_GT] = {"binary_f32_gt_ref", 0, binary_f32_gt_ref},
    [BINARY_F32_LE] = {"binary_f32_le_ref", 0, binary_f32_le_ref},
    [BINARY_F32_LT] = {"binary_f32_lt_ref", 0, binary_f32_lt_ref},
    [BINARY_F32_EQ] = {"binary_f32_eq_ref", 0, binary_f32_eq_ref},
    [BINARY_F32_NE] = {"binary_f32_ne_ref", 0, binary_f32_ne_ref},
    [BINARY_F32_PRELU] = {"binary_f32_prelu_ref", 0, binary_f32_prelu_ref},
};

static void run_sum(size_t n, const float *a, const float *old, float scale, float zero_point,
                    float *dst)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = fmaf(scale, old[i] - zero_point, a[i]);
}

const struct sum_f32_kernel sum_f32_ref = {"sum_f32_ref", 0, run_sum};

static void run_blend(size_t n, size_t count, const float *const *lines, const float *weights,
                      float *dst)
{
    for (size_t i = 0; i < n; i++) {
        float y = lines[0][i] * weights[0];
        for (size_t l = 1; l < count; l++)
            y = fmaf(lines[l][i], weights[l], y);
        dst[i] = y;
    }
}

const struct blend_f32_kernel blend_f32_ref = {"blend_f32_ref", 0, run_blend};
