/* Leaky relu with a tensor of slopes. */
#ifndef NEOPRENE_PRELU_H
#define NEOPRENE_PRELU_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i][j]… = post_ops(src[i][j]… > 0 ? src[i][j]… : src[i][j]… * weights[i][j]…), where each size
 * of weights is src's or 1, and then repeats. Types, strides, `any`, in place and run-time sizes as
 * for neo_binary_primitive_desc_create().
 *
 * Arguments: NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST.
 *
 * The other parameters and errors are as for neo_eltwise_primitive_desc_create(). */
NEO_API neo_status neo_prelu_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                   neo_prop_kind prop_kind,
                                                   const neo_memory_desc *src,
                                                   const neo_memory_desc *weights,
                                                   const neo_memory_desc *dst,
                                                   const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
