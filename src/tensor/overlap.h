/* Do two tensors have a byte in common? */
#ifndef SRC_TENSOR_OVERLAP_H
#define SRC_TENSOR_OVERLAP_H

#include <stdbool.h>

#include "neoprene/memory.h"

/* Each with its buffer. Parts of one larger tensor may lie between each other and have none in
 * common. Of strides so strange that the answer would take long it is no. */
bool desc_share_bytes(const neo_memory_desc *a, const void *a_buffer, const neo_memory_desc *b,
                      const void *b_buffer);

#endif
