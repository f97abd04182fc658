/* A cache of numbered objects, which count how many there are. */
#ifndef TESTS_SUPPORT_OBJECTS_H
#define TESTS_SUPPORT_OBJECTS_H

#include <stdatomic.h>

#include "src/primitive/cache/cache.h"

struct object {
    struct cache_value value; /* first member */
    uint32_t number;
};

extern atomic_int objects_alive, objects_built;
extern atomic_uint object_last_destroyed; /* a number */
extern struct cache *object_cache;        /* used by destructors while it is not NULL */

/* cmocka's fixtures, before and after each test. */
int objects_begin(void **state);
int objects_are_gone(void **state);

#define OBJECTS_TEST(name) cmocka_unit_test_setup_teardown(name, objects_begin, objects_are_gone)

struct request {
    uint32_t number;
    size_t bytes;
    neo_status fails_with;
};

/* Builds what the context, a request, says. */
neo_status object_build(void *context, struct cache_value **value, size_t *bytes);

struct cache *cache_of(size_t max_entries, size_t max_bytes);
struct cache_stats cache_stats_of(struct cache *cache);

/* Asks for an object and lets it go. */
enum cache_outcome object_use_bytes(struct cache *cache, uint32_t number, size_t bytes);
enum cache_outcome object_use(struct cache *cache, uint32_t number); /* 1 byte */

#endif
