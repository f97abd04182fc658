/* Layouts that the library chooses for weights, by a name of our own: packed_matmul, packed_conv
 * and packed_group_conv. They make reorders to such layouts, and back, problems like any other. */
#ifndef BENCHDNN_PACKED_H
#define BENCHDNN_PACKED_H

#include "benchdnn/problem.h"

bool packed_is_tag(const struct tag *tag);

/* What a primitive that takes operand as weights chooses for it. */
neo_status packed_desc(neo_memory_desc *out, const struct operand *operand, neo_engine *engine);

#endif
