/* Elementwise functions on contiguous f32 values: post-ops on rows that are in the L1, and the
 * elementwise operation itself. */
#ifndef KERNELS_ELEMENTWISE_F32_ELTWISE_H
#define KERNELS_ELEMENTWISE_F32_ELTWISE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"

/* a: alpha, b: beta. exp and functions made of it tend to their limits at infinities. */
enum eltwise_f32_alg {
    ELTWISE_F32_RELU,        /* x > 0 ? x : a x, and 0 for every x <= 0 if a is 0 */
    ELTWISE_F32_TANH,        /* tanh(x) */
    ELTWISE_F32_ELU,         /* x > 0 ? x : a (exp(x) - 1) */
    ELTWISE_F32_SQUARE,      /* x x */
    ELTWISE_F32_ABS,         /* |x| */
    ELTWISE_F32_SQRT,        /* square root of x */
    ELTWISE_F32_LINEAR,      /* a x + b, rounded once */
    ELTWISE_F32_SOFT_RELU,   /* log(1 + exp(a x)) / a */
    ELTWISE_F32_HARDSIGMOID, /* max(0, min(1, a x + b)) */
    ELTWISE_F32_LOGISTIC,    /* 1 / (1 + exp(-x)) */
    ELTWISE_F32_EXP,         /* exp(x) */
    ELTWISE_F32_GELU_TANH,   /* x (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x x))) / 2 */
    ELTWISE_F32_GELU_ERF,    /* x (1 + erf(x / sqrt(2))) / 2 */
    ELTWISE_F32_SWISH,       /* x / (1 + exp(-a x)) */
    ELTWISE_F32_LOG,         /* log(x) */
    ELTWISE_F32_CLIP,        /* min(max(x, a), b) */
    ELTWISE_F32_CLIP_V2,     /* the same; the two differ in their derivatives */
    ELTWISE_F32_POW,         /* a x^b */
    ELTWISE_F32_ROUND,       /* to the nearest integer, halves to even */
    ELTWISE_F32_MISH,        /* x tanh(log(1 + exp(x))) */
    ELTWISE_F32_HARDSWISH,   /* x max(0, min(1, a x + b)) */
    ELTWISE_F32_COUNT
};

/* dst[i] = f(src[i]) for i < n. src == dst is allowed, other overlaps are not. NaN gives NaN (but
 * for pow, where C's rules hold: x^0 and 1^b are 1). Nothing but n values is read or written, and
 * a value's result does not depend on its place. */
typedef void eltwise_f32_fn(size_t n, const float *src, float *dst, float alpha, float beta);

struct eltwise_f32_kernel {
    const char *name;
    uint32_t needs;
    eltwise_f32_fn *run;
};

/* Indexed by algorithm. */
extern const struct eltwise_f32_kernel eltwise_f32_ref[ELTWISE_F32_COUNT];
extern const struct eltwise_f32_kernel eltwise_f32_neon[ELTWISE_F32_COUNT];

/* Fastest first; the last needs nothing. */
extern const struct eltwise_f32_kernel *const eltwise_f32_kernels[];
extern const size_t eltwise_f32_kernel_count; /* of tables */

/* The fastest kernel that the features allow; never NULL for an algorithm of the list. */
const struct eltwise_f32_kernel *eltwise_f32_find(uint32_t features, enum eltwise_f32_alg alg);

#endif
