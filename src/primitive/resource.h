/* What a handle needs besides the shared implementation, by default: a block for its scratchpad. */
#ifndef SRC_PRIMITIVE_RESOURCE_H
#define SRC_PRIMITIVE_RESOURCE_H

#include "src/primitive/implementation.h"

/* The entry points that handles use: the operation's own create_resource() and destroy_resource()
 * if it has them, else a reservation of a block for as many threads as the engine's pool has.
 * destroy is called exactly once for each create that succeeded. */
neo_status create_resource(struct implementation *implementation, struct reservation *resource);
void destroy_resource(struct implementation *implementation, struct reservation *resource);

#endif
