/* Implementations: what the primitive cache holds.
 *
 * Immutable after creation but for the memory manager and the reference count, so any number of
 * handles and threads share one. An implementation belongs to an engine that outlives it: handles
 * hold references to their engine, and the engine's cache is emptied before the engine goes. */
#ifndef SRC_PRIMITIVE_IMPLEMENTATION_H
#define SRC_PRIMITIVE_IMPLEMENTATION_H

#include <stdalign.h>

#include "src/memory/block_manager.h"
#include "src/primitive/cache.h"
#include "src/primitive/engine.h"
#include "src/primitive/problem.h"

enum { MAX_ALGORITHMS = 16 };

struct declined {
    const char *algorithm, *reason;
};

struct implementation {
    struct cache_value value; /* first: the cache counts the references */
    neo_engine *engine;
    struct problem problem; /* every `any` replaced */
    const struct algorithm *algorithm;
    struct declined declined[MAX_ALGORITHMS];
    int declined_count;
    double estimate;
    bool runtime; /* sizes are known at execution: the plan is made then */
    char name[64];
    size_t bytes; /* of this object with what it points to */
    struct block_manager blocks;
    alignas(64) unsigned char plan[PLAN_MAX_BYTES];
};

/* The index-th best implementation of the problem, which is not checked yet.
 *
 * @return NEO_OK, NEO_INVALID_ARGUMENT, NEO_UNSUPPORTED, NEO_LAST_IMPLEMENTATION (index > 0 and
 * there are not so many), NEO_OUT_OF_MEMORY. */
neo_status implementation_create(struct implementation **out, neo_engine *engine,
                                 const struct problem *problem, int index);

/* The same from the engine's cache; *hit tells whether it was there. */
neo_status implementation_find(struct implementation **out, neo_engine *engine,
                               const struct problem *problem, int index, bool *hit);
struct implementation *implementation_retain(struct implementation *implementation);
void implementation_release(struct implementation *implementation);

/* How many of the available threads it is worth: small problems are not worth all of them. One of
 * run-time sizes has no estimate and takes all. */
int implementation_threads(const struct implementation *implementation, int available);

/* Scratchpad bytes when so many threads are available. */
size_t implementation_scratch_bytes(const struct implementation *implementation, int available);

/* "gemm:neon…,undef,src:f32:ab:…,attr-…,4x5:5x6": the middle of a log line; returns out. */
char *implementation_text(const struct implementation *implementation, char *out, size_t size);

#endif
