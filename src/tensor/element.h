/* Single elements of any readable data type, as f32: for operands off the fast path. */
#ifndef SRC_TENSOR_ELEMENT_H
#define SRC_TENSOR_ELEMENT_H

#include <stdbool.h>

#include "neoprene/types.h"

bool element_is_readable(neo_data_type type);

/* Element number index of an array. */
float element_read(neo_data_type type, const void *data, neo_dim index);

#endif
