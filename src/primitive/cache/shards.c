/* The cache's entries: where they are, in what order they were used, and which has to go. */
#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/hash.h"
#include "src/primitive/cache/clock.h"
#include "src/primitive/cache/parts.h"

#define NEVER UINT64_MAX

/* ---- places ---- */

/* Spreads hashes that differ in few bits; the top bits are the best ones. */
static uint64_t spread(uint64_t hash)
{
    return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
}

static struct shard *shard_of(struct cache *cache, uint64_t hash)
{
    return &cache->shards[spread(hash) >> (64 - SHARD_BITS)];
}

static struct cache_entry **bucket_of(const struct shard *shard, uint64_t hash)
{
    return &shard->buckets[(size_t)(spread(hash) >> 24) & shard->mask];
}

/* The words were written just now, eight bytes at a time, so they are read like that. */
static bool are_equal_words(const uint32_t *a, const uint32_t *b, size_t count)
{
    uint64_t difference = 0;
    for (; count >= 2; count -= 2, a += 2, b += 2)
        difference |= hash_load(a) ^ hash_load(b);
    return !difference && (!count || *a == *b);
}

bool cache_keys_equal(const struct cache_key *a, const struct cache_key *b)
{
    return a->hash == b->hash && a->count == b->count &&
           are_equal_words(a->words, b->words, a->count);
}

static struct cache_entry *find(const struct shard *shard, const struct cache_key *key)
{
    struct cache_entry *entry = *bucket_of(shard, key->hash);
    for (; entry; entry = entry->next) {
        if (entry->hash != key->hash)
            continue;
        struct cache_key found = cache_entry_key(entry);
        if (cache_keys_equal(&found, key))
            return entry;
    }
    return NULL;
}

/* ---- recency, under the shard's lock ---- */

static void publish_oldest(struct shard *shard)
{
    atomic_store_explicit(shard->oldest, shard->ends.newer->stamp, memory_order_relaxed);
}

static void unlink_recency(struct link *link)
{
    link->newer->older = link->older;
    link->older->newer = link->newer;
}

/* The list stays sorted whatever the counter does. */
static void link_newest(struct cache *cache, struct shard *shard, struct link *link)
{
    struct link *newest = shard->ends.older;
    link->stamp = draw_stamp(cache);
    if (newest != &shard->ends && link->stamp <= newest->stamp)
        link->stamp = newest->stamp + 1;
    link->older = newest;
    link->newer = &shard->ends;
    newest->newer = link;
    shard->ends.older = link;
}

static void touch(struct cache *cache, struct shard *shard, struct link *link)
{
    bool was_oldest = shard->ends.newer == link;
    unlink_recency(link);
    link_newest(cache, shard, link);
    if (was_oldest)
        publish_oldest(shard);
}

/* ---- entries ---- */

struct cache_entry *cache_entry_create(const struct cache_key *key, struct cache_value *value,
                                       size_t bytes)
{
    size_t words_bytes, size;
    if (!checked_mul(&words_bytes, key->count, sizeof *key->words) ||
        !checked_add(&size, words_bytes, sizeof(struct cache_entry)))
        return NULL;
    struct cache_entry *entry = malloc(size);
    if (!entry)
        return NULL;
    *entry = (struct cache_entry){
        .value = value, .hash = key->hash, .bytes = bytes, .count = key->count};
    if (key->count)
        memcpy(entry->words, key->words, words_bytes);
    cache_value_retain(value);
    return entry;
}

void cache_chain_destroy(struct cache_entry *chain)
{
    while (chain) {
        struct cache_entry *next = chain->next;
        cache_value_release(chain->value);
        free(chain);
        chain = next;
    }
}

/* ---- insertion and eviction, under the writer lock ---- */

/* More buckets when there are as many entries; without memory the chains become longer. Returns the
 * old ones, to be freed. */
static struct cache_entry **grow(struct shard *shard)
{
    size_t count = (shard->mask + 1) * 2;
    struct cache_entry **old = shard->buckets, **buckets = calloc(count, sizeof(void *));
    if (!buckets)
        return NULL;
    lock_take(&shard->lock);
    shard->buckets = buckets;
    shard->mask = count - 1;
    for (struct link *link = shard->ends.newer; link != &shard->ends; link = link->newer) {
        struct cache_entry *entry = (struct cache_entry *)link;
        struct cache_entry **bucket = bucket_of(shard, entry->hash);
        entry->next = *bucket;
        *bucket = entry;
    }
    lock_give(&shard->lock);
    return old == shard->first ? NULL : old;
}

void *cache_insert(struct cache *cache, struct cache_entry *entry)
{
    struct shard *shard = shard_of(cache, entry->hash);
    void *old = shard->count > shard->mask ? grow(shard) : NULL;
    lock_take(&shard->lock);
    struct cache_entry **bucket = bucket_of(shard, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    link_newest(cache, shard, &entry->recency);
    publish_oldest(shard);
    shard->count++;
    lock_give(&shard->lock);
    struct cache_stats *stats = &cache->stats;
    stats->bytes += entry->bytes;
    stats->peak_entries = max_size(stats->peak_entries, ++stats->entries);
    stats->peak_bytes = max_size(stats->peak_bytes, stats->bytes);
    return old;
}

static struct shard *shard_with_oldest(struct cache *cache)
{
    struct shard *found = NULL;
    uint64_t least = NEVER;
    for (size_t i = 0; i < SHARDS; i++) {
        uint64_t oldest = atomic_load_explicit(&cache->oldest[i], memory_order_relaxed);
        if (oldest < least) {
            least = oldest;
            found = &cache->shards[i];
        }
    }
    return found;
}

/* Under the shard's lock. */
static struct cache_entry *detach(struct cache *cache, struct shard *shard)
{
    struct cache_entry *entry = (struct cache_entry *)shard->ends.newer;
    struct cache_entry **at = bucket_of(shard, entry->hash);
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    unlink_recency(&entry->recency);
    publish_oldest(shard);
    shard->count--;
    cache->stats.entries--;
    cache->stats.bytes -= entry->bytes;
    return entry;
}

/* The choice is exact: while a shard is locked its oldest stamp stands, and that of the other
 * shards only grows, as nothing is inserted. If the second look still finds this shard, it has the
 * least recently used entry of all at that moment. */
static struct cache_entry *detach_oldest(struct cache *cache)
{
    for (;;) {
        struct shard *shard = shard_with_oldest(cache);
        if (!shard)
            return NULL;
        lock_take(&shard->lock);
        struct cache_entry *entry = shard == shard_with_oldest(cache) ? detach(cache, shard) : NULL;
        lock_give(&shard->lock);
        if (entry)
            return entry;
    }
}

/* bytes is at most max_bytes. */
static bool fits(const struct cache *cache, size_t entries, size_t bytes)
{
    const struct cache_stats *stats = &cache->stats;
    return !cache_is_off(cache) && stats->entries <= stats->max_entries - entries &&
           stats->bytes <= stats->max_bytes - bytes;
}

struct cache_entry *cache_evict(struct cache *cache, size_t entries, size_t bytes)
{
    struct cache_entry *chain = NULL, **end = &chain;
    while (cache->stats.entries && !fits(cache, entries, bytes)) {
        struct cache_entry *entry = detach_oldest(cache);
        cache->stats.evictions++;
        entry->next = NULL;
        *end = entry;
        end = &entry->next;
    }
    return chain;
}

/* ---- uses ---- */

struct cache_value *cache_use(struct cache *cache, const struct cache_key *key)
{
    struct shard *shard = shard_of(cache, key->hash);
    struct cache_value *value = NULL;
    lock_take(&shard->lock);
    struct cache_entry *entry = find(shard, key);
    if (entry) {
        touch(cache, shard, &entry->recency);
        shard->hits++;
        value = entry->value;
        cache_value_retain(value);
    }
    lock_give(&shard->lock);
    claim_if_alone(cache);
    return value;
}

/* ---- all shards ---- */

static struct cache_entry *detach_shard(struct cache *cache, struct shard *shard,
                                        struct cache_entry *chain)
{
    lock_take(&shard->lock);
    while (shard->count) {
        struct cache_entry *entry = detach(cache, shard);
        entry->next = chain;
        chain = entry;
    }
    lock_give(&shard->lock);
    return chain;
}

struct cache_entry *cache_detach_all(struct cache *cache)
{
    struct cache_entry *chain = NULL;
    for (size_t i = 0; i < SHARDS; i++)
        chain = detach_shard(cache, &cache->shards[i], chain);
    return chain;
}

static void shard_init(struct shard *shard, _Atomic uint64_t *oldest)
{
    lock_init(&shard->lock);
    shard->buckets = shard->first;
    shard->mask = FIRST_BUCKETS - 1;
    shard->ends = (struct link){&shard->ends, &shard->ends, NEVER};
    shard->oldest = oldest;
    atomic_init(oldest, NEVER);
}

void cache_shards_init(struct cache *cache)
{
    for (size_t i = 0; i < SHARDS; i++)
        shard_init(&cache->shards[i], &cache->oldest[i]);
#if TICKS_ARE_SHARED
    cache->has_fine_ticks = ticks_are_fine();
#endif
}

void cache_shards_deinit(struct cache *cache)
{
    for (size_t i = 0; i < SHARDS; i++) {
        if (cache->shards[i].buckets != cache->shards[i].first)
            free(cache->shards[i].buckets);
        lock_deinit(&cache->shards[i].lock);
    }
}
