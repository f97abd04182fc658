/* What the files of the cache share: shards.c keeps the entries, flight.c the builds in
 * progress, cache.c makes a get-or-create of them. */
#ifndef SRC_PRIMITIVE_CACHE_PARTS_H
#define SRC_PRIMITIVE_CACHE_PARTS_H

#include <pthread.h>
#include <stdbool.h>

#include "src/core/lock.h"
#include "src/primitive/cache/cache.h"

#define SHARD_BITS 6u
#define SHARDS (1u << SHARD_BITS)
#define FIRST_BUCKETS 8u
#define LINE 128u /* bytes that two cores may fight for */

/* ---- entries ---- */

struct link {
    struct link *newer, *older;
    uint64_t stamp; /* the number of the last use */
};

struct cache_entry {
    struct link recency;      /* first member */
    struct cache_entry *next; /* in the bucket; in a chain once it has left the cache */
    struct cache_value *value;
    uint64_t hash;
    size_t bytes, count;
    uint32_t words[];
};

/* A part of the entries with its own lock. Its list is in order of stamps. */
struct shard {
    _Alignas(LINE) struct lock lock;
    struct cache_entry **buckets; /* a power of two of them */
    size_t mask;
    struct link ends; /* newer: the oldest entry; older: the newest one; stamp: NEVER */
    uint64_t hits;
    size_t count;
    _Atomic uint64_t *oldest; /* stamp of the oldest entry, or NEVER; written under the lock */
    struct cache_entry *first[FIRST_BUCKETS];
};

/* ---- builds ---- */

/* A thread that waits for a build; lives on its stack. */
struct waiter {
    struct waiter *next;
    pthread_cond_t ready;
    bool is_done;
    neo_status status;
    struct cache_value *value;
};

/* A build in progress; lives on the builder's stack. */
struct build {
    struct build *next;
    const struct cache_key *key;
    pthread_t thread;
    bool is_private;          /* the cache is off: nobody else waits for it */
    struct build *blocked_on; /* what the building thread waits for */
    struct waiter *waiters;
};

/* ---- the cache ---- */

/* Entries come and go only under the writer lock, which is taken before a shard's. */
struct cache {
    struct shard shards[SHARDS];
    _Alignas(LINE) _Atomic uint64_t oldest[SHARDS]; /* close together, to be searched */
    _Alignas(LINE) _Atomic uint64_t clock;
    _Alignas(LINE) _Atomic uint64_t owner; /* the only thread that uses the cache, or EVERYBODY */
    _Alignas(LINE) struct lock writer;
    bool has_fine_ticks; /* see next_reading() */
    struct build *builds;
    struct cache_stats stats; /* hits are counted in the shards */
    cache_event_fn *event;
    void *event_context;
    void (*describe)(const struct cache_value *value, char *out, size_t size);
};

/* ---- shards: entries, in order of their last use ---- */

static inline struct cache_key cache_entry_key(const struct cache_entry *entry)
{
    return (struct cache_key){entry->words, entry->count, entry->hash};
}

bool cache_keys_equal(const struct cache_key *a, const struct cache_key *b);

void cache_shards_init(struct cache *cache);
void cache_shards_deinit(struct cache *cache);

/* A use of the key's entry: a new reference to its value, or NULL. */
struct cache_value *cache_use(struct cache *cache, const struct cache_key *key);

struct cache_entry *cache_entry_create(const struct cache_key *key, struct cache_value *value,
                                       size_t bytes);

/* Destroys a chain of entries, with no lock held. */
void cache_chain_destroy(struct cache_entry *chain);

/* The following are called under the writer lock. */

/* Returns memory to be freed, or NULL. */
void *cache_insert(struct cache *cache, struct cache_entry *entry);

/* Makes room for so many more entries (0 or 1) and bytes; returns what had to go, oldest first. */
struct cache_entry *cache_evict(struct cache *cache, size_t entries, size_t bytes);

/* All entries leave. */
struct cache_entry *cache_detach_all(struct cache *cache);

static inline bool cache_is_off(const struct cache *cache)
{
    return !cache->stats.max_entries || !cache->stats.max_bytes;
}

/* ---- flights: builds in progress, under the writer lock ---- */

/* The build of a key that the calling thread may wait for, or NULL. */
struct build *cache_find_build(struct cache *cache, const struct cache_key *key);

/* Gives up the lock until the build has ended. A build that waits for the calling thread is refused
 * with NEO_RUNTIME_ERROR. */
neo_status cache_wait_for(struct cache *cache, struct build *build, struct cache_value **value);

/* The build leaves the cache, and every waiter gets its own reference to the value. */
void cache_end_build(struct cache *cache, struct build *build, neo_status status,
                     struct cache_value *value);

#endif
