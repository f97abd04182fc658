/* Concatenation of tensors along one dimension. */
#ifndef NEOPRENE_CONCAT_H
#define NEOPRENE_CONCAT_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most tensors that are concatenated, or summed, at once. */
enum { NEO_MAX_SOURCES = 32 };

/* dst is the sources one after another along dimension axis; all other sizes are the same. Any
 * strides, and any of the types f32, f16, bf16, s32, s8 and u8: elements of dst's type are copied
 * as they are, others converted, rounded to the nearest, saturating. dst may be `any`, and any
 * dimension NEO_RUNTIME_DIM.
 *
 * Arguments: NEO_ARG_MULTIPLE_SRC + i for source number i, NEO_ARG_DST.
 *
 * @param sources count descriptors, 1 … NEO_MAX_SOURCES.
 *
 * The other parameters and errors are as for neo_matmul_primitive_desc_create(). Post-operations
 * are NEO_UNSUPPORTED. */
NEO_API neo_status neo_concat_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                    const neo_memory_desc *dst, int count, int axis,
                                                    const neo_memory_desc *sources,
                                                    const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
