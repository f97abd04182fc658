/* The weights provider of an engine. */
#ifndef SRC_PACKED_ENGINE_WEIGHTS_H
#define SRC_PACKED_ENGINE_WEIGHTS_H

#include <stdbool.h>

#include "src/core/lock.h"
#include "src/memory/allocation.h"
#include "src/packed/provider.h"

struct engine_weights {
    struct lock lock; /* guards current */
    neo_weights_provider current;
    neo_weights_provider memory; /* the engine's own, over its memory domain: the fallback */
    neo_weights_provider file;   /* of the environment; all NULL if there is none */
};

/* domain must outlive the provider. */
neo_status engine_weights_init(struct engine_weights *weights, struct memory_domain *domain);

/* Entries still in use live until they are released. A zeroed one is fine. */
void engine_weights_deinit(struct engine_weights *weights);

/* NULL: the engine's own. */
void engine_weights_set(struct engine_weights *weights, const neo_weights_provider *provider);
neo_weights_provider engine_weights_get(struct engine_weights *weights);

#endif
