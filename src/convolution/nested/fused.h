/* Convolutions with a depthwise post-operation. */
#ifndef SRC_CONVOLUTION_NESTED_FUSED_H
#define SRC_CONVOLUTION_NESTED_FUSED_H

#include "src/primitive/primitive.h"

/* The same as primitive_desc_create() for a convolution's description whose attributes have a
 * depthwise post-operation. */
neo_status fused_create(neo_primitive_desc **out, neo_engine *engine,
                        const struct description *convolution);

#endif
