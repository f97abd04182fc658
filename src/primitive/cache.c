/* Get-or-create cache with exact recency. */
#include "src/primitive/cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/ticks.h"
#include "src/core/checked.h"
#include "src/core/env.h"
#include "src/core/hash.h"
#include "src/core/lock.h"
#include "src/core/log.h"
#include "src/core/thread_number.h"

#define SHARD_BITS 6u
#define SHARDS (1u << SHARD_BITS)
#define FIRST_BUCKETS 8u
#define LINE 128u /* bytes that two cores may fight for */
#define DEFAULT_ENTRIES 1024u
#define NEVER UINT64_MAX
#define TICK_SHIFT 5u /* 32 uses a step: 1 GHz lasts for 18 years of uptime */
#define EVERYBODY 0u
#define CLAIM_AFTER 1024u /* uses */

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

static bool is_equal(const struct cache_key *a, const struct cache_key *b)
{
    return a->hash == b->hash && a->count == b->count &&
           are_equal_words(a->words, b->words, a->count);
}

static struct cache_key key_of(const struct cache_entry *entry)
{
    return (struct cache_key){entry->words, entry->count, entry->hash};
}

static struct cache_entry *find(const struct shard *shard, const struct cache_key *key)
{
    struct cache_entry *entry = *bucket_of(shard, key->hash);
    for (; entry; entry = entry->next) {
        if (entry->hash != key->hash)
            continue;
        struct cache_key found = key_of(entry);
        if (is_equal(&found, key))
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

/* Numbers the uses: of two uses, one of which ended before the other began, the later one gets the
 * larger stamp. A counter in memory would do that alone, but every hit of every thread would fight
 * for it; the machine's own counter is shared without a fight. Its steps may be longer than a use,
 * so that the low bits number what a thread does within one step.
 *
 * Reading it takes longer than all else in a hit, and is only for telling threads apart. So a
 * thread that uses the cache for a while becomes its owner, and counts on from the last time it
 * read. Any other thread that comes takes the ownership away before it reads the counter, which is
 * ahead of all that the owner has counted. */
#if TICKS_ARE_SHARED
struct clock {
    uint64_t last; /* the largest stamp this thread has drawn */
    unsigned readings;
};

static _Thread_local struct clock my_clock __attribute__((tls_model("initial-exec")));

/* Where the machine's counter is too coarse to tell threads apart, one in memory is drawn from. It
 * is one for all caches, as a thread's last stamp is. */
static _Atomic uint64_t drawn;

static uint64_t next_reading(const struct cache *cache)
{
    if (cache->has_fine_ticks)
        return ticks_now();
    return atomic_fetch_add_explicit(&drawn, 1, memory_order_relaxed) + 1;
}

static void read_clock(const struct cache *cache, struct clock *clock)
{
    uint64_t stamp = next_reading(cache) << TICK_SHIFT;
    clock->last = stamp > clock->last ? stamp : clock->last + 1;
}

static uint64_t draw_stamp(struct cache *cache)
{
    uint64_t owner = atomic_load_explicit(&cache->owner, memory_order_relaxed);
    if (owner == thread_number()) {
        if (!(++my_clock.last & ((1u << TICK_SHIFT) - 1)))
            read_clock(cache, &my_clock); /* what follows may be another thread's */
        return my_clock.last;
    }
    if (owner != EVERYBODY)
        atomic_store_explicit(&cache->owner, EVERYBODY, memory_order_relaxed);
    my_clock.readings++;
    read_clock(cache, &my_clock);
    return my_clock.last;
}

/* With no lock held, now and then. Every use of another thread either ends before its shard's lock
 * is taken here, and has a smaller stamp than the reading that follows; or it comes after, sees the
 * new owner and takes the ownership away. */
static void claim(struct cache *cache)
{
    uint64_t expected = EVERYBODY;
    my_clock.readings = 0;
    if (!atomic_compare_exchange_strong_explicit(&cache->owner, &expected, thread_number(),
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        lock_take(&cache->shards[i].lock);
        lock_give(&cache->shards[i].lock);
    }
    read_clock(cache, &my_clock);
}

static void claim_if_alone(struct cache *cache)
{
    if (my_clock.readings >= CLAIM_AFTER)
        claim(cache);
}
#else
static uint64_t draw_stamp(struct cache *cache)
{
    return atomic_fetch_add_explicit(&cache->clock, 1, memory_order_relaxed);
}

static void claim_if_alone(struct cache *cache)
{
    (void)cache;
}
#endif

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

static struct cache_entry *entry_create(const struct cache_key *key, struct cache_value *value,
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

/* With no lock held. */
static void chain_destroy(struct cache_entry *chain)
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

/* Returns memory to be freed, or NULL. */
static void *insert(struct cache *cache, struct cache_entry *entry)
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

static bool is_off(const struct cache *cache)
{
    return !cache->stats.max_entries || !cache->stats.max_bytes;
}

/* bytes is at most max_bytes. */
static bool fits(const struct cache *cache, size_t entries, size_t bytes)
{
    const struct cache_stats *stats = &cache->stats;
    return !is_off(cache) && stats->entries <= stats->max_entries - entries &&
           stats->bytes <= stats->max_bytes - bytes;
}

/* Makes room for so many more entries (0 or 1) and bytes; returns what had to go, oldest first. */
static struct cache_entry *evict(struct cache *cache, size_t entries, size_t bytes)
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

/* ---- events, with no lock held ---- */

static bool is_logged(const struct cache *cache)
{
    return cache->event && log_is_on(LOG_CREATE);
}

static uint64_t start_time(const struct cache *cache)
{
    return is_logged(cache) ? log_now_ns() : 0;
}

/* start is 0 when the log was off at the start. */
static void report(struct cache *cache, struct cache_event event, uint64_t start)
{
    if (!start || !is_logged(cache))
        return;
    event.time_ns = log_now_ns() - start;
    cache->event(cache->event_context, &event);
}

static void let_one_go(struct cache *cache, struct cache_entry *entry)
{
    char text[1024];
    text[0] = 0;
    struct cache_key key = key_of(entry);
    if (is_logged(cache) && cache->describe)
        cache->describe(entry->value, text, sizeof text);
    uint64_t start = start_time(cache);
    cache_value_release(entry->value);
    report(cache, (struct cache_event){.outcome = CACHE_EVICT, .key = &key, .text = text}, start);
    free(entry);
}

static void let_go(struct cache *cache, struct cache_entry *chain)
{
    while (chain) {
        struct cache_entry *next = chain->next;
        let_one_go(cache, chain);
        chain = next;
    }
}

/* ---- single flight, under the writer lock ---- */

static struct build *find_build(struct cache *cache, const struct cache_key *key)
{
    struct build *build = cache->builds;
    for (; build; build = build->next)
        if (is_equal(build->key, key) &&
            (!build->is_private || pthread_equal(build->thread, pthread_self())))
            break;
    return build;
}

/* Those that wait for it go on, even if they have not woken up yet. */
static void remove_build(struct cache *cache, const struct build *ended)
{
    struct build **at = &cache->builds;
    while (*at != ended)
        at = &(*at)->next;
    *at = ended->next;
    for (struct build *build = cache->builds; build; build = build->next)
        if (build->blocked_on == ended)
            build->blocked_on = NULL;
}

/* Would waiting for this build never end, because it waits for the calling thread? */
static bool is_circular(const struct build *build)
{
    for (; build; build = build->blocked_on)
        if (pthread_equal(build->thread, pthread_self()))
            return true;
    return false;
}

/* All builds of the calling thread wait for another one, or for none. */
static void block_mine_on(struct cache *cache, struct build *other)
{
    for (struct build *build = cache->builds; build; build = build->next)
        if (pthread_equal(build->thread, pthread_self()))
            build->blocked_on = other;
}

static neo_status wait_for(struct cache *cache, struct build *build, struct cache_value **value)
{
    if (is_circular(build))
        return NEO_RUNTIME_ERROR;
    struct waiter waiter = {.next = build->waiters};
    pthread_cond_init(&waiter.ready, NULL);
    build->waiters = &waiter; /* cppcheck-suppress autoVariables ; gone before this returns */
    block_mine_on(cache, build);
    while (!waiter.is_done)
        lock_wait(&cache->writer, &waiter.ready);
    block_mine_on(cache, NULL);
    pthread_cond_destroy(&waiter.ready);
    *value = waiter.value;
    return waiter.status;
}

/* Every waiter gets its own reference. The waiters are gone from the builder's view afterwards. */
static void hand_over(struct build *build, neo_status status, struct cache_value *value)
{
    for (struct waiter *waiter = build->waiters, *next; waiter; waiter = next) {
        next = waiter->next;
        waiter->status = status;
        waiter->value = value;
        if (value)
            cache_value_retain(value);
        waiter->is_done = true;
        pthread_cond_signal(&waiter->ready);
    }
}

/* ---- get or create ---- */

static struct cache_value *look_up(struct cache *cache, const struct cache_key *key)
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
    return value;
}

static neo_status call_build(cache_build_fn *build, void *context, struct cache_value **value,
                             size_t *bytes)
{
    neo_status status = build(context, value, bytes);
    if (status != NEO_OK)
        *value = NULL;
    else if (!*value)
        status = NEO_RUNTIME_ERROR;
    return status;
}

/* Ends a build: tells the waiters, and keeps the value if it fits. */
static void finish(struct cache *cache, struct build *build, neo_status status,
                   struct cache_value *value, size_t bytes)
{
    struct cache_entry *entry =
        value && !build->is_private ? entry_create(build->key, value, bytes) : NULL;
    struct cache_entry *evicted = NULL;
    void *old_buckets = NULL;
    lock_take(&cache->writer);
    remove_build(cache, build);
    hand_over(build, status, value);
    cache->stats.failures += status != NEO_OK;
    if (entry && !is_off(cache) && bytes <= cache->stats.max_bytes) {
        evicted = evict(cache, 1, bytes);
        old_buckets = insert(cache, entry);
        entry = NULL;
    }
    lock_give(&cache->writer);
    free(old_buckets);
    chain_destroy(entry);
    let_go(cache, evicted);
}

static neo_status run_build(struct cache *cache, struct build *mine, cache_build_fn *build,
                            void *context, struct cache_value **value)
{
    size_t bytes = 0;
    neo_status status = call_build(build, context, value, &bytes);
    finish(cache, mine, status, *value, bytes);
    return status;
}

static neo_status miss(struct cache *cache, const struct cache_key *key, cache_build_fn *build,
                       void *context, struct cache_value **value, enum cache_outcome *outcome)
{
    lock_take(&cache->writer);
    struct build *other = find_build(cache, key);
    if (other) {
        *outcome = CACHE_WAIT;
        cache->stats.waits++;
        neo_status status = wait_for(cache, other, value);
        lock_give(&cache->writer);
        return status;
    }
    *value = look_up(cache, key); /* it may have been finished since the first look */
    if (*value) {
        *outcome = CACHE_HIT;
        lock_give(&cache->writer);
        return NEO_OK;
    }
    *outcome = CACHE_MISS;
    cache->stats.misses++;
    struct build mine = {
        .next = cache->builds, .key = key, .thread = pthread_self(), .is_private = is_off(cache)};
    cache->builds = &mine; /* cppcheck-suppress autoVariables ; gone before this returns */
    lock_give(&cache->writer);
    return run_build(cache, &mine, build, context, value);
}

neo_status cache_get_or_create(struct cache *cache, const struct cache_key *key,
                               cache_build_fn *build, void *context, struct cache_value **value,
                               enum cache_outcome *outcome)
{
    const uint64_t start = start_time(cache);
    enum cache_outcome result = CACHE_HIT;
    neo_status status = NEO_OK;
    *value = look_up(cache, key);
    claim_if_alone(cache);
    if (!*value)
        status = miss(cache, key, build, context, value, &result);
    if (outcome)
        *outcome = result;
    if (start)
        report(cache, (struct cache_event){.outcome = result, .key = key, .status = status}, start);
    return status;
}

/* ---- capacities, clearing, statistics ---- */

static void resize(struct cache *cache, size_t *limit, size_t value)
{
    lock_take(&cache->writer);
    *limit = value;
    struct cache_entry *evicted = evict(cache, 0, 0);
    lock_give(&cache->writer);
    let_go(cache, evicted);
}

void cache_set_max_entries(struct cache *cache, size_t max_entries)
{
    resize(cache, &cache->stats.max_entries, max_entries);
}

void cache_set_max_bytes(struct cache *cache, size_t max_bytes)
{
    resize(cache, &cache->stats.max_bytes, max_bytes);
}

static struct cache_entry *detach_all(struct cache *cache, struct shard *shard,
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

void cache_clear(struct cache *cache)
{
    struct cache_entry *chain = NULL;
    lock_take(&cache->writer);
    for (size_t i = 0; i < SHARDS; i++)
        chain = detach_all(cache, &cache->shards[i], chain);
    lock_give(&cache->writer);
    chain_destroy(chain);
}

void cache_stats(struct cache *cache, struct cache_stats *out)
{
    lock_take(&cache->writer);
    *out = cache->stats;
    for (size_t i = 0; i < SHARDS; i++) {
        lock_take(&cache->shards[i].lock);
        out->hits += cache->shards[i].hits;
        lock_give(&cache->shards[i].lock);
    }
    lock_give(&cache->writer);
}

/* ---- life ---- */

struct cache_options cache_options_from_environment(void)
{
    uint64_t entries = DEFAULT_ENTRIES, bytes = SIZE_MAX;
    env_number("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", 0, SIZE_MAX, false, &entries);
    env_number("NEOPRENE_PRIMITIVE_CACHE_BYTES", 0, SIZE_MAX, true, &bytes);
    return (struct cache_options){.max_entries = (size_t)entries, .max_bytes = (size_t)bytes};
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

neo_status cache_create(struct cache **out, const struct cache_options *options)
{
    struct cache *cache = aligned_alloc(LINE, sizeof *cache);
    *out = cache;
    if (!cache)
        return NEO_OUT_OF_MEMORY;
    memset(cache, 0, sizeof *cache);
    for (size_t i = 0; i < SHARDS; i++)
        shard_init(&cache->shards[i], &cache->oldest[i]);
    lock_init(&cache->writer);
#if TICKS_ARE_SHARED
    cache->has_fine_ticks = ticks_are_fine();
#endif
    cache->stats.max_entries = options->max_entries;
    cache->stats.max_bytes = options->max_bytes;
    cache->event = options->event;
    cache->event_context = options->event_context;
    cache->describe = options->describe;
    return NEO_OK;
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    cache_clear(cache);
    for (size_t i = 0; i < SHARDS; i++) {
        if (cache->shards[i].buckets != cache->shards[i].first)
            free(cache->shards[i].buckets);
        lock_deinit(&cache->shards[i].lock);
    }
    lock_deinit(&cache->writer);
    free(cache);
}
