/* The public functions about an engine's primitive cache. */
#include "neoprene/cache.h"
#include "src/core/log.h"
#include "src/primitive/engine.h"

static neo_status refuse_null(const char *function)
{
    log_check("%s: a pointer is NULL", function);
    return NEO_INVALID_ARGUMENT;
}

neo_status neo_engine_set_cache_capacity(neo_engine *engine, neo_cache_capacity capacity)
{
    if (!engine)
        return refuse_null(__func__);
    cache_set_max_entries(engine->cache, capacity.entries);
    cache_set_max_bytes(engine->cache, capacity.bytes);
    return NEO_OK;
}

neo_status neo_engine_get_cache_capacity(const neo_engine *engine, neo_cache_capacity *out)
{
    if (!engine || !out)
        return refuse_null(__func__);
    struct cache_stats stats;
    cache_stats(engine->cache, &stats);
    *out = (neo_cache_capacity){.entries = stats.max_entries, .bytes = stats.max_bytes};
    return NEO_OK;
}

neo_status neo_engine_clear_cache(neo_engine *engine)
{
    if (!engine)
        return refuse_null(__func__);
    cache_clear(engine->cache);
    return NEO_OK;
}
