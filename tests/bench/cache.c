/* What the primitive cache costs, in pairs of an uncontended mutex lock and unlock of this machine.
 *
 *   make bench-cache TARGET=portable
 *
 * Every figure is the median of several runs; a key has as many words as a convolution's. */
#include <stdatomic.h>
#include <string.h>

#include "src/core/hash.h"
#include "src/core/lock.h"
#include "src/memory/blocks/manager.h"
#include "src/primitive/cache/cache.h"
#include "tests/bench/measure.h"

enum { WORDS = 48, USES = 20000, THREAD_RUNS = 10, MOST_THREADS = 8 };

/* ---- the cache ---- */

struct key {
    uint32_t words[WORDS];
    struct cache_key key;
};

static void key_init(struct key *key, uint32_t number)
{
    for (uint32_t i = 0; i < WORDS; i++)
        key->words[i] = i;
    key->words[WORDS / 2] = number;
    key->key = (struct cache_key){key->words, WORDS, hash_words(key->words, WORDS)};
}

static void destroy(struct cache_value *value)
{
    free(value);
}

static neo_status build(void *context, struct cache_value **value, size_t *bytes)
{
    (void)context;
    *value = malloc(sizeof **value);
    if (!*value)
        return NEO_OUT_OF_MEMORY;
    cache_value_init(*value, destroy);
    *bytes = 1;
    return NEO_OK;
}

static void use(struct cache *cache, const struct key *key)
{
    struct cache_value *value;
    if (cache_get_or_create(cache, &key->key, build, NULL, &value, NULL) != NEO_OK)
        exit(1);
    cache_value_release(value);
}

static struct cache *filled(size_t capacity, size_t entries)
{
    const struct cache_options options = {.max_entries = capacity, .max_bytes = SIZE_MAX};
    struct cache *cache;
    struct key key;
    if (cache_create(&cache, &options) != NEO_OK)
        exit(1);
    for (size_t i = 0; i < entries; i++) {
        key_init(&key, (uint32_t)i);
        use(cache, &key);
    }
    return cache;
}

struct hits {
    struct cache *cache;
    struct key *keys;
    size_t count; /* a power of two */
    size_t threads;
};

static double hit(void *context)
{
    const struct hits *hits = context;
    double start = now_ns();
    for (size_t i = 0; i < USES; i++)
        use(hits->cache, &hits->keys[i & (hits->count - 1)]);
    return (now_ns() - start) / (double)USES;
}

static double hash_and_hit(void *context)
{
    struct hits *hits = context;
    double start = now_ns();
    for (size_t i = 0; i < USES; i++) {
        struct key *key = &hits->keys[i & (hits->count - 1)];
        key->key.hash = hash_words(key->words, WORDS);
        use(hits->cache, key);
    }
    return (now_ns() - start) / (double)USES;
}

/* Every use is of a key never seen before. */
struct misses {
    struct cache *cache;
    uint32_t next;
};

static double miss(void *context)
{
    enum { COUNT = 3000 };
    struct misses *misses = context;
    struct key key;
    key_init(&key, 0);
    double start = now_ns();
    for (size_t i = 0; i < COUNT; i++) {
        key.words[WORDS / 2] = misses->next++;
        key.key.hash = hash_words(key.words, WORDS);
        use(misses->cache, &key);
    }
    return (now_ns() - start) / (double)COUNT;
}

static void *hit_own_keys(void *context)
{
    for (int i = 0; i < THREAD_RUNS; i++)
        hit(context);
    return NULL;
}

static struct spent hits_of_threads(const struct hits *hits)
{
    pthread_t threads[MOST_THREADS];
    struct hits parts[MOST_THREADS];
    struct spent spent = spend_begin();
    for (size_t i = 0; i < hits->threads; i++) {
        parts[i] = *hits;
        parts[i].keys = hits->keys + i * hits->count;
        if (pthread_create(&threads[i], NULL, hit_own_keys, &parts[i]))
            exit(1);
    }
    for (size_t i = 0; i < hits->threads; i++)
        pthread_join(threads[i], NULL);
    return spend_end(spent, (double)(USES * THREAD_RUNS * hits->threads));
}

/* ---- reservations ---- */

static double reserve(void *context)
{
    struct block_manager *manager = context;
    double start = now_ns();
    for (size_t i = 0; i < USES; i++) {
        struct reservation token;
        if (block_manager_reserve(manager, 5000, &token) != NEO_OK)
            exit(1);
        block_manager_unreserve(manager, &token);
    }
    return (now_ns() - start) / (double)USES;
}

/* ---- report ---- */

static void report_growth(void)
{
    enum { KEYS = 64 };
    static struct key keys[KEYS];
    for (size_t entries = 1; entries <= 100000; entries *= 10) {
        struct hits hits = {filled(SIZE_MAX, entries), keys, KEYS, 1};
        char text[80];
        while (hits.count > entries)
            hits.count /= 2;
        for (uint32_t i = 0; i < hits.count; i++)
            key_init(&keys[i], i);
        snprintf(text, sizeof text, "hit on up to 64 keys, %zu entries", entries);
        report(text, median(hit, &hits));
        cache_destroy(hits.cache);
    }
}

static void report_cold(void)
{
    for (size_t entries = 1024; entries <= 65536; entries *= 8) {
        struct hits hits = {filled(SIZE_MAX, entries), calloc(entries, sizeof(struct key)), entries,
                            1};
        char text[80];
        if (!hits.keys)
            exit(1);
        for (uint32_t i = 0; i < entries; i++)
            key_init(&hits.keys[i * 40503u % entries], i);
        snprintf(text, sizeof text, "hit on all keys in turn, %zu entries", entries);
        report(text, median(hit, &hits));
        free(hits.keys);
        cache_destroy(hits.cache);
    }
}

static void report_misses(void)
{
    struct misses filling = {filled(SIZE_MAX, 0), 0};
    report("miss, not full (builds an object of 16 bytes)", median(miss, &filling));
    cache_destroy(filling.cache);
    for (size_t capacity = 16; capacity <= 65536; capacity *= 64) {
        struct misses full = {filled(capacity, capacity), (uint32_t)capacity};
        char text[80];
        snprintf(text, sizeof text, "miss at a full cache of %zu (evicts one)", capacity);
        report(text, median(miss, &full));
        cache_destroy(full.cache);
    }
}

static void report_threads(void)
{
    enum { KEYS = 8 };
    static struct key keys[KEYS * MOST_THREADS];
    struct hits hits = {filled(1024, 1000), keys, KEYS, 1};
    struct spent alone = {0, 0};
    for (uint32_t i = 0; i < KEYS * MOST_THREADS; i++)
        key_init(&keys[i], i);
    for (; hits.threads <= MOST_THREADS; hits.threads *= 2) {
        struct spent spent = hits_of_threads(&hits);
        if (hits.threads == 1)
            alone = spent;
        report_spent("hits", hits.threads, spent, alone);
    }
    cache_destroy(hits.cache);
}

static void report_reservations(void)
{
    struct block_pool *pool;
    struct block_manager manager;
    if (block_pool_create(&pool, &block_source_heap, NULL) != NEO_OK)
        exit(1);
    block_manager_init(&manager, pool);
    report("reserve and unreserve, warm", median(reserve, &manager));
    block_manager_deinit(&manager);
    block_pool_destroy(pool);
}

int main(void)
{
    static struct key keys[8];
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct hits hits = {filled(1024, 1000), keys, 8, 1};
    for (uint32_t i = 0; i < 8; i++)
        key_init(&keys[i], i);
    become_threaded();
    report("mutex lock and unlock, uncontended", median(mutex_pair, &mutex));
    report("hit", median(hit, &hits));
    report("hash of 48 words and hit", median(hash_and_hit, &hits));
    cache_destroy(hits.cache);
    report_growth();
    report_cold();
    report_misses();
    report_threads();
    report_reservations();
    return 0;
}
