/* Copies a tensor into another layout. */
#ifndef NEOPRENE_REORDER_H
#define NEOPRENE_REORDER_H

#include "neoprene/primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dst[i][j]… = post_ops(src[i][j]…): between plain layouts of any strides, from a plain layout to a
 * packed one, and back. Both have the same dimensions, any of which may be NEO_RUNTIME_DIM between
 * plain layouts. They may be of different types: values
 * pass through f32, less src's zero point, times its scale, and what is said at
 * neo_attributes_set_scales() for dst; with the same type and nothing to be done they are copied.
 * src may be dst's buffer if both have the same descriptor.
 *
 * What is converted into a packed layout, or out of it, has the bits of two reorders with a plain
 * tensor of the packed one's type between them, which is in the scratchpad. Packed weights take no
 * sum; those transformed for Winograd's algorithm do not come back; those in blocks are made by
 * neo_block_weights_import().
 *
 * Parameters and errors as for neo_matmul_primitive_desc_create(). */
NEO_API neo_status neo_reorder_primitive_desc_create(neo_primitive_desc **out, neo_engine *engine,
                                                     const neo_memory_desc *src,
                                                     const neo_memory_desc *dst,
                                                     const neo_attributes *attributes);

#ifdef __cplusplus
}
#endif

#endif
