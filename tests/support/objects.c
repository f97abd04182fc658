/* Objects in a cache. */
#include "tests/support/objects.h"

#include <stdlib.h>

#include "src/core/hash.h"
#include "tests/support/test.h"

atomic_int objects_alive;
atomic_int objects_built;

atomic_uint object_last_destroyed;
struct cache *object_cache;

static void destroy_object(struct cache_value *value)
{
    atomic_fetch_sub(&objects_alive, 1);
    atomic_store(&object_last_destroyed, ((struct object *)value)->number);
    if (object_cache) {
        struct cache_stats stats;
        cache_stats(object_cache, &stats); /* takes every lock of the cache */
    }
    free(value);
}

neo_status object_build(void *context, struct cache_value **value, size_t *bytes)
{
    const struct request *request = context;
    atomic_fetch_add(&objects_built, 1);
    if (request->fails_with != NEO_OK)
        return request->fails_with;
    struct object *object = malloc(sizeof *object);
    if (!object)
        return NEO_OUT_OF_MEMORY;
    cache_value_init(&object->value, destroy_object);
    object->number = request->number;
    atomic_fetch_add(&objects_alive, 1);
    *value = &object->value;
    *bytes = request->bytes;
    return NEO_OK;
}

struct cache *cache_of(size_t max_entries, size_t max_bytes)
{
    struct cache *cache;
    const struct cache_options options = {.max_entries = max_entries, .max_bytes = max_bytes};
    assert_int_equal(cache_create(&cache, &options), NEO_OK);
    return cache;
}

struct cache_stats cache_stats_of(struct cache *cache)
{
    struct cache_stats stats;
    cache_stats(cache, &stats);
    return stats;
}

enum cache_outcome object_use_bytes(struct cache *cache, uint32_t number, size_t bytes)
{
    struct request request = {number, bytes, NEO_OK};
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    enum cache_outcome outcome;
    assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &value, &outcome),
                     NEO_OK);
    assert_int_equal(((struct object *)value)->number, number);
    cache_value_release(value);
    return outcome;
}

enum cache_outcome object_use(struct cache *cache, uint32_t number)
{
    return object_use_bytes(cache, number, 1);
}

/* What a failed test has left is not the next one's. */
int objects_begin(void **state)
{
    (void)state;
    object_cache = NULL;
    atomic_store(&objects_built, 0);
    atomic_store(&objects_alive, 0);
    return 0;
}

int objects_are_gone(void **state)
{
    (void)state;
    return atomic_load(&objects_alive);
}
