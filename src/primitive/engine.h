/* The engine's and the stream's insides. */
#ifndef SRC_PRIMITIVE_ENGINE_H
#define SRC_PRIMITIVE_ENGINE_H

#include <stdatomic.h>

#include "arch/cpu.h"
#include "neoprene/engine.h"
#include "src/memory/allocation.h"
#include "src/memory/blocks/pool.h"
#include "src/memory/constants.h"
#include "src/packed/engine_weights.h"
#include "src/primitive/cache/cache.h"
#include "src/primitive/handle.h"
#include "src/tensor/descriptor.h"
#include "src/threading/default_pool.h"
#include "src/threading/parallel.h"

struct neo_engine {
    struct handle_lane lanes[HANDLE_LANES];
    _Alignas(128) atomic_size_t refs; /* the user, lanes in use, streams, memory objects */
    const struct cpu *cpu;
    unsigned number; /* as long as this engine lives no other one's; 0: there are too many */
    struct memory_domain memory;
    struct default_pool *threads;
    struct block_pool *blocks;
    struct cache *cache;
    size_t algorithm_budget; /* of attributes that have none; 0: no limit */
    struct engine_weights weights;
    struct constants replicas; /* packed weights of each NUMA node, while wants_replicas */
    atomic_bool wants_replicas;
};

struct neo_stream {
    neo_engine *engine; /* a reference */
    struct parallel parallel;
};

/* What images of an engine's tensors have in the first word, so that they differ from images of
 * other ones' tensors, or 0. */
static inline uint64_t engine_mark(const neo_engine *owner)
{
    return (uint64_t)owner->number << DESC_IMAGE_FREE;
}

/* A number for a new engine, which gives it back when it is freed. */
unsigned engine_take_number(void);

/* Adds a reference and returns engine. */
neo_engine *engine_retain(neo_engine *engine);

/* Drops one; the last one frees the engine. Users' references are dropped by neo_engine_destroy().
 */
void engine_release(neo_engine *engine);

/* The public handle. engine (may be NULL) is the domain's; the handle takes over a reference to it,
 * unless creation fails. */
neo_status allocation_handle_create(struct memory_domain *domain, neo_engine *engine,
                                    const neo_allocation_request *request, neo_allocation **out);

#endif
