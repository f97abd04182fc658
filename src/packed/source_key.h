/* The identity of packed weights: what they were made from, and into. */
#ifndef SRC_PACKED_SOURCE_KEY_H
#define SRC_PACKED_SOURCE_KEY_H

#include <stdbool.h>

#include "neoprene/memory.h"
#include "neoprene/weights.h"
#include "src/threading/parallel.h"

/* Fills the layout of *key: of a plain tensor packed into the layout `to`. False if the tensor's
 * elements overlap: then equal bytes do not mean equal weights. */
bool source_key(neo_weights_key *key, const neo_memory_desc *plain, const neo_memory_desc *to);

/* The content of a plain tensor that does not overlap itself, at data (its first element). Elements
 * are hashed in the order in which they lie in memory, gaps left out; that order is in the key's
 * layout. */
neo_weights_content source_content(const neo_memory_desc *plain, const void *data,
                                   const struct parallel *parallel);

#endif
