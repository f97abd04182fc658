/* Get-or-create cache of reference-counted objects, in exact order of recency.
 *
 * A hit takes one short lock of a shard, and no clock. Shards split only the locks: every use draws
 * a number from one counter, so the least recently used entry of all shards is known and is the one
 * that is evicted.
 *
 * Creation is single-flight: the first thread to ask for a key builds it, outside every lock; those
 * that ask meanwhile wait for its result. A failure reaches all of them and is not kept, so that
 * the next call tries again. build() may use the cache for other keys; a build that needs its own
 * result, directly or through what other threads are building, gets NEO_RUNTIME_ERROR.
 *
 * Objects are destroyed and callbacks run outside every lock. An evicted object lives until its
 * last reference is released. A forked child may use the cache if no thread was inside it at the
 * fork. */
#ifndef SRC_PRIMITIVE_CACHE_CACHE_H
#define SRC_PRIMITIVE_CACHE_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "neoprene/types.h"

/* ---- what is kept ---- */

/* The first member of a cached object. */
struct cache_value {
    atomic_size_t references;
    void (*destroy)(struct cache_value *value);
};

/* The caller owns the first reference. */
static inline void cache_value_init(struct cache_value *value,
                                    void (*destroy)(struct cache_value *value))
{
    atomic_init(&value->references, 1);
    value->destroy = destroy;
}

static inline void cache_value_retain(struct cache_value *value)
{
    atomic_fetch_add_explicit(&value->references, 1, memory_order_relaxed);
}

/* NULL is fine. The last release destroys the object. */
static inline void cache_value_release(struct cache_value *value)
{
    if (value && atomic_fetch_sub_explicit(&value->references, 1, memory_order_acq_rel) == 1)
        value->destroy(value);
}

/* hash is any function of the words; equal hashes are told apart by the words. */
struct cache_key {
    const uint32_t *words;
    size_t count;
    uint64_t hash;
};

/* ---- the cache ---- */

enum cache_outcome {
    CACHE_HIT,
    CACHE_MISS, /* this call built it */
    CACHE_WAIT, /* another thread was building it */
    CACHE_EVICT /* in events only */
};

/* Only while LOG_CREATE is on; the clock is not read otherwise. */
struct cache_event {
    enum cache_outcome outcome;
    const struct cache_key *key; /* valid during the call */
    const char *text;            /* of what was evicted, if there is a describe() */
    neo_status status;
    uint64_t time_ns; /* of the request; of letting an evicted object go */
};

typedef void cache_event_fn(void *context, const struct cache_event *event);

struct cache_options {
    size_t max_entries, max_bytes; /* whichever is reached first; 0 turns the cache off */
    cache_event_fn *event;         /* may be NULL */
    void *event_context;

    /* Writes a line about a value; may be NULL. */
    void (*describe)(const struct cache_value *value, char *out, size_t size);
};

struct cache_stats {
    size_t entries, bytes, peak_entries, peak_bytes;
    size_t max_entries, max_bytes;
    uint64_t hits, misses, waits; /* one of them for each call */
    uint64_t evictions;
    uint64_t failures; /* misses whose build failed */
};

struct cache;

/* 1024 entries and no limit on bytes, or what NEOPRENE_PRIMITIVE_CACHE_CAPACITY (entries) and
 * NEOPRENE_PRIMITIVE_CACHE_BYTES (with K, M or G) say; a value that is no such number is warned
 * about and ignored. No events. */
struct cache_options cache_options_from_environment(void);

neo_status cache_create(struct cache **out, const struct cache_options *options);

/* No call may be in progress. Objects with references elsewhere live on. NULL is fine. */
void cache_destroy(struct cache *cache);

/* Makes the object of a key: on success *value has one reference, for the caller, and *bytes says
 * what it counts against the byte capacity. */
typedef neo_status cache_build_fn(void *context, struct cache_value **value, size_t *bytes);

/* On success *value has a new reference of the caller's. An object larger than the byte capacity is
 * handed out but not kept. outcome may be NULL. */
neo_status cache_get_or_create(struct cache *cache, const struct cache_key *key,
                               cache_build_fn *build, void *context, struct cache_value **value,
                               enum cache_outcome *outcome);

/* At once evicts what is beyond it, least recently used first. */
void cache_set_max_entries(struct cache *cache, size_t max_entries);
void cache_set_max_bytes(struct cache *cache, size_t max_bytes);

/* Drops all entries; the counters stay. */
void cache_clear(struct cache *cache);

void cache_stats(struct cache *cache, struct cache_stats *out);

#endif
