/* Cache, managers and pool together: many threads, random steps. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "src/core/hash.h"
#include "src/memory/blocks/manager.h"
#include "src/primitive/cache/cache.h"
#include "tests/support/require.h"
#include "tests/support/rounds.h"

enum { THREADS = 64, STEPS = 1000, MANY_STEPS = 20000, KEYS = 40, HANDLES = 4 };

static struct cache *cache;
static struct block_pool *pool;
static atomic_int alive;

/* What the primitive layer caches: an implementation with a memory manager. */
struct implementation {
    struct cache_value value; /* first member */
    uint32_t number;
    struct block_manager manager;
};

struct handle {
    struct implementation *implementation;
    struct reservation own;
};

static void destroy_implementation(struct cache_value *value)
{
    struct implementation *implementation = (struct implementation *)value;
    require(block_manager_deinit(&implementation->manager) == NEO_OK);
    atomic_fetch_sub(&alive, 1);
    free(implementation);
}

static neo_status build(void *context, struct cache_value **value, size_t *bytes)
{
    const uint32_t *number = context;
    if (*number % 13 == 5)
        return NEO_UNSUPPORTED;
    if (*number % 13 == 7) { /* a part of its own */
        uint32_t inner = *number + 1;
        const struct cache_key key = {&inner, 1, hash_words(&inner, 1)};
        struct cache_value *part;
        neo_status status = cache_get_or_create(cache, &key, build, &inner, &part, NULL);
        if (status != NEO_OK)
            return status;
        cache_value_release(part);
    }
    struct implementation *implementation = malloc(sizeof *implementation);
    if (!implementation)
        return NEO_OUT_OF_MEMORY;
    cache_value_init(&implementation->value, destroy_implementation);
    implementation->number = *number;
    block_manager_init(&implementation->manager, pool);
    atomic_fetch_add(&alive, 1);
    *value = &implementation->value;
    *bytes = 100;
    return NEO_OK;
}

static void create(struct handle *handle, uint32_t number)
{
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    neo_status status = cache_get_or_create(cache, &key, build, &number, &value, NULL);
    require(status == (number % 13 == 5 ? NEO_UNSUPPORTED : NEO_OK));
    handle->implementation = (struct implementation *)value;
    if (!value)
        return;
    require(handle->implementation->number == number);
    /* Without room in the budget there is no block, and executions lease one. */
    status = block_manager_reserve(&handle->implementation->manager, (size_t)(number % 5 + 1) * 300,
                                   &handle->own);
    require(status == NEO_OK || (status == NEO_UNSUPPORTED && !handle->own.block));
}

static void execute(struct handle *handle)
{
    struct lease run;
    require(block_manager_lease(&handle->implementation->manager, &handle->own,
                                (size_t)(handle->implementation->number % 5 + 1) * 300,
                                &run) == NEO_OK);
    *(uint32_t *)run.data = handle->implementation->number; /* a data race if it were shared */
    require(block_manager_return(&handle->implementation->manager, &run) == NEO_OK);
}

static void destroy(struct handle *handle)
{
    require(!handle->own.block ||
            block_manager_unreserve(&handle->implementation->manager, &handle->own) == NEO_OK);
    cache_value_release(&handle->implementation->value);
    handle->implementation = NULL;
}

static void disturb(unsigned random)
{
    switch (random % 64) {
    case 0:
        cache_set_max_entries(cache, random / 64 % 30);
        break;
    case 1:
        cache_set_max_bytes(cache, random / 64 % 30 * 100);
        break;
    case 2:
        cache_clear(cache);
        break;
    case 3:
        block_pool_trim(pool, random / 64 % 10000);
        break;
    case 4:
        block_pool_set_budget(pool, random / 64 % 5 * 10000);
        break;
    }
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    struct handle handles[HANDLES] = {0};
    for (size_t i = rounds_count(STEPS, MANY_STEPS); i > 0; i--) {
        unsigned random = (unsigned)rand_r(&seed);
        struct handle *handle = &handles[random / 16 % HANDLES];
        disturb((unsigned)rand_r(&seed));
        if (!handle->implementation)
            create(handle, random / 64 % KEYS);
        else if (random % 2)
            execute(handle);
        else
            destroy(handle);
    }
    for (size_t i = 0; i < HANDLES; i++)
        if (handles[i].implementation)
            destroy(&handles[i]);
    return NULL;
}

static void random_steps_of_64_threads_leave_nothing_behind(void **state)
{
    (void)state;
    const struct cache_options options = {.max_entries = 20, .max_bytes = 2500};
    const struct block_pool_options window = {.window = 50};
    assert_int_equal(block_pool_create(&pool, &block_source_heap, &window), NEO_OK);
    assert_int_equal(cache_create(&cache, &options), NEO_OK);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct cache_stats stats;
    cache_stats(cache, &stats);
    assert_int_equal(atomic_load(&alive), stats.entries);
    assert_true(stats.entries <= stats.max_entries && stats.bytes <= stats.max_bytes);
    cache_destroy(cache);
    assert_int_equal(atomic_load(&alive), 0);
    struct block_pool_stats memory;
    block_pool_stats(pool, &memory);
    assert_int_equal(memory.live_blocks, 0);
    block_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_of_64_threads_leave_nothing_behind),
    };
    return cmocka_run_group_tests_name("cache_stress", tests, NULL, NULL);
}
