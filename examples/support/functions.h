/* The layers that the library has no primitive for, as functions of network nodes: plain loops. */
#ifndef EXAMPLES_SUPPORT_FUNCTIONS_H
#define EXAMPLES_SUPPORT_FUNCTIONS_H

#include "neoprene/network.h"

/* context of max_pool */
typedef struct pool_window {
    neo_dim kernel, stride;
} pool_window;

neo_node_fn max_pool, average_pool, upsample, concatenate, normalize, softmax;

#endif
