/* Matrix multiplication. */
#ifndef NEOPRENE_MATMUL_H
#define NEOPRENE_MATMUL_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[…][m][n] = post_ops(sum over p < K of src[…][m][p] * weights[…][p][n] + bias[…][m][n])
 *
 * All tensors have the same ndims, 2 … NEO_MAX_NDIMS; the last two dimensions are the matrices',
 * the others are batch dimensions, where src and weights may each have dst's size or 1 (broadcast);
 * bias has dst's size or 1 in every dimension, or is a vector of N values. Any strides; a
 * descriptor may be `any` (weights then become packed), and any dimension may be NEO_RUNTIME_DIM in
 * tensors that are not `any`.
 *
 * src and weights are both of f32, f16, bf16, or both of s8, u8; weights beside floats may be of s8
 * or u8, too, and beside either kind of s4 or u4; or, beside floats, in blocks that have their own
 * scales (neoprene/block_weights.h). bias and dst are of any type of whole bytes. What
 * scales and zero points mean is said at neo_attributes_set_scales(). Integers by integers are
 * summed in s32 and are exact: the same on every processor. All else is summed in f32, where each
 * result is within (K + 1) * 2^-23 * sum over p of |src[m][p] * weights[p][n]| before it is rounded
 * to dst's type; processors with instructions for bf16 take its denormal numbers for 0.
 *
 * Zero-initialise it and set fields by name. */
typedef struct neo_matmul_desc {
    neo_memory_desc src;     /* … × M × K */
    neo_memory_desc weights; /* … × K × N */
    neo_memory_desc bias;    /* … × M × N with broadcast, or N; ndims 0: none */
    neo_memory_desc dst;     /* … × M × N */
    uint64_t reserved[4];    /* 0 */
} neo_matmul_desc;

/* @param out        receives the descriptor, or NULL on failure; release with
 *                   neo_primitive_desc_destroy().
 * @param desc       copied.
 * @param attributes copied; NULL for the defaults.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (sizes that contradict each other, an unknown data type, a
 *         destination with stride 0), NEO_UNSUPPORTED (a data type or attribute that no
 *         implementation has, a tensor of more than 2^46 elements or with a larger stride or
 *         offset), NEO_OUT_OF_MEMORY, NEO_RUNTIME_ERROR (called from inside its own creation, by
 *         an allocator of the user's).
 */
NEO_API neo_status neo_matmul_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                    const neo_matmul_desc *desc,
                                                    const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
