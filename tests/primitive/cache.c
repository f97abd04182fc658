/* The get-or-create cache: order, capacities, failures, references. */
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/core/hash.h"
#include "src/core/log.h"
#include "tests/support/fault.h"
#include "tests/support/objects.h"

static void the_second_request_is_a_hit_of_the_same_object(void **state)
{
    (void)state;
    struct cache *cache = cache_of(8, SIZE_MAX);
    struct request request = {7, 1, NEO_OK};
    const uint32_t words[] = {1, 2, 3};
    const struct cache_key key = {words, 3, hash_words(words, 3)};
    struct cache_value *first, *second;
    assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &first, NULL),
                     NEO_OK);
    assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &second, NULL),
                     NEO_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(objects_built, 1);
    cache_destroy(cache);
    assert_int_equal(((struct object *)first)->number, 7); /* references outlive the cache */
    cache_value_release(first);
    cache_value_release(second);
}

static void keys_with_one_hash_are_told_apart_by_their_words(void **state)
{
    (void)state;
    struct cache *cache = cache_of(100, SIZE_MAX);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t words[] = {i, 0, 0};
            const struct cache_key key = {words, i % 4, 42};
            struct request request = {i, 1, NEO_OK};
            struct cache_value *value;
            assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &value, NULL),
                             NEO_OK);
            assert_int_equal(((struct object *)value)->number, i % 4 ? i : 0);
            cache_value_release(value);
        }
    }
    assert_int_equal(cache_stats_of(cache).entries, 31); /* ten of them have no words */
    cache_destroy(cache);
}

/* The reference: an array in order of recency. */
struct model {
    uint32_t order[64];
    size_t count;
};

static bool model_use(struct model *model, uint32_t number, size_t capacity)
{
    size_t at = 0;
    while (at < model->count && model->order[at] != number)
        at++;
    bool hit = at < model->count;
    if (!hit && model->count < capacity)
        at = model->count++;
    else if (!hit)
        at = model->count - 1;
    memmove(model->order + 1, model->order, at * sizeof *model->order);
    model->order[0] = number;
    return hit;
}

static void the_order_is_exactly_that_of_use(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 40; capacity += 3) {
        struct cache *cache = cache_of(capacity, SIZE_MAX);
        struct model model = {.count = 0};
        unsigned seed = (unsigned)capacity;
        for (int i = 0; i < 2000; i++) {
            uint32_t number = (uint32_t)rand_r(&seed) % 60;
            bool hit = model_use(&model, number, capacity);
            assert_int_equal(object_use(cache, number), hit ? CACHE_HIT : CACHE_MISS);
            assert_int_equal(atomic_load(&objects_alive), model.count);
        }
        cache_destroy(cache);
    }
}

/* Two threads take turns at random; one of two uses always ends before the other begins. */
enum { TURNS = 3000, ORDER_KEYS = 32 };

enum { FIRST, SECOND, NOBODY };

struct turns {
    struct cache *cache;
    struct model model;
    atomic_int next; /* whose turn it is */
    int left;
    unsigned seed;
};

static void take_turn(struct turns *turns)
{
    uint32_t number = (uint32_t)rand_r(&turns->seed) % ORDER_KEYS;
    object_use(turns->cache, number);
    model_use(&turns->model, number, ORDER_KEYS);
    int next = rand_r(&turns->seed) / 256 % 2 ? FIRST : SECOND;
    atomic_store(&turns->next, --turns->left ? next : NOBODY);
}

static void take_turns(struct turns *turns, int me)
{
    int next;
    for (int spins = 0; (next = atomic_load(&turns->next)) != NOBODY; spins++) {
        if (next == me)
            take_turn(turns);
        else if (spins % 1024 == 0)
            sched_yield();
    }
}

static void *second_thread(void *argument)
{
    take_turns(argument, SECOND);
    return NULL;
}

static void the_order_is_exact_across_threads(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        struct turns turns = {
            .cache = cache_of(ORDER_KEYS, SIZE_MAX), .left = TURNS, .seed = round + 1};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, second_thread, &turns), 0);
        take_turns(&turns, FIRST);
        pthread_join(thread, NULL);
        for (size_t keep = turns.model.count; keep-- > 1;) { /* the oldest go one by one */
            cache_set_max_entries(turns.cache, keep);
            assert_int_equal(object_last_destroyed, turns.model.order[keep]);
        }
        cache_destroy(turns.cache);
    }
}

static void shrinking_keeps_the_most_recent_also_exactly_half(void **state)
{
    (void)state;
    static const size_t rows[][2] = {{12, 6}, {16, 8}, {100, 50}, {1024, 512}, {15, 13}, {9, 1}};
    for (size_t i = 0; i < count_of(rows); i++) {
        size_t from = rows[i][0], to = rows[i][1];
        struct cache *cache = cache_of(from, SIZE_MAX);
        for (size_t j = 0; j < from; j++)
            object_use(cache, (uint32_t)j);
        cache_set_max_entries(cache, to);
        assert_int_equal(cache_stats_of(cache).entries, to);
        assert_int_equal(atomic_load(&objects_alive), to);
        for (size_t j = from - to; j < from; j++)
            assert_int_equal(object_use(cache, (uint32_t)j), CACHE_HIT);
        assert_int_equal(object_use(cache, 0), CACHE_MISS);
        cache_destroy(cache);
    }
}

static void capacity_0_builds_and_keeps_nothing(void **state)
{
    (void)state;
    struct cache *cache = cache_of(0, SIZE_MAX);
    assert_int_equal(object_use(cache, 1), CACHE_MISS);
    assert_int_equal(object_use(cache, 1), CACHE_MISS);
    assert_int_equal(atomic_load(&objects_alive), 0);
    cache_set_max_entries(cache, 1);
    assert_int_equal(object_use(cache, 1), CACHE_MISS);
    assert_int_equal(object_use(cache, 1), CACHE_HIT);
    cache_set_max_entries(cache, 0);
    assert_int_equal(atomic_load(&objects_alive), 0);
    cache_set_max_entries(cache, 2);
    cache_set_max_bytes(cache, 0);
    assert_int_equal(object_use_bytes(cache, 1, 0), CACHE_MISS);
    assert_int_equal(object_use_bytes(cache, 1, 0), CACHE_MISS);
    assert_int_equal(cache_stats_of(cache).entries, 0);
    cache_destroy(cache);
}

static neo_status build_and_allow(void *context, struct cache_value **value, size_t *bytes)
{
    struct cache *cache = context;
    cache_set_max_entries(cache, 8);
    return object_build(&(struct request){1, 1, NEO_OK}, value, bytes);
}

/* Two threads may build the same key while the cache is off; if it is turned on meanwhile, it must
 * not have both. */
static void what_was_built_while_the_cache_was_off_is_not_kept(void **state)
{
    (void)state;
    struct cache *cache = cache_of(0, SIZE_MAX);
    const uint32_t number = 1;
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, build_and_allow, cache, &value, NULL),
                     NEO_OK);
    cache_value_release(value);
    assert_int_equal(cache_stats_of(cache).entries, 0);
    assert_int_equal(object_use(cache, number), CACHE_MISS);
    assert_int_equal(object_use(cache, number), CACHE_HIT);
    cache_destroy(cache);
}

static void bytes_limit_as_entries_do(void **state)
{
    (void)state;
    struct cache *cache = cache_of(100, 1000);
    object_use_bytes(cache, 1, 400);
    object_use_bytes(cache, 2, 400);
    object_use_bytes(cache, 1, 400);
    object_use_bytes(cache, 3, 300); /* pushes 2 out */
    assert_int_equal(cache_stats_of(cache).bytes, 700);
    assert_int_equal(object_use_bytes(cache, 1, 400), CACHE_HIT);
    assert_int_equal(object_use_bytes(cache, 2, 300), CACHE_MISS);
    object_use_bytes(cache, 4, 1001); /* handed out, not kept, pushes nobody out */
    assert_int_equal(cache_stats_of(cache).bytes, 1000);
    object_use_bytes(cache, 5, 1000); /* pushes out all */
    assert_int_equal(cache_stats_of(cache).entries, 1);
    cache_set_max_bytes(cache, 999);
    assert_int_equal(cache_stats_of(cache).bytes, 0);
    assert_true(cache_stats_of(cache).peak_bytes == 1000);
    cache_destroy(cache);
}

static void a_failed_creation_is_not_kept_and_can_be_retried(void **state)
{
    (void)state;
    struct cache *cache = cache_of(4, SIZE_MAX);
    struct request request = {1, 1, NEO_UNSUPPORTED};
    const struct cache_key key = {&request.number, 1, 1};
    struct cache_value *value = (void *)&request;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &value, NULL),
                         NEO_UNSUPPORTED);
        assert_null(value);
    }
    assert_int_equal(cache_stats_of(cache).entries, 0);
    assert_int_equal(cache_stats_of(cache).failures, 2);
    request.fails_with = NEO_OK;
    assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &value, NULL),
                     NEO_OK);
    cache_value_release(value);
    cache_destroy(cache);
}

static neo_status build_nothing(void *context, struct cache_value **value, size_t *bytes)
{
    (void)context;
    (void)value;
    (void)bytes;
    return NEO_OK;
}

static void a_build_without_an_object_is_an_error(void **state)
{
    (void)state;
    struct cache *cache = cache_of(4, SIZE_MAX);
    const struct cache_key key = {NULL, 0, 0};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, build_nothing, NULL, &value, NULL),
                     NEO_RUNTIME_ERROR);
    cache_destroy(cache);
}

static void destructors_run_outside_every_lock(void **state)
{
    (void)state;
    struct cache *cache = cache_of(2, SIZE_MAX);
    object_cache = cache; /* would not return */
    for (uint32_t i = 0; i < 4; i++)
        object_use(cache, i);
    cache_set_max_entries(cache, 1);
    cache_clear(cache);
    object_use(cache, 9);
    cache_set_max_entries(cache, 0);
    object_use(cache, 9);
    object_cache = NULL;
    cache_destroy(cache);
}

static void an_evicted_object_lives_while_it_is_used(void **state)
{
    (void)state;
    struct cache *cache = cache_of(1, SIZE_MAX);
    struct request request = {1, 1, NEO_OK};
    const struct cache_key key = {&request.number, 1, 1};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, object_build, &request, &value, NULL),
                     NEO_OK);
    object_use(cache, 2);
    assert_int_equal(atomic_load(&objects_alive), 2);
    assert_int_equal(((struct object *)value)->number, 1);
    cache_value_release(value);
    assert_int_equal(atomic_load(&objects_alive), 1);
    cache_destroy(cache);
}

static void clearing_drops_all_and_keeps_the_counters(void **state)
{
    (void)state;
    struct cache *cache = cache_of(1000, SIZE_MAX);
    for (uint32_t i = 0; i < 500; i++)
        object_use(cache, i);
    object_use(cache, 0);
    cache_clear(cache);
    const struct cache_stats stats = cache_stats_of(cache);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.bytes, 0);
    assert_int_equal(stats.peak_entries, 500);
    assert_int_equal(stats.misses, 500);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.evictions, 0);
    assert_int_equal(object_use(cache, 0), CACHE_MISS);
    cache_destroy(cache);
}

/* ---- memory ---- */

static void every_failing_allocation_leaks_nothing(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        struct cache *cache = NULL;
        struct cache_value *value = NULL;
        struct request request = {3, 1, NEO_OK};
        const struct cache_key key = {&request.number, 1, 3};
        const struct cache_options options = {.max_entries = 4, .max_bytes = 100};
        fault_arm(n);
        neo_status status = cache_create(&cache, &options);
        if (status == NEO_OK)
            status = cache_get_or_create(cache, &key, object_build, &request, &value, NULL);
        failed = fault_disarm();
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
        assert_true(!value == (status != NEO_OK));
        cache_value_release(value);
        if (cache)
            object_use(cache, 3); /* the next call works */
        cache_destroy(cache);
        assert_true(n < 10);
    }
}

static void growing_without_memory_still_finds_everything(void **state)
{
    (void)state;
    struct cache *cache = cache_of(SIZE_MAX, SIZE_MAX);
    for (uint32_t i = 0; i < 5000; i++) {
        fault_arm(3); /* the object, its entry, then more buckets */
        object_use(cache, i);
        fault_disarm();
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(object_use(cache, i), CACHE_HIT);
    cache_destroy(cache);
}

static void a_hit_allocates_nothing(void **state)
{
    (void)state;
    struct cache *cache = cache_of(64, SIZE_MAX);
    for (uint32_t i = 0; i < 64; i++)
        object_use(cache, i);
    size_t before = fault_allocations();
    for (uint32_t i = 0; i < 10000; i++)
        object_use(cache, i * 7 % 64);
    assert_int_equal(fault_allocations(), before);
    cache_destroy(cache);
}

/* ---- environment ---- */

static void a_bad_environment_value_leaves_the_default(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t entries, bytes;
    } rows[] = {
        {"11", 11, 11},
        {"0", 0, 0},
        {"-1", 1024, SIZE_MAX},
        {"many", 1024, SIZE_MAX},
        {"", 1024, SIZE_MAX},
        {"99999999999999999999999", 1024, SIZE_MAX},
        {"100000000000000", 100000000000000, 100000000000000}, /* 15 digits */
        {"64M", 1024, 64u << 20},
    };
    neo_set_verbose(0);
    for (size_t i = 0; i < count_of(rows); i++) {
        setenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", rows[i].text, 1);
        setenv("NEOPRENE_PRIMITIVE_CACHE_BYTES", rows[i].text, 1);
        const struct cache_options options = cache_options_from_environment();
        assert_int_equal(options.max_entries, rows[i].entries);
        assert_int_equal(options.max_bytes, rows[i].bytes);
    }
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY");
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_BYTES");
    assert_int_equal(cache_options_from_environment().max_entries, 1024);
}

/* ---- events ---- */

struct seen {
    unsigned count[CACHE_EVICT + 1];
    uint32_t evicted;
    struct cache *cache;
};

static void see(void *context, const struct cache_event *event)
{
    struct seen *seen = context;
    struct cache_stats stats;
    cache_stats(seen->cache, &stats); /* no lock is held */
    seen->count[event->outcome]++;
    if (event->outcome == CACHE_EVICT)
        seen->evicted = event->key->words[0];
}

static void events_are_sent_only_while_the_log_is_on(void **state)
{
    (void)state;
    struct seen seen = {.evicted = 0};
    const struct cache_options options = {
        .max_entries = 1, .max_bytes = SIZE_MAX, .event = see, .event_context = &seen};
    assert_int_equal(cache_create(&seen.cache, &options), NEO_OK);
    neo_set_verbose(0);
    object_use(seen.cache, 4);
    assert_int_equal(seen.count[CACHE_MISS], 0);
    neo_set_verbose(2);
    object_use(seen.cache, 4);
    object_use(seen.cache, 5);
    neo_set_verbose(0);
    assert_int_equal(seen.count[CACHE_HIT], 1);
    assert_int_equal(seen.count[CACHE_MISS], 1);
    assert_int_equal(seen.count[CACHE_EVICT], 1);
    assert_int_equal(seen.evicted, 4);
    cache_destroy(seen.cache);
}

static void a_forked_child_can_use_the_cache_and_exit(void **state)
{
    (void)state;
    struct cache *cache = cache_of(4, SIZE_MAX);
    object_use(cache, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool works = object_use(cache, 1) == CACHE_HIT && object_use(cache, 2) == CACHE_MISS;
        cache_destroy(cache);
        _exit(works ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(object_use(cache, 2), CACHE_MISS);
    cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OBJECTS_TEST(the_second_request_is_a_hit_of_the_same_object),
        OBJECTS_TEST(keys_with_one_hash_are_told_apart_by_their_words),
        OBJECTS_TEST(the_order_is_exactly_that_of_use),
        OBJECTS_TEST(the_order_is_exact_across_threads),
        OBJECTS_TEST(shrinking_keeps_the_most_recent_also_exactly_half),
        OBJECTS_TEST(capacity_0_builds_and_keeps_nothing),
        OBJECTS_TEST(what_was_built_while_the_cache_was_off_is_not_kept),
        OBJECTS_TEST(bytes_limit_as_entries_do),
        OBJECTS_TEST(a_failed_creation_is_not_kept_and_can_be_retried),
        OBJECTS_TEST(a_build_without_an_object_is_an_error),
        OBJECTS_TEST(destructors_run_outside_every_lock),
        OBJECTS_TEST(an_evicted_object_lives_while_it_is_used),
        OBJECTS_TEST(clearing_drops_all_and_keeps_the_counters),
        OBJECTS_TEST(every_failing_allocation_leaks_nothing),
        OBJECTS_TEST(growing_without_memory_still_finds_everything),
        OBJECTS_TEST(a_hit_allocates_nothing),
        OBJECTS_TEST(a_bad_environment_value_leaves_the_default),
        OBJECTS_TEST(events_are_sent_only_while_the_log_is_on),
        OBJECTS_TEST(a_forked_child_can_use_the_cache_and_exit),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
