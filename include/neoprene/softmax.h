/* Softmax along one dimension, and its logarithm. */
#ifndef NEOPRENE_SOFTMAX_H
#define NEOPRENE_SOFTMAX_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_softmax {
    NEO_SOFTMAX_ACCURATE,
    NEO_SOFTMAX_LOG,
    NEO_SOFTMAX_ACCURATE_INF_AS_ZERO, /* rows of -infinity alone, as masks make them, give 0 */
} neo_softmax;

/* With max and sum over the elements along dimension axis that have the same other indices:
 *
 *   accurate: dst[i] = post_ops(exp(src[i] - max) / sum of exp(src[j] - max))
 *   log:      dst[i] = post_ops(src[i] - max - log(sum of exp(src[j] - max)))
 *
 * A row that is all -infinity, or has infinity in it, gives NaN, but for INF_AS_ZERO. src and dst
 * have the same sizes, any strides, any of the types f32, f16, bf16, s32, s8 and u8, computed in
 * f32; src may be dst's buffer if both have the same descriptor; one of them may be `any`, and any
 * dimension NEO_RUNTIME_DIM. The error of accurate is below 4 of f32's last places and n / 16 of
 * them, for n elements in a row. src and dst may have one scale each; that of src multiplies the
 * quotient or logarithm, before post-operations, and not what goes into the exponential.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * @param axis 0 … ndims - 1.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). */
NEO_API neo_status neo_softmax_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                     neo_prop_kind prop_kind, neo_softmax algorithm,
                                                     const neo_memory_desc *src,
                                                     const neo_memory_desc *dst, int axis,
                                                     const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
