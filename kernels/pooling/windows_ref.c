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

#define KERNEL(name, alg, element, out)                                \
    static void name(const struct windows *windows)                    \
    {                                                                  \
        run(windows, WINDOWS_##alg, ELEMENT_##element, ELEMENT_##out); \
    }
WINDOWS_KERNELS(KERNEL)
#undef KERNEL

#define ROW(name, alg, element, out) \
    [WINDOWS_##alg][ELEMENT_##element] = {"windows_" #name "_ref", 0, ELEMENT_##out, name},
const windows_table windows_ref = {WINDOWS_KERNELS(ROW)};
#undef ROW
