/* The public functions about an engine's primitive cache. */
#include "neoprene/cache.h"
#include "src/core/log.h"
#include "src/primitive/engine.h"

neo_status neo_engine_set_cache_capacity(neo_engine *engine, neo_cache_capacity capacity)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    cache_set_max_entries(engine->cache, capacity.entries);
    cache_set_max_bytes(engine->cache, capacity.bytes);
    return NEO_OK;
}

neo_status neo_engine_get_cache_capacity(const neo_engine *engine, neo_cache_capacity *out)
{
    if (!engine || !out)
        return log_refusal(__func__, "a pointer is NULL");
    struct cache_stats stats;
    cache_stats(engine->cache, &stats);
    *out = (neo_cache_capacity){.entries = stats.max_entries, .bytes = stats.max_bytes};
    return NEO_OK;
}

neo_status neo_engine_set_block_budget(neo_engine *engine, size_t bytes)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    block_pool_set_budget(engine->blocks, bytes);
    return NEO_OK;
}

neo_status neo_engine_get_block_budget(const neo_engine *engine, size_t *bytes)
{
    if (!engine || !bytes)
        return log_refusal(__func__, "a pointer is NULL");
    *bytes = block_pool_budget(engine->blocks);
    return NEO_OK;
}

neo_status neo_engine_trim(neo_engine *engine, size_t keep_bytes, size_t *freed)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    size_t bytes = block_pool_trim(engine->blocks, keep_bytes);
    if (freed)
        *freed = bytes;
    return NEO_OK;
}

neo_status neo_engine_get_cache_statistics(const neo_engine *engine, neo_cache_statistics *out)
{
    if (!engine || !out)
        return log_refusal(__func__, "a pointer is NULL");
    struct cache_stats cache;
    struct block_pool_stats blocks;
    cache_stats(engine->cache, &cache);
    block_pool_stats(engine->blocks, &blocks);
    *out = (neo_cache_statistics){
        .entries = cache.entries,
        .bytes = cache.bytes,
        .peak_entries = cache.peak_entries,
        .peak_bytes = cache.peak_bytes,
        .hits = cache.hits,
        .misses = cache.misses,
        .waits = cache.waits,
        .evictions = cache.evictions,
        .failures = cache.failures,
        .blocks_held = blocks.live_blocks,
        .bytes_held = blocks.live_bytes,
        .blocks_free = blocks.free_blocks,
        .bytes_free = blocks.free_bytes,
        .peak_bytes_held = blocks.peak_live_bytes,
        .peak_block_bytes = blocks.peak_bytes,
        .blocks_made = blocks.creations,
        .blocks_dropped = blocks.trims,
    };
    return NEO_OK;
}

neo_status neo_engine_clear_cache(neo_engine *engine)
{
    if (!engine)
        return log_refusal(__func__, "a pointer is NULL");
    cache_clear(engine->cache);
    return NEO_OK;
}
