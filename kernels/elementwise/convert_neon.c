/* Conversions of eight elements at a time: one load, two vectors of f32. What is left of a line is
 * converted one by one, which gives the same bits. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/convert.h"
#include "kernels/elementwise/eight_neon.h"

enum { STEP = 8 };

typedef float32x4x2_t load_fn(const void *src);
typedef void store_fn(float32x4x2_t values, void *dst);

INLINE void load_line(enum element element, load_fn *load, size_t n, const void *src, float *dst)
{
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        float32x4x2_t values = load((const uint8_t *)src + i * element_bits(element) / 8);
        vst1q_f32(dst + i, values.val[0]);
        vst1q_f32(dst + i + 4, values.val[1]);
    }
    for (; i < n; i++)
        dst[i] = element_read_f32(element, src, (ptrdiff_t)i);
}

INLINE void store_line(enum element element, store_fn *store, size_t n, const float *src, void *dst)
{
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        float32x4x2_t values = {{vld1q_f32(src + i), vld1q_f32(src + i + 4)}};
        store(values, (uint8_t *)dst + i * element_bytes(element));
    }
    for (; i < n; i++)
        element_write_f32(element, dst, (ptrdiff_t)i, src[i]);
}

#define LOAD(type, name)                                           \
    static void load_##name(size_t n, const void *src, float *dst) \
    {                                                              \
        load_line(ELEMENT_##type, load_8_##name, n, src, dst);     \
    }
#define BOTH(type, name)                                            \
    LOAD(type, name)                                                \
    static void store_##name(size_t n, const float *src, void *dst) \
    {                                                               \
        store_line(ELEMENT_##type, store_8_##name, n, src, dst);    \
    }
CONVERT_TYPES(BOTH, LOAD)
#undef BOTH
#undef LOAD

#define BOTH(type, name) \
    [ELEMENT_##type] = {"convert_" #name "_neon", CPU_NEON, load_##name, store_##name},
#define LOAD(type, name) [ELEMENT_##type] = {"convert_" #name "_neon", CPU_NEON, load_##name, NULL},
const struct convert_kernel convert_neon[ELEMENTS] = {CONVERT_TYPES(BOTH, LOAD)};
#undef BOTH
#undef LOAD
