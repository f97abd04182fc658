/* The identity of packed weights: what they were made from, and into. */
#ifndef SRC_WEIGHTS_SOURCE_KEY_H
#define SRC_WEIGHTS_SOURCE_KEY_H

#include <stdbool.h>

#include "neoprene/memory.h"
#include "neoprene/weights.h"

/* Fills *key for the bytes of a plain tensor at data (its first element) and the layout `to`.
 * Elements are hashed in the order in which they lie in memory, gaps left out, and that order is
 * part of the key. False if elements overlap: then equal bytes do not mean equal weights. */
bool source_key(neo_weights_key *key, const neo_memory_desc *plain, const void *data,
                const neo_memory_desc *to);

#endif
