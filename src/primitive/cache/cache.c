/* Get-or-create, capacities and statistics. */
#include "src/primitive/cache/cache.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/env.h"
#include "src/core/log.h"
#include "src/primitive/cache/parts.h"

#define DEFAULT_ENTRIES 1024u

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
    struct cache_key key = cache_entry_key(entry);
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

/* ---- get or create ---- */

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
        value && !build->is_private ? cache_entry_create(build->key, value, bytes) : NULL;
    struct cache_entry *evicted = NULL;
    void *old_buckets = NULL;
    lock_take(&cache->writer);
    cache_end_build(cache, build, status, value);
    cache->stats.failures += status != NEO_OK;
    if (entry && !cache_is_off(cache) && bytes <= cache->stats.max_bytes) {
        evicted = cache_evict(cache, 1, bytes);
        old_buckets = cache_insert(cache, entry);
        entry = NULL;
    }
    lock_give(&cache->writer);
    free(old_buckets);
    cache_chain_destroy(entry);
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
    struct build *other = cache_find_build(cache, key);
    if (other) {
        *outcome = CACHE_WAIT;
        cache->stats.waits++;
        neo_status status = cache_wait_for(cache, other, value);
        lock_give(&cache->writer);
        return status;
    }
    *value = cache_use(cache, key); /* it may have been finished since the first look */
    if (*value) {
        *outcome = CACHE_HIT;
        lock_give(&cache->writer);
        return NEO_OK;
    }
    *outcome = CACHE_MISS;
    cache->stats.misses++;
    struct build mine = {.next = cache->builds,
                         .key = key,
                         .thread = pthread_self(),
                         .is_private = cache_is_off(cache)};
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
    *value = cache_use(cache, key);
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
    struct cache_entry *evicted = cache_evict(cache, 0, 0);
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

void cache_clear(struct cache *cache)
{
    lock_take(&cache->writer);
    struct cache_entry *chain = cache_detach_all(cache);
    lock_give(&cache->writer);
    cache_chain_destroy(chain);
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

neo_status cache_create(struct cache **out, const struct cache_options *options)
{
    struct cache *cache = aligned_alloc(LINE, sizeof *cache);
    *out = cache;
    if (!cache)
        return NEO_OUT_OF_MEMORY;
    memset(cache, 0, sizeof *cache);
    cache_shards_init(cache);
    lock_init(&cache->writer);
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
    cache_shards_deinit(cache);
    lock_deinit(&cache->writer);
    free(cache);
}
