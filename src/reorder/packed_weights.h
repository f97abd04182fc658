/* Packed weights as a user holds them: how those that are not made from a plain tensor are made. */
#ifndef SRC_REORDER_PACKED_WEIGHTS_H
#define SRC_REORDER_PACKED_WEIGHTS_H

#include "neoprene/packed_weights.h"
#include "src/packed/provider.h"

/* Weights of this descriptor, which are found by the request's key or packed. */
neo_status packed_weights_create(neo_packed_weights **out, neo_engine *engine,
                                 const neo_memory_desc *desc,
                                 const struct weights_request *request);

#endif
