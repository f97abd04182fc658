/* Sums, products, extremes and norms along any set of dimensions. */
#ifndef NEOPRENE_REDUCTION_H
#define NEOPRENE_REDUCTION_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name, text, formula over the n elements x of src that one element of dst stands for. */
#define NEO_REDUCTION_LIST(X)                                                                 \
    X(NEO_REDUCTION_MAX, "max", "the largest")                                                \
    X(NEO_REDUCTION_MIN, "min", "the smallest")                                               \
    X(NEO_REDUCTION_SUM, "sum", "sum of x")                                                   \
    X(NEO_REDUCTION_MUL, "mul", "product of x")                                               \
    X(NEO_REDUCTION_MEAN, "mean", "sum of x / n")                                             \
    X(NEO_REDUCTION_NORM_LP_MAX, "norm_lp_max", "max(sum of |x|^p, epsilon)^(1/p)")           \
    X(NEO_REDUCTION_NORM_LP_SUM, "norm_lp_sum", "(sum of |x|^p + epsilon)^(1/p)")             \
    X(NEO_REDUCTION_NORM_LP_POWER_P_MAX, "norm_lp_power_p_max", "max(sum of |x|^p, epsilon)") \
    X(NEO_REDUCTION_NORM_LP_POWER_P_SUM, "norm_lp_power_p_sum", "sum of |x|^p + epsilon")

typedef enum neo_reduction {
#define NEO_REDUCTION_ENTRY(name, text, formula) name,
    NEO_REDUCTION_LIST(NEO_REDUCTION_ENTRY)
#undef NEO_REDUCTION_ENTRY
} neo_reduction;

/* dst has src's number of dimensions, and in each of them src's size, or 1, where all elements of
 * src become one; post-operations follow. Any strides, and any of the types f32, f16, bf16, s32, s8
 * and u8, computed in f32 in an order that depends on sizes and layout alone. One of src and dst
 * may be `any`, and any dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * @param p       at least 1 for norms; other algorithms do not look at it.
 * @param epsilon of norms.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_reduction_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                       neo_reduction algorithm,
                                                       const neo_memory_desc *src,
                                                       const neo_memory_desc *dst, float p,
                                                       float epsilon,
                                                       const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
