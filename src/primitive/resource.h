/* What a handle needs besides the shared implementation: by default a block for its scratchpad. */
#ifndef SRC_PRIMITIVE_RESOURCE_H
#define SRC_PRIMITIVE_RESOURCE_H

#include "src/primitive/implementation.h"

/* The entry points that handles use. tokens are implementation->token_count of them, zeroed: the
 * first is the implementation's, the others are of nested ones whose operations have entry points
 * of their own, depth first.
 *
 * create calls the operation's own create_resource() if it has one, else reserves a block for as
 * many threads as the engine's pool has, from which the nested ones take their part; then it goes
 * on with the nested ones that have entry points of their own. A failure takes back what was
 * created. destroy undoes one create that succeeded, in the reverse order. */
neo_status create_resource(struct implementation *implementation, struct reservation *tokens);
void destroy_resource(struct implementation *implementation, struct reservation *tokens);

#endif
