/* Elementwise functions on contiguous f32 values: post-ops on rows that are in the L1, and the
 * elementwise operation itself. */
#ifndef KERNELS_ELEMENTWISE_F32_ELTWISE_H
#define KERNELS_ELEMENTWISE_F32_ELTWISE_H

#include "kernels/asm/list.h"

/* FUNCTION(name in the enumeration, name in the kernels'), in the order of the tables. a: alpha, b:
 * beta. exp and functions made of it tend to their limits at infinities. */
/* clang-format off */
#define ELTWISE_F32_FUNCTIONS(FUNCTION) \
    FUNCTION(RELU, relu) /* x > 0 ? x : a x, and 0 for every x <= 0 if a is 0 */ \
    FUNCTION(TANH, tanh) /* tanh(x) */ \
    FUNCTION(ELU, elu) /* x > 0 ? x : a (exp(x) - 1) */ \
    FUNCTION(SQUARE, square) /* x x */ \
    FUNCTION(ABS, abs) /* |x| */ \
    FUNCTION(SQRT, sqrt) /* square root of x */ \
    FUNCTION(LINEAR, linear) /* a x + b, rounded once */ \
    FUNCTION(SOFT_RELU, soft_relu) /* log(1 + exp(a x)) / a */ \
    FUNCTION(HARDSIGMOID, hardsigmoid) /* max(0, min(1, a x + b)) */ \
    FUNCTION(LOGISTIC, logistic) /* 1 / (1 + exp(-x)) */ \
    FUNCTION(EXP, exp) /* exp(x) */ \
    FUNCTION(GELU_TANH, gelu_tanh) /* x (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x x))) / 2 */ \
    FUNCTION(GELU_ERF, gelu_erf) /* x (1 + erf(x / sqrt(2))) / 2 */ \
    FUNCTION(SWISH, swish) /* x / (1 + exp(-a x)) */ \
    FUNCTION(LOG, log) /* log(x) */ \
    FUNCTION(CLIP, clip) /* min(max(x, a), b) */ \
    FUNCTION(CLIP_V2, clip_v2) /* the same; the two differ in their derivatives */ \
    FUNCTION(POW, pow) /* a x^b */ \
    FUNCTION(ROUND, round) /* to the nearest integer, halves to even */ \
    FUNCTION(MISH, mish) /* x tanh(log(1 + exp(x))) */ \
    FUNCTION(HARDSWISH, hardswish) /* x max(0, min(1, a x + b)) */
/* clang-format on */

#define NUMBER(number, name) ELTWISE_F32_##number,
enum eltwise_f32_alg { ELTWISE_F32_FUNCTIONS(NUMBER) ELTWISE_F32_COUNT };
#undef NUMBER

/* dst[i] = f(src[i]) for i < n. src == dst is allowed, other overlaps are not. NaN gives NaN (but
 * for pow, where C's rules hold: x^0 and 1^b are 1). Nothing but n values is read or written, and
 * a value's result does not depend on its place. */
typedef void eltwise_f32_fn(size_t n, const float *src, float *dst, float alpha, float beta);

/* A function begins as a reference kernel: its row of faster tables may be empty. */
KERNEL_TABLES(eltwise_f32, ELTWISE_F32_COUNT);

#endif
