/* The primitive cache of an engine. */
#ifndef NEOPRENE_CACHE_H
#define NEOPRENE_CACHE_H

#include "neoprene/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Implementations are kept until more than `entries` of them, or more than `bytes` of memory, would
 * be held; then the least recently used ones go first. Handles keep their implementation alive. An
 * entry count of 0 switches the cache off. Engines begin with NEOPRENE_PRIMITIVE_CACHE_CAPACITY
 * (entries, 1024 if unset) and NEOPRENE_PRIMITIVE_CACHE_BYTES (unlimited if unset; suffixes K, M,
 * G). */
typedef struct neo_cache_capacity {
    size_t entries;
    size_t bytes; /* SIZE_MAX: unlimited */
} neo_cache_capacity;

/* Shrinking evicts at once and keeps the most recently used entries. */
NEO_API neo_status neo_engine_set_cache_capacity(neo_engine *engine, neo_cache_capacity capacity);
NEO_API neo_status neo_engine_get_cache_capacity(const neo_engine *engine, neo_cache_capacity *out);

/* Evicts everything. */
NEO_API neo_status neo_engine_clear_cache(neo_engine *engine);

#ifdef __cplusplus
}
#endif

#endif
