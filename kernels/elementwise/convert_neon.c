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

#define LOAD(name, element)                                        \
    static void load_##name(size_t n, const void *src, float *dst) \
    {                                                              \
        load_line(element, load_8_##name, n, src, dst);            \
    }
#define BOTH(name, element)                                         \
    LOAD(name, element)                                             \
    static void store_##name(size_t n, const float *src, void *dst) \
    {                                                               \
        store_line(element, store_8_##name, n, src, dst);           \
    }
BOTH(f32, ELEMENT_F32)
BOTH(f16, ELEMENT_F16)
BOTH(bf16, ELEMENT_BF16)
BOTH(s32, ELEMENT_S32)
BOTH(s8, ELEMENT_S8)
BOTH(u8, ELEMENT_U8)
LOAD(s4, ELEMENT_S4)
LOAD(u4, ELEMENT_U4)
#undef BOTH
#undef LOAD

const struct convert_kernel convert_neon[ELEMENTS] = {
    [ELEMENT_F32] = {"convert_f32_neon", CPU_NEON, load_f32, store_f32},
    [ELEMENT_F16] = {"convert_f16_neon", CPU_NEON, load_f16, store_f16},
    [ELEMENT_BF16] = {"convert_bf16_neon", CPU_NEON, load_bf16, store_bf16},
    [ELEMENT_S32] = {"convert_s32_neon", CPU_NEON, load_s32, store_s32},
    [ELEMENT_S8] = {"convert_s8_neon", CPU_NEON, load_s8, store_s8},
    [ELEMENT_U8] = {"convert_u8_neon", CPU_NEON, load_u8, store_u8},
    [ELEMENT_S4] = {"convert_s4_neon", CPU_NEON, load_s4, NULL},
    [ELEMENT_U4] = {"convert_u4_neon", CPU_NEON, load_u4, NULL},
};
