/* The sum of tensors. */
#ifndef NEOPRENE_SUM_H
#define NEOPRENE_SUM_H

#include "neoprene/concat.h"
#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i][j]… = post_ops(sum over n of scales[n] * src_n[i][j]…), added in the order of the sources
 * in f32. All tensors have the same sizes, any strides and any of the types f32, f16, bf16, s32, s8
 * and u8, any dimension NEO_RUNTIME_DIM. dst may be `any`, and one source's buffer if both have the
 * same descriptor.
 *
 * Arguments: NEO_ARG_MULTIPLE_SRC + i for source number i, NEO_ARG_DST.
 *
 * @param sources count descriptors, 1 … NEO_MAX_SOURCES.
 * @param scales  as many; NULL: all 1.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_sum_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                 const neo_memory_desc *dst, int count,
                                                 const float *scales,
                                                 const neo_memory_desc *sources,
                                                 const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
