/* Local response normalisation. */
#ifndef NEOPRENE_LRN_H
#define NEOPRENE_LRN_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum neo_lrn {
    NEO_LRN_ACROSS_CHANNELS,
    NEO_LRN_WITHIN_CHANNEL,
} neo_lrn;

/* dst = post_ops(src * (k + alpha / n * sum of x^2)^-beta), for every element of src, with the sum
 * over the elements x at most (local_size - 1) / 2 from it: across channels in dimension 1, where n
 * is local_size; within a channel in all dimensions of space, where n is local_size to the power of
 * their number.
 *
 * src and dst are N × C × space, with the same sizes, up to three dimensions of space, any strides
 * and any of the types f32, f16, bf16, s32, s8 and u8, computed in f32; one of them may be `any`,
 * and any dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). */
NEO_API neo_status neo_lrn_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                 neo_prop_kind prop_kind, neo_lrn algorithm,
                                                 const neo_memory_desc *src,
                                                 const neo_memory_desc *dst, neo_dim local_size,
                                                 float alpha, float beta, float k,
                                                 const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
