/* Memory for entries: the caller's allocator, or the C library's. */
#ifndef SRC_PACKED_ALLOCATOR_H
#define SRC_PACKED_ALLOCATOR_H

#include <stdbool.h>

#include "neoprene/weights.h"

/* Takes the C library's where both functions are NULL; false if only one of them is. */
bool allocator_init(neo_weights_allocator *allocator, const neo_weights_allocator *wanted);

#endif
