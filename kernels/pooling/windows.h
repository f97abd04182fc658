/* Maxima and sums of the lines that windows of an image are made of. */
#ifndef KERNELS_POOLING_WINDOWS_H
#define KERNELS_POOLING_WINDOWS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

enum windows_alg { WINDOWS_MAX, WINDOWS_SUM, WINDOWS_ALGS };

/* Windows one after another, each of so many taps: lines of n elements that become one. */
struct windows {
    const void *src; /* of the first window; taps are so many bytes from there */
    const ptrdiff_t *taps;
    size_t tap_count;
    size_t n, count;    /* elements of a line; windows */
    ptrdiff_t src_step; /* bytes from a window to the next one */
    void *dst;          /* lines of n results of the kernel's type */
    ptrdiff_t dst_step;
    float factor; /* of sums */
};

/* Elements next to each other in a line: for each, the largest one of the taps and of the lowest
 * finite value of the type, NaN if one is; or the factor times the sum of the taps, in their order,
 * in f32. Without taps the result is the lowest value, or 0. dst is apart from src; nothing but
 * these elements is read or written. */
typedef void windows_fn(const struct windows *windows);

struct windows_kernel {
    const char *name;
    uint32_t needs;
    enum element out; /* the type of results */
    windows_fn *run;
};

/* KERNEL(name, algorithm, type, type of results) */
/* clang-format off */
#define WINDOWS_KERNELS(KERNEL) \
    KERNEL(max_f32, MAX, F32, F32) \
    KERNEL(max_f16, MAX, F16, F32) \
    KERNEL(max_bf16, MAX, BF16, F32) \
    KERNEL(max_s32, MAX, S32, F32) \
    KERNEL(max_s8, MAX, S8, S8) \
    KERNEL(max_u8, MAX, U8, U8) \
    KERNEL(sum_f32, SUM, F32, F32) \
    KERNEL(sum_f16, SUM, F16, F32) \
    KERNEL(sum_bf16, SUM, BF16, F32) \
    KERNEL(sum_s32, SUM, S32, F32) \
    KERNEL(sum_s8, SUM, S8, F32) \
    KERNEL(sum_u8, SUM, U8, F32)
/* clang-format on */

/* Indexed by algorithm and type, of those that have whole bytes. */
enum { WINDOWS_TYPES = ELEMENT_U8 + 1 };
typedef struct windows_kernel windows_table[WINDOWS_ALGS][WINDOWS_TYPES];
extern const windows_table windows_ref, windows_neon;

/* Fastest first; the last needs nothing. */
extern const windows_table *const windows_kernels[];
extern const size_t windows_kernel_count; /* of tables */

/* The fastest kernel that the features allow; never NULL. */
const struct windows_kernel *windows_find(uint32_t features, enum windows_alg alg,
                                          enum element element);

/* The lowest finite value of a type. */
static inline float windows_lowest(enum element element)
{
    static const float lowest[WINDOWS_TYPES] = {
        [ELEMENT_F32] = -FLT_MAX, [ELEMENT_F16] = -65504, [ELEMENT_BF16] = -0x1.fep127f,
        [ELEMENT_S32] = -0x1p31f, [ELEMENT_S8] = -128,    [ELEMENT_U8] = 0};
    return lowest[element];
}

#endif
