/* Windows in plain C. */
#include "kernels/pooling/windows.h"

/* NaN wins. */
static float greater(float a, float b)
{
    return b > a || b != b ? b : a;
}

static float of_taps(const struct windows *w, enum windows_alg alg, enum element element,
                     const char *src, size_t i)
{
    float y = alg == WINDOWS_MAX ? windows_lowest(element) : 0;
    for (size_t t = 0; t < w->tap_count; t++) {
        float x = element_read_f32(element, src + w->taps[t], (ptrdiff_t)i);
        y = alg == WINDOWS_MAX ? greater(y, x) : y + x;
    }
    return alg == WINDOWS_MAX ? y : y * w->factor;
}

static void run(const struct windows *w, enum windows_alg alg, enum element element,
                enum element out)
{
    for (size_t k = 0; k < w->count; k++) {
        const char *src = (const char *)w->src + (ptrdiff_t)k * w->src_step;
        char *dst = (char *)w->dst + (ptrdiff_t)k * w->dst_step;
        for (size_t i = 0; i < w->n; i++)
            element_write_f32(out, dst, (ptrdiff_t)i, of_taps(w, alg, element, src, i));
    }
}

#define KERNEL(name, alg, element, out)             \
    static void name(const struct windows *windows) \
    {                                               \
        run(windows, alg, element, out);            \
    }
KERNEL(max_f32, WINDOWS_MAX, ELEMENT_F32, ELEMENT_F32)
KERNEL(max_f16, WINDOWS_MAX, ELEMENT_F16, ELEMENT_F32)
KERNEL(max_bf16, WINDOWS_MAX, ELEMENT_BF16, ELEMENT_F32)
KERNEL(max_s32, WINDOWS_MAX, ELEMENT_S32, ELEMENT_F32)
KERNEL(max_s8, WINDOWS_MAX, ELEMENT_S8, ELEMENT_S8)
KERNEL(max_u8, WINDOWS_MAX, ELEMENT_U8, ELEMENT_U8)
KERNEL(sum_f32, WINDOWS_SUM, ELEMENT_F32, ELEMENT_F32)
KERNEL(sum_f16, WINDOWS_SUM, ELEMENT_F16, ELEMENT_F32)
KERNEL(sum_bf16, WINDOWS_SUM, ELEMENT_BF16, ELEMENT_F32)
KERNEL(sum_s32, WINDOWS_SUM, ELEMENT_S32, ELEMENT_F32)
KERNEL(sum_s8, WINDOWS_SUM, ELEMENT_S8, ELEMENT_F32)
KERNEL(sum_u8, WINDOWS_SUM, ELEMENT_U8, ELEMENT_F32)
#undef KERNEL

const windows_table windows_ref = {
    [WINDOWS_MAX] = {[ELEMENT_F32] = {"windows_max_f32_ref", 0, ELEMENT_F32, max_f32},
                     [ELEMENT_F16] = {"windows_max_f16_ref", 0, ELEMENT_F32, max_f16},
                     [ELEMENT_BF16] = {"windows_max_bf16_ref", 0, ELEMENT_F32, max_bf16},
                     [ELEMENT_S32] = {"windows_max_s32_ref", 0, ELEMENT_F32, max_s32},
                     [ELEMENT_S8] = {"windows_max_s8_ref", 0, ELEMENT_S8, max_s8},
                     [ELEMENT_U8] = {"windows_max_u8_ref", 0, ELEMENT_U8, max_u8}},
    [WINDOWS_SUM] = {[ELEMENT_F32] = {"windows_sum_f32_ref", 0, ELEMENT_F32, sum_f32},
                     [ELEMENT_F16] = {"windows_sum_f16_ref", 0, ELEMENT_F32, sum_f16},
                     [ELEMENT_BF16] = {"windows_sum_bf16_ref", 0, ELEMENT_F32, sum_bf16},
                     [ELEMENT_S32] = {"windows_sum_s32_ref", 0, ELEMENT_F32, sum_s32},
                     [ELEMENT_S8] = {"windows_sum_s8_ref", 0, ELEMENT_F32, sum_s8},
                     [ELEMENT_U8] = {"windows_sum_u8_ref", 0, ELEMENT_F32, sum_u8}},
};
