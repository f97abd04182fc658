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

#define LOAD(type, name)                                           \
    static void load_##name(size_t n, const void *src, float *dst) \
    {                                                              \
        load_line(ELEMENT_##type, n, src, dst);                    \
    }
#define BOTH(type, name)                                            \
    LOAD(type, name)                                                \
    static void store_##name(size_t n, const float *src, void *dst) \
    {                                                               \
        store_line(ELEMENT_##type, n, src, dst);                    \
    }
CONVERT_TYPES(BOTH, LOAD)
#undef BOTH
#undef LOAD

#define BOTH(type, name) [ELEMENT_##type] = {"convert_" #name "_ref", 0, load_##name, store_##name},
#define LOAD(type, name) [ELEMENT_##type] = {"convert_" #name "_ref", 0, load_##name, NULL},
const struct convert_kernel convert_ref[ELEMENTS] = {CONVERT_TYPES(BOTH, LOAD)};
#undef BOTH
#undef LOAD
