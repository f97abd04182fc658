/* Short ways to say things about the cache of the session's engine: products of m rows. */
#ifndef TESTS_SUPPORT_CACHED_H
#define TESTS_SUPPORT_CACHED_H

#include <stdbool.h>

#include "neoprene/neoprene.h"
#include "tests/support/cases/primitives.h"

neo_cache_statistics cached_statistics(void);
void cached_set_capacity(size_t entries, size_t bytes);

neo_primitive_desc *cached_describe(neo_dim m);
neo_primitive *cached_create(neo_dim m);

/* Was the product in the cache? It is afterwards. */
bool cached_is_hit(neo_dim m);

neo_status cached_execute(neo_stream *where, const neo_primitive *primitive,
                          const struct primitive_args *args);

/* Compares what two primitives compute from the same arguments. */
void cached_check_same_results(const neo_primitive *a, neo_stream *a_stream, const neo_primitive *b,
                               neo_stream *b_stream);

#endif
