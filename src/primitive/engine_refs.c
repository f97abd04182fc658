/* References to an engine; the last one frees it. */
#include <stdlib.h>

#include "src/primitive/engine.h"

/* Evicting the implementations gives their blocks to the pool, whose memory is the domain's. */
static void engine_free(neo_engine *engine)
{
    cache_destroy(engine->cache);
    engine_weights_deinit(&engine->weights);
    constants_deinit(&engine->replicas);
    block_pool_destroy(engine->blocks);
    default_pool_destroy(engine->threads);
    memory_domain_deinit(&engine->memory);
    handle_lanes_deinit(engine->lanes);
    free(engine);
}

neo_engine *engine_retain(neo_engine *engine)
{
    atomic_fetch_add_explicit(&engine->refs, 1, memory_order_relaxed);
    return engine;
}

void engine_release(neo_engine *engine)
{
    if (engine && atomic_fetch_sub_explicit(&engine->refs, 1, memory_order_acq_rel) == 1)
        engine_free(engine);
}
