/* Shuffles the groups of a dimension. */
#ifndef NEOPRENE_SHUFFLE_H
#define NEOPRENE_SHUFFLE_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimension axis, of A elements, is read as A / group_size rows of group_size elements, and written
 * by columns:
 *
 *   dst[…][v * (A / group_size) + u][…] = src[…][u * group_size + v][…]
 *
 * src and dst have the same sizes, any strides and any of the types f32, f16, bf16, s32, s8 and u8,
 * converted as for neo_concat_primitive_desc_create(); one of them may be `any`, and any
 * dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_DST.
 *
 * @param group_size divides A.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). Post-operations,
 * and NEO_MAX_NDIMS dimensions, are NEO_UNSUPPORTED. */
NEO_API neo_status neo_shuffle_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                     neo_prop_kind prop_kind,
                                                     const neo_memory_desc *src,
                                                     const neo_memory_desc *dst, int axis,
                                                     neo_dim group_size,
                                                     const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
