/* Sums of products become results, a block of rows at a time. */
#ifndef KERNELS_GEMM_FINISH_H
#define KERNELS_GEMM_FINISH_H

#include "arch/cpu.h"
#include "kernels/elementwise/element.h"

/* For i < m, j < n:
 *
 *   sum = sums[i * row + j] + (rows ? rows[i] * zeros[j] : 0)          (modulo 2^32)
 *   value = (float)sum * (row_scales ? row_scales[i] : 1) * (scales ? scales[j] : 1)
 *   value = offsets ? value + offsets[j] : value
 *   value = is_clamped ? min(max(value, low), high) : value            (NaN stays)
 *   value = is_requantized ? value / divisor + zero : value
 *   dst[i * dst_row + j] = value in dst's type
 *
 * in this order, each operation rounded to f32; to integers to the nearest, ties to even, and
 * saturated; NaN becomes 0 in them. What zero points of A ask for belongs to what sums begin with:
 * -zero(A) * the sum of each column of B. rows are minus the sums of rows of A, and zeros the zero
 * points of B, or the other way round.
 *
 * is_float: the sums began with GEMM_FLOAT_START more, and are at most 2^22 in size: then their
 * bits are those of a float that is 12582912 too large, and a subtraction is all that conversion
 * takes, also after what is added for zero points. Results are the same.
 *
 * reciprocal: 0, or what may take the place of the division where results are bytes, as they are
 * the same (src/gemm/reciprocal.h): fma(value, reciprocal, value * rest), or with rest = 0 value *
 * reciprocal.
 *
 * Sums of f32 have neither rows nor is_float. Needs no more than m rows of n
 * values, and writes nothing else. */
struct gemm_finish {
    size_t m, n;
    const void *sums; /* s32 or f32 */
    size_t row;
    const int32_t *rows, *zeros;   /* m and n values, or NULL */
    const float *row_scales;       /* m values, or NULL */
    const float *scales, *offsets; /* n values, or NULL */
    void *dst;
    size_t dst_row; /* elements */
    int is_float, is_clamped, is_requantized;
    float low, high, divisor, reciprocal, rest, zero;

    /* Of sums that are still in registers (struct gemm_tile): dst's type, and what finishes them in
     * memory where a kernel does not. */
    enum element to;
    void (*run)(const struct gemm_finish *finish);
};
enum { GEMM_FLOAT_START = 0x4b400000 };
typedef void gemm_finish_fn(const struct gemm_finish *finish);

struct gemm_finish_kernel {
    const char *name;
    uint32_t needs;
    enum element sum, dst; /* S32 to F32, F16, BF16, S8, U8; F32 to F32, F16, BF16 */
    gemm_finish_fn *run;
};

/* Fastest first; every type of dst has one that needs nothing. */
extern const struct gemm_finish_kernel *const gemm_finish_kernels[];
extern const size_t gemm_finish_kernel_count;

/* The fastest that the features allow; NULL for other types. */
gemm_finish_fn *gemm_finish_find(uint32_t features, enum element sum, enum element dst);

/* The tables of one file each. */
#define GEMM_FINISH_LIST(KERNEL) \
    KERNEL(s32_f32, S32, F32)    \
    KERNEL(s32_f16, S32, F16)    \
    KERNEL(s32_bf16, S32, BF16)  \
    KERNEL(s32_s8, S32, S8)      \
    KERNEL(s32_u8, S32, U8)      \
    KERNEL(f32_f32, F32, F32)    \
    KERNEL(f32_f16, F32, F16)    \
    KERNEL(f32_bf16, F32, BF16)
enum { GEMM_FINISH_TYPES = 8 };
extern const struct gemm_finish_kernel gemm_finish_neon[GEMM_FINISH_TYPES];
extern const struct gemm_finish_kernel gemm_finish_ref[GEMM_FINISH_TYPES];

#endif
