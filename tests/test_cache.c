/* The get-or-create cache: order, capacities, single flight, failures, references. */
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/core/hash.h"
#include "src/core/log.h"
#include "src/primitive/cache.h"
#include "tests/support/fault.h"

static atomic_int alive;
static atomic_int builds;

struct object {
    struct cache_value value; /* first member */
    uint32_t number;
};

static atomic_uint last_destroyed;        /* a number */
static struct cache *cache_in_destructor; /* used by destructors while the test runs */

static void destroy_object(struct cache_value *value)
{
    atomic_fetch_sub(&alive, 1);
    atomic_store(&last_destroyed, ((struct object *)value)->number);
    if (cache_in_destructor) {
        struct cache_stats stats;
        cache_stats(cache_in_destructor, &stats); /* takes every lock of the cache */
    }
    free(value);
}

struct request {
    uint32_t number;
    size_t bytes;
    neo_status fails_with;
};

static neo_status build_object(void *context, struct cache_value **value, size_t *bytes)
{
    const struct request *request = context;
    atomic_fetch_add(&builds, 1);
    if (request->fails_with != NEO_OK)
        return request->fails_with;
    struct object *object = malloc(sizeof *object);
    if (!object)
        return NEO_OUT_OF_MEMORY;
    cache_value_init(&object->value, destroy_object);
    object->number = request->number;
    atomic_fetch_add(&alive, 1);
    *value = &object->value;
    *bytes = request->bytes;
    return NEO_OK;
}

static struct cache *new_cache(size_t max_entries, size_t max_bytes)
{
    struct cache *cache;
    const struct cache_options options = {.max_entries = max_entries, .max_bytes = max_bytes};
    assert_int_equal(cache_create(&cache, &options), NEO_OK);
    return cache;
}

static struct cache_stats stats_of(struct cache *cache)
{
    struct cache_stats stats;
    cache_stats(cache, &stats);
    return stats;
}

static enum cache_outcome use_bytes(struct cache *cache, uint32_t number, size_t bytes)
{
    struct request request = {number, bytes, NEO_OK};
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    enum cache_outcome outcome;
    assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &value, &outcome),
                     NEO_OK);
    assert_int_equal(((struct object *)value)->number, number);
    cache_value_release(value);
    return outcome;
}

static enum cache_outcome use(struct cache *cache, uint32_t number)
{
    return use_bytes(cache, number, 1);
}

static int nothing_is_alive(void **state)
{
    (void)state;
    atomic_store(&builds, 0);
    return atomic_load(&alive);
}

static void the_second_request_is_a_hit_of_the_same_object(void **state)
{
    (void)state;
    struct cache *cache = new_cache(8, SIZE_MAX);
    struct request request = {7, 1, NEO_OK};
    const uint32_t words[] = {1, 2, 3};
    const struct cache_key key = {words, 3, hash_words(words, 3)};
    struct cache_value *first, *second;
    assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &first, NULL),
                     NEO_OK);
    assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &second, NULL),
                     NEO_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(builds, 1);
    cache_destroy(cache);
    assert_int_equal(((struct object *)first)->number, 7); /* references outlive the cache */
    cache_value_release(first);
    cache_value_release(second);
}

static void keys_with_one_hash_are_told_apart_by_their_words(void **state)
{
    (void)state;
    struct cache *cache = new_cache(100, SIZE_MAX);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t words[] = {i, 0, 0};
            const struct cache_key key = {words, i % 4, 42};
            struct request request = {i, 1, NEO_OK};
            struct cache_value *value;
            assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &value, NULL),
                             NEO_OK);
            assert_int_equal(((struct object *)value)->number, i % 4 ? i : 0);
            cache_value_release(value);
        }
    }
    assert_int_equal(stats_of(cache).entries, 31); /* ten of them have no words */
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
        struct cache *cache = new_cache(capacity, SIZE_MAX);
        struct model model = {.count = 0};
        unsigned seed = (unsigned)capacity;
        for (int i = 0; i < 2000; i++) {
            uint32_t number = (uint32_t)rand_r(&seed) % 60;
            bool hit = model_use(&model, number, capacity);
            assert_int_equal(use(cache, number), hit ? CACHE_HIT : CACHE_MISS);
            assert_int_equal(atomic_load(&alive), model.count);
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
    use(turns->cache, number);
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
            .cache = new_cache(ORDER_KEYS, SIZE_MAX), .left = TURNS, .seed = round + 1};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, second_thread, &turns), 0);
        take_turns(&turns, FIRST);
        pthread_join(thread, NULL);
        for (size_t keep = turns.model.count; keep-- > 1;) { /* the oldest go one by one */
            cache_set_max_entries(turns.cache, keep);
            assert_int_equal(last_destroyed, turns.model.order[keep]);
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
        struct cache *cache = new_cache(from, SIZE_MAX);
        for (size_t j = 0; j < from; j++)
            use(cache, (uint32_t)j);
        cache_set_max_entries(cache, to);
        assert_int_equal(stats_of(cache).entries, to);
        assert_int_equal(atomic_load(&alive), to);
        for (size_t j = from - to; j < from; j++)
            assert_int_equal(use(cache, (uint32_t)j), CACHE_HIT);
        assert_int_equal(use(cache, 0), CACHE_MISS);
        cache_destroy(cache);
    }
}

static void capacity_0_builds_and_keeps_nothing(void **state)
{
    (void)state;
    struct cache *cache = new_cache(0, SIZE_MAX);
    assert_int_equal(use(cache, 1), CACHE_MISS);
    assert_int_equal(use(cache, 1), CACHE_MISS);
    assert_int_equal(atomic_load(&alive), 0);
    cache_set_max_entries(cache, 1);
    assert_int_equal(use(cache, 1), CACHE_MISS);
    assert_int_equal(use(cache, 1), CACHE_HIT);
    cache_set_max_entries(cache, 0);
    assert_int_equal(atomic_load(&alive), 0);
    cache_set_max_entries(cache, 2);
    cache_set_max_bytes(cache, 0);
    assert_int_equal(use_bytes(cache, 1, 0), CACHE_MISS);
    assert_int_equal(use_bytes(cache, 1, 0), CACHE_MISS);
    assert_int_equal(stats_of(cache).entries, 0);
    cache_destroy(cache);
}

static neo_status build_and_allow(void *context, struct cache_value **value, size_t *bytes)
{
    struct cache *cache = context;
    cache_set_max_entries(cache, 8);
    return build_object(&(struct request){1, 1, NEO_OK}, value, bytes);
}

/* Two threads may build the same key while the cache is off; if it is turned on meanwhile, it must
 * not have both. */
static void what_was_built_while_the_cache_was_off_is_not_kept(void **state)
{
    (void)state;
    struct cache *cache = new_cache(0, SIZE_MAX);
    const uint32_t number = 1;
    const struct cache_key key = {&number, 1, hash_words(&number, 1)};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, build_and_allow, cache, &value, NULL),
                     NEO_OK);
    cache_value_release(value);
    assert_int_equal(stats_of(cache).entries, 0);
    assert_int_equal(use(cache, number), CACHE_MISS);
    assert_int_equal(use(cache, number), CACHE_HIT);
    cache_destroy(cache);
}

static void bytes_limit_as_entries_do(void **state)
{
    (void)state;
    struct cache *cache = new_cache(100, 1000);
    use_bytes(cache, 1, 400);
    use_bytes(cache, 2, 400);
    use_bytes(cache, 1, 400);
    use_bytes(cache, 3, 300); /* pushes 2 out */
    assert_int_equal(stats_of(cache).bytes, 700);
    assert_int_equal(use_bytes(cache, 1, 400), CACHE_HIT);
    assert_int_equal(use_bytes(cache, 2, 300), CACHE_MISS);
    use_bytes(cache, 4, 1001); /* handed out, not kept, pushes nobody out */
    assert_int_equal(stats_of(cache).bytes, 1000);
    use_bytes(cache, 5, 1000); /* pushes out all */
    assert_int_equal(stats_of(cache).entries, 1);
    cache_set_max_bytes(cache, 999);
    assert_int_equal(stats_of(cache).bytes, 0);
    assert_true(stats_of(cache).peak_bytes == 1000);
    cache_destroy(cache);
}

static void a_failed_creation_is_not_kept_and_can_be_retried(void **state)
{
    (void)state;
    struct cache *cache = new_cache(4, SIZE_MAX);
    struct request request = {1, 1, NEO_UNSUPPORTED};
    const struct cache_key key = {&request.number, 1, 1};
    struct cache_value *value = (void *)&request;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &value, NULL),
                         NEO_UNSUPPORTED);
        assert_null(value);
    }
    assert_int_equal(stats_of(cache).entries, 0);
    assert_int_equal(stats_of(cache).failures, 2);
    request.fails_with = NEO_OK;
    assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &value, NULL),
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
    struct cache *cache = new_cache(4, SIZE_MAX);
    const struct cache_key key = {NULL, 0, 0};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, build_nothing, NULL, &value, NULL),
                     NEO_RUNTIME_ERROR);
    cache_destroy(cache);
}

static void destructors_run_outside_every_lock(void **state)
{
    (void)state;
    struct cache *cache = new_cache(2, SIZE_MAX);
    cache_in_destructor = cache; /* would not return */
    for (uint32_t i = 0; i < 4; i++)
        use(cache, i);
    cache_set_max_entries(cache, 1);
    cache_clear(cache);
    use(cache, 9);
    cache_set_max_entries(cache, 0);
    use(cache, 9);
    cache_in_destructor = NULL;
    cache_destroy(cache);
}

static void an_evicted_object_lives_while_it_is_used(void **state)
{
    (void)state;
    struct cache *cache = new_cache(1, SIZE_MAX);
    struct request request = {1, 1, NEO_OK};
    const struct cache_key key = {&request.number, 1, 1};
    struct cache_value *value;
    assert_int_equal(cache_get_or_create(cache, &key, build_object, &request, &value, NULL),
                     NEO_OK);
    use(cache, 2);
    assert_int_equal(atomic_load(&alive), 2);
    assert_int_equal(((struct object *)value)->number, 1);
    cache_value_release(value);
    assert_int_equal(atomic_load(&alive), 1);
    cache_destroy(cache);
}

static void clearing_drops_all_and_keeps_the_counters(void **state)
{
    (void)state;
    struct cache *cache = new_cache(1000, SIZE_MAX);
    for (uint32_t i = 0; i < 500; i++)
        use(cache, i);
    use(cache, 0);
    cache_clear(cache);
    const struct cache_stats stats = stats_of(cache);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.bytes, 0);
    assert_int_equal(stats.peak_entries, 500);
    assert_int_equal(stats.misses, 500);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.evictions, 0);
    assert_int_equal(use(cache, 0), CACHE_MISS);
    cache_destroy(cache);
}

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
        cache_get_or_create(nested->cache, &key, build_object, &request, &part, NULL);
    if (nested->inner_status != NEO_OK)
        return nested->inner_status;
    cache_value_release(part);
    request.number = nested->outer;
    return build_object(&request, value, bytes);
}

static void a_build_may_create_another_key_but_not_its_own(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < 3; capacity++) {
        struct cache *cache = new_cache(capacity, SIZE_MAX);
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
        assert_int_equal(stats_of(cache).entries, 0);
        cache_destroy(cache);
    }
}

/* Two builds that need each other's results: each thread starts its own before it asks. */
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
        cache_get_or_create(crossed->cache, &key, build_object, &request, &part, NULL);
    if (status != NEO_OK)
        return status;
    cache_value_release(part);
    request.number = crossed->mine;
    return build_object(&request, value, bytes);
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
    struct cache *cache = new_cache(4, SIZE_MAX);
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
    return status == NEO_OK ? build_object(&request, value, bytes) : status;
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
    uint64_t waits = stats_of(chained->cache).waits;
    if (pthread_create(&chained->thread, NULL, create_next, chained))
        return NEO_RUNTIME_ERROR;
    while (stats_of(chained->cache).waits == waits)
        sched_yield();
    return build_object(&request, value, bytes);
}

/* When a build has ended, those that waited for it go on, whether they have woken up or not: so its
 * thread may wait for one of them at once. */
static void a_thread_may_wait_for_one_that_has_just_waited_for_it(void **state)
{
    (void)state;
    struct cache *cache = new_cache(1024, SIZE_MAX);
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
    while (stats_of(race->cache).waits < CREATORS - 1) /* all others have asked */
        usleep(100);
    struct request request = {5, 1, race->fails_with};
    return build_object(&request, value, bytes);
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
    struct race race = {.cache = new_cache(4, max_bytes), .fails_with = fails_with};
    pthread_barrier_init(&race.start, NULL, CREATORS);
    pthread_t threads[CREATORS];
    for (size_t i = 0; i < CREATORS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_one, &race), 0);
    for (size_t i = 0; i < CREATORS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.built, 1);
    assert_int_equal(stats_of(race.cache).entries, kept);
    assert_int_equal(stats_of(race.cache).waits, CREATORS - 1);
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
            status = cache_get_or_create(cache, &key, build_object, &request, &value, NULL);
        failed = fault_disarm();
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
        assert_true(!value == (status != NEO_OK));
        cache_value_release(value);
        if (cache)
            use(cache, 3); /* the next call works */
        cache_destroy(cache);
        assert_true(n < 10);
    }
}

static void growing_without_memory_still_finds_everything(void **state)
{
    (void)state;
    struct cache *cache = new_cache(SIZE_MAX, SIZE_MAX);
    for (uint32_t i = 0; i < 5000; i++) {
        fault_arm(3); /* the object, its entry, then more buckets */
        use(cache, i);
        fault_disarm();
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(use(cache, i), CACHE_HIT);
    cache_destroy(cache);
}

static void a_hit_allocates_nothing(void **state)
{
    (void)state;
    struct cache *cache = new_cache(64, SIZE_MAX);
    for (uint32_t i = 0; i < 64; i++)
        use(cache, i);
    size_t before = fault_allocations();
    for (uint32_t i = 0; i < 10000; i++)
        use(cache, i * 7 % 64);
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
    use(seen.cache, 4);
    assert_int_equal(seen.count[CACHE_MISS], 0);
    neo_set_verbose(2);
    use(seen.cache, 4);
    use(seen.cache, 5);
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
    struct cache *cache = new_cache(4, SIZE_MAX);
    use(cache, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool works = use(cache, 1) == CACHE_HIT && use(cache, 2) == CACHE_MISS;
        cache_destroy(cache);
        _exit(works ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(use(cache, 2), CACHE_MISS);
    cache_destroy(cache);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nothing_is_alive, nothing_is_alive)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_second_request_is_a_hit_of_the_same_object),
        TEST(keys_with_one_hash_are_told_apart_by_their_words),
        TEST(the_order_is_exactly_that_of_use),
        TEST(the_order_is_exact_across_threads),
        TEST(shrinking_keeps_the_most_recent_also_exactly_half),
        TEST(capacity_0_builds_and_keeps_nothing),
        TEST(what_was_built_while_the_cache_was_off_is_not_kept),
        TEST(bytes_limit_as_entries_do),
        TEST(a_failed_creation_is_not_kept_and_can_be_retried),
        TEST(a_build_without_an_object_is_an_error),
        TEST(destructors_run_outside_every_lock),
        TEST(an_evicted_object_lives_while_it_is_used),
        TEST(clearing_drops_all_and_keeps_the_counters),
        TEST(a_build_may_create_another_key_but_not_its_own),
        TEST(builds_that_wait_for_each_other_fail_instead_of_hanging),
        TEST(a_thread_may_wait_for_one_that_has_just_waited_for_it),
        TEST(one_of_32_builds_and_all_receive_the_object),
        TEST(one_of_32_builds_and_all_receive_its_failure),
        TEST(every_failing_allocation_leaks_nothing),
        TEST(growing_without_memory_still_finds_everything),
        TEST(a_hit_allocates_nothing),
        TEST(a_bad_environment_value_leaves_the_default),
        TEST(events_are_sent_only_while_the_log_is_on),
        TEST(a_forked_child_can_use_the_cache_and_exit),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
