/* The definition of every conversion: one element after the other. */
#include "kernels/asm/inline.h"
#include "kernels/elementwise/convert.h"

INLINE void load_line(enum element element, size_t n, const void *src, float *dst)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = element_read_f32(element, src, (ptrdiff_t)i);
}

INLINE void store_line(enum element element, size_t n, const float *src, void *dst)
{
    for (size_t i = 0; i < n; i++)
        element_write_f32(element, dst, (ptrdiff_t)i, src[i]);
}

#define LOAD(name, element)                                        \
    static void load_##name(size_t n, const void *src, float *dst) \
    {                                                              \
        load_line(element, n, src, dst);                           \
    }
#define BOTH(name, element)                                         \
    LOAD(name, element)                                             \
    static void store_##name(size_t n, const float *src, void *dst) \
    {                                                               \
        store_line(element, n, src, dst);                           \
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

const struct convert_kernel convert_ref[ELEMENTS] = {
    [ELEMENT_F32] = {"convert_f32_ref", 0, load_f32, store_f32},
    [ELEMENT_F16] = {"convert_f16_ref", 0, load_f16, store_f16},
    [ELEMENT_BF16] = {"convert_bf16_ref", 0, load_bf16, store_bf16},
    [ELEMENT_S32] = {"convert_s32_ref", 0, load_s32, store_s32},
    [ELEMENT_S8] = {"convert_s8_ref", 0, load_s8, store_s8},
    [ELEMENT_U8] = {"convert_u8_ref", 0, load_u8, store_u8},
    [ELEMENT_S4] = {"convert_s4_ref", 0, load_s4, NULL},
    [ELEMENT_U4] = {"convert_u4_ref", 0, load_u4, NULL},
};
