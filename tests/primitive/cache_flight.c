/* The get-or-create cache: builds within builds, and threads that want the same object. */
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "src/core/hash.h"
#include "tests/support/objects.h"

/* ---- nested creation ---- */

struct nested {
    struct cache *cache;
    uint32_t outer, inner; /* keys */
    neo_status inner_status;
};

static neo_status build_nested(void *context, struct cache_value **value, size_t *bytes)
{
    struct nested *nested = context;
    struct request request = {nested->inner, 1, NEO_OK};
    const struct cache_key key = {&nested->inner, 1, nested->inner};
    struct cache_value *part;
    nested->inner_status =
        cache_get_or_create(nested->cache, &key, object_build, &request, &part, NULL);
    if (nested->inner_status != NEO_OK)
        return nested->inner_status;
    cache_value_release(part);
    request.number = nested->outer;
    return object_build(&request, value, bytes);
}

static void a_build_may_create_another_key_but_not_its_own(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < 3; capacity++) {
        struct cache *cache = cache_of(capacity, SIZE_MAX);
        struct nested nested = {cache, 1, 2, NEO_OK};
        const struct cache_key key = {&nested.outer, 1, 1};
        struct cache_value *value;
        assert_int_equal(cache_get_or_create(cache, &key, build_nested, &nested, &value, NULL),
                         NEO_OK);
        cache_value_release(value);
        cache_clear(cache);
        nested.inner = 1;
        assert_int_equal(cache_get_or_create(cache, &key, build_nested, &nested, &value, NULL),
                         NEO_RUNTIME_ERROR);
        assert_int_equal(cache_stats_of(cache).entries, 0);
        cache_destroy(cache);
    }
}

/* Two objects_built that need each other's results: each thread starts its own before it asks. */
struct crossed {
    struct cache *cache;
    pthread_barrier_t *both_started;
    uint32_t mine, other;
    neo_status status;
};

static neo_status build_crossed(void *context, struct cache_value **value, size_t *bytes)
{
    struct crossed *crossed = context;
    pthread_barrier_wait(crossed->both_started);
    struct request request = {crossed->other, 1, NEO_OK};
    const struct cache_key key = {&crossed->other, 1, crossed->other};
    struct cache_value *part;
    neo_status status =
        cache_get_or_create(crossed->cache, &key, object_build, &request, &part, NULL);
    if (status != NEO_OK)
        return status;
    cache_value_release(part);
    request.number = crossed->mine;
    return object_build(&request, value, bytes);
}

static void *create_crossed(void *argument)
{
    struct crossed *crossed = argument;
    const struct cache_key key = {&crossed->mine, 1, crossed->mine};
    struct cache_value *value;
    crossed->status =
        cache_get_or_create(crossed->cache, &key, build_crossed, crossed, &value, NULL);
    cache_value_release(value);
    return NULL;
}

static void builds_that_wait_for_each_other_fail_instead_of_hanging(void **state)
{
    (void)state;
    struct cache *cache = cache_of(4, SIZE_MAX);
    pthread_barrier_t both_started;
    pthread_barrier_init(&both_started, NULL, 2);
    struct crossed crossed[2] = {{cache, &both_started, 1, 2, NEO_OK},
                                 {cache, &both_started, 2, 1, NEO_OK}};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, create_crossed, &crossed[0]), 0);
    create_crossed(&crossed[1]);
    pthread_join(thread, NULL);
    assert_int_equal(crossed[0].status, NEO_RUNTIME_ERROR);
    assert_int_equal(crossed[1].status, NEO_RUNTIME_ERROR);
    pthread_barrier_destroy(&both_started);
    cache_destroy(cache);
}

/* Two keys, `first` and the next one, whose build asks for the first one in another thread. */
struct chained {
    struct cache *cache;
    uint32_t first;
    pthread_t thread;
    neo_status status;
};

static neo_status get_chained(struct chained *chained, uint32_t number, cache_build_fn *build)
{
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    neo_status status = cache_get_or_create(chained->cache, &key, build, chained, &value, NULL);
    cache_value_release(value);
    return status;
}

static neo_status build_never(void *context, struct cache_value **value, size_t *bytes)
{
    (void)context, (void)value, (void)bytes;
    return NEO_RUNTIME_ERROR;
}

static neo_status build_next(void *context, struct cache_value **value, size_t *bytes)
{
    struct chained *chained = context;
    struct request request = {chained->first + 1, 1, NEO_OK};
    neo_status status = get_chained(chained, chained->first, build_never);
    return status == NEO_OK ? object_build(&request, value, bytes) : status;
}

static void *create_next(void *argument)
{
    struct chained *chained = argument;
    chained->status = get_chained(chained, chained->first + 1, build_next);
    return NULL;
}

/* Ends when the other thread waits for it. */
static neo_status build_first(void *context, struct cache_value **value, size_t *bytes)
{
    struct chained *chained = context;
    struct request request = {chained->first, 1, NEO_OK};
    uint64_t waits = cache_stats_of(chained->cache).waits;
    if (pthread_create(&chained->thread, NULL, create_next, chained))
        return NEO_RUNTIME_ERROR;
    while (cache_stats_of(chained->cache).waits == waits)
        sched_yield();
    return object_build(&request, value, bytes);
}

/* When a build has ended, those that waited for it go on, whether they have woken up or not: so its
 * thread may wait for one of them at once. */
static void a_thread_may_wait_for_one_that_has_just_waited_for_it(void **state)
{
    (void)state;
    struct cache *cache = cache_of(1024, SIZE_MAX);
    for (uint32_t i = 0; i < 400; i += 2) {
        struct chained chained = {.cache = cache, .first = i};
        assert_int_equal(get_chained(&chained, i, build_first), NEO_OK);
        neo_status status = get_chained(&chained, i + 1, build_never);
        pthread_join(chained.thread, NULL);
        assert_int_equal(status, NEO_OK);
        assert_int_equal(chained.status, NEO_OK);
    }
    cache_destroy(cache);
}

/* ---- single flight ---- */

enum { CREATORS = 32 };

struct race {
    struct cache *cache;
    pthread_barrier_t start;
    atomic_int built;
    neo_status fails_with;
};

static neo_status build_slowly(void *context, struct cache_value **value, size_t *bytes)
{
    struct race *race = context;
    atomic_fetch_add(&race->built, 1);
    while (cache_stats_of(race->cache).waits < CREATORS - 1) /* all others have asked */
        usleep(100);
    struct request request = {5, 1, race->fails_with};
    return object_build(&request, value, bytes);
}

static void *create_one(void *argument)
{
    struct race *race = argument;
    const uint32_t word = 5;
    const struct cache_key key = {&word, 1, 5};
    struct cache_value *value;
    pthread_barrier_wait(&race->start);
    neo_status status = cache_get_or_create(race->cache, &key, build_slowly, race, &value, NULL);
    assert_int_equal(status, race->fails_with);
    assert_true(!value == (status != NEO_OK));
    cache_value_release(value);
    return NULL;
}

static void race_for_one_key(neo_status fails_with, size_t max_bytes, size_t kept)
{
    struct race race = {.cache = cache_of(4, max_bytes), .fails_with = fails_with};
    pthread_barrier_init(&race.start, NULL, CREATORS);
    pthread_t threads[CREATORS];
    for (size_t i = 0; i < CREATORS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_one, &race), 0);
    for (size_t i = 0; i < CREATORS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.built, 1);
    assert_int_equal(cache_stats_of(race.cache).entries, kept);
    assert_int_equal(cache_stats_of(race.cache).waits, CREATORS - 1);
    pthread_barrier_destroy(&race.start);
    cache_destroy(race.cache);
}

static void one_of_32_builds_and_all_receive_the_object(void **state)
{
    (void)state;
    race_for_one_key(NEO_OK, SIZE_MAX, 1);
}

static void one_of_32_builds_and_all_receive_its_failure(void **state)
{
    (void)state;
    race_for_one_key(NEO_UNSUPPORTED, SIZE_MAX, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OBJECTS_TEST(a_build_may_create_another_key_but_not_its_own),
        OBJECTS_TEST(builds_that_wait_for_each_other_fail_instead_of_hanging),
        OBJECTS_TEST(a_thread_may_wait_for_one_that_has_just_waited_for_it),
        OBJECTS_TEST(one_of_32_builds_and_all_receive_the_object),
        OBJECTS_TEST(one_of_32_builds_and_all_receive_its_failure),
    };
    return cmocka_run_group_tests_name("cache_flight", tests, NULL, NULL);
}
