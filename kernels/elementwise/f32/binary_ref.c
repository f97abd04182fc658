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

#define FUNCTION(name, result)                                                                  \
    static float name##_of(float a, float b)                                                    \
    {                                                                                           \
        return result;                                                                          \
    }                                                                                           \
    static void run_##name(size_t n, const float *a, const float *b, size_t b_step, float *dst) \
    {                                                                                           \
        map(n, a, b, b_step, dst, name##_of);                                                   \
    }

FUNCTION(add, a + b)
FUNCTION(sub, a - b)
FUNCTION(mul, a *b)
FUNCTION(div, a / b)
FUNCTION(min, a < b || isnan(a) ? a : b)
FUNCTION(max, a > b || isnan(a) ? a : b)
FUNCTION(ge, a >= b)
FUNCTION(gt, a > b)
FUNCTION(le, a <= b)
FUNCTION(lt, a < b)
FUNCTION(eq, a == b)
FUNCTION(ne, a != b)
FUNCTION(prelu, a < 0 ? a * b : a)

#define ROW(number, name) [BINARY_F32_##number] = {"binary_f32_" #name "_ref", 0, run_##name},
const struct binary_f32_kernel binary_f32_ref[BINARY_F32_COUNT] = {BINARY_F32_FUNCTIONS(ROW)};
#undef ROW

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
