/* The primitive cache of an engine, and the pool of memory blocks that its primitives work in. */
#ifndef NEOPRENE_CACHE_H
#define NEOPRENE_CACHE_H

#include "neoprene/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two limits say how much memory primitives hold while nobody uses them.
 *
 * The cache keeps implementations: the description, the plan and the post-operations of a
 * primitive, but no memory to work in. They are kept until more than `entries` of them, or more
 * than `bytes`, would be held; then the least recently used ones go first. What is larger than
 * `bytes` by itself serves its caller and is not kept. Handles keep their implementation alive. A
 * capacity of 0 in either switches the cache off.
 *
 * The pool keeps the blocks: a primitive holds one from its creation to its destruction, and
 * further ones while it is executed several times at once; what one gave back serves the next of
 * any shape. The block budget limits all of them together, held and free. Free ones are dropped
 * first. When those that are held use it up, new primitives hold none and take one only while they
 * are executed, so that the budget is exceeded by no more than the blocks of the executions going
 * on.
 *
 * Engines begin with NEOPRENE_PRIMITIVE_CACHE_CAPACITY (entries, 1024 if unset),
 * NEOPRENE_PRIMITIVE_CACHE_BYTES and NEOPRENE_BLOCK_BUDGET (unlimited if unset; suffixes K, M, G).
 * A value that is no such number is warned about and leaves the default. */
typedef struct neo_cache_capacity {
    size_t entries;
    size_t bytes; /* SIZE_MAX: unlimited */
} neo_cache_capacity;

/* Any thread may call the functions below at any time, also while others create and execute
 * primitives. Each returns NEO_OK or NEO_INVALID_ARGUMENT: a pointer is NULL. */

/* Shrinking evicts at once and keeps the most recently used entries. */
NEO_API neo_status neo_engine_set_cache_capacity(neo_engine *engine, neo_cache_capacity capacity);
NEO_API neo_status neo_engine_get_cache_capacity(const neo_engine *engine, neo_cache_capacity *out);

/* Evicts everything. The counters stay. */
NEO_API neo_status neo_engine_clear_cache(neo_engine *engine);

/* In bytes; SIZE_MAX: unlimited. What is over it and free is dropped at once; primitives that hold
 * a block keep it. */
NEO_API neo_status neo_engine_set_block_budget(neo_engine *engine, size_t bytes);
NEO_API neo_status neo_engine_get_block_budget(const neo_engine *engine, size_t *bytes);

/* Gives free blocks back to the system, those released longest ago first, until at most keep_bytes
 * are free. freed, if not NULL, receives the bytes given back. */
NEO_API neo_status neo_engine_trim(neo_engine *engine, size_t keep_bytes, size_t *freed);

/* Counters run from the engine's creation; a peak is the most there ever was at once. */
typedef struct neo_cache_statistics {
    size_t entries, bytes; /* implementations in the cache */
    size_t peak_entries, peak_bytes;
    uint64_t hits, misses,
        waits;          /* each request is one: found, built, or built by another thread */
    uint64_t evictions; /* for want of room */
    uint64_t failures;  /* misses that could not be built, and were not kept */
    size_t blocks_held,
        bytes_held; /* by primitives: reserved, in use, or kept for their next execution */
    size_t blocks_free, bytes_free;
    size_t peak_bytes_held, peak_block_bytes; /* the second: held and free together */
    uint64_t blocks_made;                     /* the others were used again */
    uint64_t blocks_dropped;                  /* given back to the system */
    uint64_t reserved[4];                     /* 0 until a later version says what they are */
} neo_cache_statistics;

NEO_API neo_status neo_engine_get_cache_statistics(const neo_engine *engine,
                                                   neo_cache_statistics *out);

#ifdef __cplusplus
}
#endif

#endif
