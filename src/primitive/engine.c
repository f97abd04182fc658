/* Engines: creation in order, destruction in reverse, reference counting between. */
#include "src/primitive/engine.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/log.h"
#include "src/memory/domain_source.h"

/* Evicting the implementations gives their blocks to the pool, whose memory is the domain's. */
static void engine_free(neo_engine *engine)
{
    cache_destroy(engine->cache);
    engine_weights_deinit(&engine->weights);
    block_pool_destroy(engine->blocks);
    default_pool_destroy(engine->threads);
    memory_domain_deinit(&engine->memory);
    handle_lanes_deinit(engine->lanes);
    free(engine);
}

static neo_status engine_init(neo_engine *engine, const neo_allocator *allocator)
{
    neo_status status = memory_domain_init(&engine->memory, allocator);
    if (status != NEO_OK)
        return status;
    struct block_source source = domain_block_source(&engine->memory);
    struct cache_options options = cache_options_from_environment();
    status = default_pool_create(&engine->threads, &(neo_threadpool_options){0});
    if (status == NEO_OK)
        status = block_pool_create(&engine->blocks, &source, NULL);
    if (status == NEO_OK)
        status = cache_create(&engine->cache, &options);
    if (status == NEO_OK)
        status = engine_weights_init(&engine->weights, &engine->memory);
    return status;
}

neo_status neo_engine_create(neo_engine **out)
{
    return neo_engine_create_with_allocator(out, NULL);
}

neo_status neo_engine_create_with_allocator(neo_engine **out, const neo_allocator *allocator)
{
    if (!out) {
        log_check("neo_engine_create: out is NULL");
        return NEO_INVALID_ARGUMENT;
    }
    *out = NULL;
    neo_engine *engine = aligned_alloc(_Alignof(neo_engine), sizeof *engine);
    if (!engine)
        return NEO_OUT_OF_MEMORY;
    memset(engine, 0, sizeof *engine);
    atomic_init(&engine->refs, 1);
    engine->cpu = cpu_get();
    neo_status status = handle_lanes_init(engine->lanes, engine);
    if (status == NEO_OK)
        status = engine_init(engine, allocator);
    if (status != NEO_OK) {
        neo_engine_destroy(engine);
        return status;
    }
    *out = engine;
    return NEO_OK;
}

neo_engine *engine_retain(neo_engine *engine)
{
    atomic_fetch_add_explicit(&engine->refs, 1, memory_order_relaxed);
    return engine;
}

void engine_release(neo_engine *engine)
{
    if (atomic_fetch_sub_explicit(&engine->refs, 1, memory_order_acq_rel) == 1)
        engine_free(engine);
}

void neo_engine_destroy(neo_engine *engine)
{
    if (!engine)
        return;
    handle_lanes_let_go(engine->lanes);
    engine_release(engine);
}
