/* Lines of elements of any type as lines of f32, and back: with one pair of functions a type, all
 * that works on lines of f32 works on every type. */
#ifndef KERNELS_ELEMENTWISE_CONVERT_H
#define KERNELS_ELEMENTWISE_CONVERT_H

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

/* dst[i] = src[i] for i < n, exactly, but that integers beyond 2^24 are rounded to the nearest.
 * Arrays of halves of bytes begin with a whole byte. */
typedef void load_line_fn(size_t n, const void *src, float *dst);

/* dst[i] = src[i] for i < n, rounded to the nearest, ties to even. Integers saturate, and have 0
 * for NaN; f16 and bf16 become infinite, and keep NaN. */
typedef void store_line_fn(size_t n, const float *src, void *dst);

/* The arrays do not overlap; nothing but n elements is read or written, and an element's result
 * does not depend on its place. store: NULL for halves of bytes, which are weights' only. */
struct convert_kernel {
    const char *name;
    uint32_t needs;
    load_line_fn *load;
    store_line_fn *store;
};

/* Types that have both functions, and those that are only loaded. */
/* clang-format off */
#define CONVERT_TYPES(BOTH, LOAD) \
    BOTH(F32, f32) BOTH(F16, f16) BOTH(BF16, bf16) BOTH(S32, s32) BOTH(S8, s8) BOTH(U8, u8) \
    LOAD(S4, s4) LOAD(U4, u4)
/* clang-format on */

/* Indexed by type. */
extern const struct convert_kernel convert_ref[ELEMENTS], convert_neon[ELEMENTS];

/* Fastest first; the last needs nothing. */
extern const struct convert_kernel *const convert_kernels[];
extern const size_t convert_kernel_count; /* of tables */

/* The fastest one that the features allow; never NULL. */
const struct convert_kernel *convert_find(uint32_t features, enum element element);

#endif
