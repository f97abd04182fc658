/* References to an engine, the last of which frees it, and its number. */
#include <stdlib.h>

#include "src/primitive/engine.h"

/* A bit for each number that an engine has, and one for 0. */
static atomic_uint_fast64_t numbers = 1;

unsigned engine_take_number(void)
{
    uint_fast64_t taken = atomic_load(&numbers);
    unsigned number;
    do {
        if (taken == UINT64_MAX)
            return 0;
        number = (unsigned)__builtin_ctzll(~taken);
    } while (!atomic_compare_exchange_weak(&numbers, &taken, taken | UINT64_C(1) << number));
    return number;
}

static void give_number_back(unsigned number)
{
    if (number)
        atomic_fetch_and(&numbers, ~(UINT64_C(1) << number));
}

_Static_assert(1 << DESC_IMAGE_FREE_BITS == 64, "a number has so many bits");

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
    give_number_back(engine->number);
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
