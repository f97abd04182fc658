/* Functions of two f32 operands: post-ops on rows that are in the L1, and the binary operation. */
#ifndef KERNELS_ELEMENTWISE_F32_BINARY_H
#define KERNELS_ELEMENTWISE_F32_BINARY_H

#include "kernels/asm/list.h"

/* FUNCTION(name in the enumeration, name in the kernels'), in the order of the tables. */
/* clang-format off */
#define BINARY_F32_FUNCTIONS(FUNCTION) \
    FUNCTION(ADD, add) \
    FUNCTION(SUB, sub) \
    FUNCTION(MUL, mul) \
    FUNCTION(DIV, div) \
    FUNCTION(MIN, min) /* NaN if either is */ \
    FUNCTION(MAX, max) \
    FUNCTION(GE, ge) /* comparisons give 1 or 0; with a NaN 0, but for NE, which gives 1 */ \
    FUNCTION(GT, gt) \
    FUNCTION(LE, le) \
    FUNCTION(LT, lt) \
    FUNCTION(EQ, eq) \
    FUNCTION(NE, ne) \
    FUNCTION(PRELU, prelu) /* a < 0 ? a b : a */
/* clang-format on */

#define NUMBER(number, name) BINARY_F32_##number,
enum binary_f32_alg { BINARY_F32_FUNCTIONS(NUMBER) BINARY_F32_COUNT };
#undef NUMBER

/* dst[i] = f(a[i], b[i * b_step]) for i < n; b_step is 0 or 1. dst may be a or b, and overlaps
 * them in no other way. Nothing but n values (of b with step 0: one) is read or written. */
typedef void binary_f32_fn(size_t n, const float *a, const float *b, size_t b_step, float *dst);

/* dst[i] = a[i] + scale * (old[i] - zero_point), the product and the sum rounded once. dst may be
 * a or old. */
typedef void sum_f32_fn(size_t n, const float *a, const float *old, float scale, float zero_point,
                        float *dst);

/* dst[i] = the sum over l < count of lines[l][i] * weights[l], from the first one on, each product
 * and sum rounded once; count is at least 1. dst is apart from all lines. */
typedef void blend_f32_fn(size_t n, size_t count, const float *const *lines, const float *weights,
                          float *dst);

KERNEL_TABLES(binary_f32, BINARY_F32_COUNT);
KERNEL_LIST(sum_f32);
KERNEL_LIST(blend_f32);

#endif
