/* The primitive cache as users see it: hits, capacities, threads and the log.
 *
 * Caches and pools like these are known to go wrong in ways that each have a test here or in
 * lives.c; those that need no primitive are listed in tests/memory/block_manager.c:
 *
 *  - a handle is destroyed from under an execution:
 *    a_primitive_in_use_is_not_destroyed
 *  - memory is limited by the count of entries:
 *    the_block_budget_is_kept, blocks_serve_any_shape
 *  - only memory is kept and objects are rebuilt:
 *    a_second_create_is_a_hit_of_the_same_plan
 *  - every run maps its memory again, or writes plans:
 *    nothing_is_written_to_a_plan_by_its_execution
 *  - no accounting and no trim:
 *    statistics_add_up, trim_gives_back_free_blocks
 *  - shrinking to half clears the cache:
 *    shrinking_to_half_keeps_the_newest_half
 *  - the number of threads is part of the key:
 *    threads_are_not_part_of_the_key
 *  - a negative capacity is no capacity:
 *    bad_environment_values_leave_the_defaults
 *  - one cache for all models:
 *    an_engine_gives_back_all_that_it_held */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/primitive/primitive.h"
#include "tests/support/cached.h"
#include "tests/support/capture.h"
#include "tests/support/pools.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

static pthread_barrier_t barrier;

/* ---- hits ---- */

static void a_second_create_is_a_hit_of_the_same_plan(void **state)
{
    (void)state;
    neo_primitive *first = cached_create(5);
    void *block = first->tokens[0].block->data;
    struct implementation *impl = first->desc.implementation;
    neo_primitive_destroy(first);
    neo_primitive *second = cached_create(5);
    assert_true(neo_primitive_desc_cache_hit(neo_primitive_get_desc(second)));
    assert_ptr_equal(second->desc.implementation, impl);
    assert_ptr_equal(second->tokens[0].block->data, block);
    neo_primitive *third = cached_create(5); /* as many blocks as handles */
    assert_ptr_not_equal(third->tokens[0].block->data, block);
    assert_int_equal(cached_statistics().blocks_held, 2);
    neo_primitive_destroy(second);
    neo_primitive_destroy(third);
    assert_int_equal(cached_statistics().blocks_held, 0);
    assert_int_equal(cached_statistics().hits, 2);
    assert_int_equal(cached_statistics().misses, 1);
}

static void blocks_serve_any_shape(void **state)
{
    (void)state;
    for (neo_dim m = 1; m <= 40; m++)
        neo_primitive_destroy(cached_create(m));
    neo_cache_statistics stats = cached_statistics();
    assert_int_equal(stats.entries, 40);
    assert_true(stats.blocks_made < 10); /* as many as there are sizes */
    assert_int_equal(stats.blocks_held, 0);
}

static bool is_new(const neo_matmul_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, desc, attributes), NEO_OK);
    bool hit = neo_primitive_desc_cache_hit(pd);
    neo_primitive_desc_destroy(pd);
    return !hit;
}

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    neo_memory_desc desc;
    require(neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){rows, columns}, NEO_F32, tag) == NEO_OK);
    return desc;
}

/* All that a plan depends on tells descriptions apart, to the last bit. */
static void whatever_differs_is_another_entry(void **state)
{
    (void)state;
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_true(is_new(&desc, NULL));
    assert_false(is_new(&desc, attributes));
    desc.bias = matrix(1, 9, "ab");
    assert_true(is_new(&desc, NULL));
    desc.bias = matrix(5, 9, "ab");
    assert_true(is_new(&desc, NULL));
    desc.bias.ndims = 0;
    desc.weights = matrix(7, 9, "ba");
    assert_true(is_new(&desc, NULL));
    desc.weights = matrix(7, 9, "any");
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = 8;
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = (neo_dim)7 << 32; /* beyond 32 bits */
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = (neo_dim)7 << 33;
    assert_true(is_new(&desc, NULL));
    desc.src.strides[0] = 7;
    desc.src.offset = 1;
    assert_true(is_new(&desc, NULL));
    neo_attributes_append_eltwise(attributes, NEO_ELTWISE_LINEAR, 0.0f, 1);
    assert_true(is_new(&desc, attributes));
    assert_false(is_new(&desc, attributes));
    neo_attributes *negative;
    assert_int_equal(neo_attributes_create(&negative), NEO_OK);
    neo_attributes_append_eltwise(negative, NEO_ELTWISE_LINEAR, -0.0f, 1);
    assert_true(is_new(&desc, negative));
    neo_attributes_set_scratchpad_mode(negative, NEO_SCRATCHPAD_USER);
    assert_true(is_new(&desc, negative));
    neo_attributes_destroy(negative);
    neo_attributes_destroy(attributes);
}

/* A wrong value must not look like a right one whose bits it ends with. */
static void garbage_is_not_a_hit(void **state)
{
    (void)state;
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    assert_true(is_new(&desc, NULL));
    for (unsigned bit = 6; bit < 31; bit++) {
        neo_primitive_desc *pd;
        neo_matmul_desc wrong = desc;
        wrong.src.data_type = (neo_data_type)((unsigned)wrong.src.data_type | 1u << bit);
        assert_int_not_equal(neo_matmul_primitive_desc_create(&pd, engine, &wrong, NULL), NEO_OK);
        wrong = desc;
        wrong.dst.format_kind = (neo_format_kind)((unsigned)wrong.dst.format_kind | 1u << bit);
        assert_int_not_equal(neo_matmul_primitive_desc_create(&pd, engine, &wrong, NULL), NEO_OK);
    }
}

/* ---- capacities ---- */

static void the_least_recently_used_goes_first(void **state)
{
    (void)state;
    cached_set_capacity(3, SIZE_MAX);
    for (neo_dim m = 1; m <= 3; m++)
        assert_false(cached_is_hit(m));
    assert_true(cached_is_hit(1));
    assert_false(cached_is_hit(4)); /* evicts 2 */
    assert_true(cached_is_hit(1));
    assert_true(cached_is_hit(3));
    assert_true(cached_is_hit(4));
    assert_false(cached_is_hit(2));
    assert_int_equal(cached_statistics().entries, 3);
}

static void shrinking_to_half_keeps_the_newest_half(void **state)
{
    (void)state;
    static const size_t sizes[] = {12, 16, 100};
    for (size_t i = 0; i < count_of(sizes); i++) {
        size_t size = sizes[i];
        neo_engine_clear_cache(engine);
        cached_set_capacity(1024, SIZE_MAX);
        for (size_t m = 1; m <= size; m++)
            cached_is_hit((neo_dim)m);
        cached_set_capacity(size / 2, SIZE_MAX);
        assert_int_equal(cached_statistics().entries, size / 2);
        for (size_t m = size / 2 + 1; m <= size; m++)
            assert_true(cached_is_hit((neo_dim)m));
        assert_false(cached_is_hit(1));
    }
}

static void capacities_of_0_and_1_compute_the_same(void **state)
{
    (void)state;
    neo_primitive *kept = cached_create(6);
    for (size_t capacity = 0; capacity < 2; capacity++) {
        cached_set_capacity(capacity, SIZE_MAX);
        for (neo_dim m = 1; m < 30; m++) {
            neo_primitive *one = cached_create(m), *other = cached_create(m);
            assert_int_equal(one->desc.implementation == other->desc.implementation, capacity);
            cached_check_same_results(one, stream, other, stream);
            neo_primitive_destroy(one);
            neo_primitive_destroy(other);
            assert_true(cached_statistics().entries <= capacity);
        }
    }
    cached_check_same_results(kept, stream, kept, stream);
    neo_primitive_destroy(kept);
}

static void bytes_are_a_capacity_too(void **state)
{
    (void)state;
    cached_is_hit(1);
    size_t one = cached_statistics().bytes;
    assert_true(one > sizeof(struct problem));
    cached_set_capacity(1024, 3 * one + one / 2);
    for (neo_dim m = 1; m <= 10; m++) {
        cached_is_hit(m);
        assert_true(cached_statistics().bytes <= 3 * one + one / 2);
    }
    assert_int_equal(cached_statistics().entries, 3);
    cached_set_capacity(1024, one - 1); /* too small for any: served, not kept */
    assert_false(cached_is_hit(5));
    assert_false(cached_is_hit(5));
    assert_int_equal(cached_statistics().entries, 0);
}

static void bad_environment_values_leave_the_defaults(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "garbage", "12x", "99999999999999999999999", ""};
    neo_set_verbose(0);
    for (size_t i = 0; i < count_of(bad); i++) {
        setenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", bad[i], 1);
        setenv("NEOPRENE_PRIMITIVE_CACHE_BYTES", bad[i], 1);
        setenv("NEOPRENE_BLOCK_BUDGET", bad[i], 1);
        neo_engine *other;
        neo_cache_capacity capacity;
        size_t budget;
        assert_int_equal(neo_engine_create(&other), NEO_OK);
        neo_engine_get_cache_capacity(other, &capacity);
        neo_engine_get_block_budget(other, &budget);
        assert_int_equal(capacity.entries, 1024);
        assert_true(capacity.bytes == SIZE_MAX && budget == SIZE_MAX);
        neo_engine_destroy(other);
    }
    setenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY", "7", 1);
    setenv("NEOPRENE_PRIMITIVE_CACHE_BYTES", "2M", 1);
    setenv("NEOPRENE_BLOCK_BUDGET", "3K", 1);
    neo_engine *other;
    neo_cache_capacity capacity;
    size_t budget;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    neo_engine_get_cache_capacity(other, &capacity);
    neo_engine_get_block_budget(other, &budget);
    assert_int_equal(capacity.entries, 7);
    assert_int_equal(capacity.bytes, 2 << 20);
    assert_int_equal(budget, 3 << 10);
    neo_engine_destroy(other);
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_CAPACITY");
    unsetenv("NEOPRENE_PRIMITIVE_CACHE_BYTES");
    unsetenv("NEOPRENE_BLOCK_BUDGET");
}

/* ---- threads ---- */

static void threads_are_not_part_of_the_key(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 7; threads += 3) {
        struct test_pool *pool = test_pool_create(TEST_POOL_SYNCHRONOUS, threads);
        const neo_stream_options options = {.threadpool = test_pool_table(pool)};
        neo_stream *other;
        assert_int_equal(neo_stream_create(&other, engine, &options), NEO_OK);
        neo_primitive *one = cached_create(33), *two = cached_create(33);
        cached_check_same_results(one, stream, two, other);
        neo_primitive_destroy(one);
        neo_primitive_destroy(two);
        neo_stream_destroy(other);
        test_pool_destroy(pool);
    }
    assert_int_equal(cached_statistics().misses, 1);
}

enum { CREATORS = 32 };

static atomic_int round_number;

static void *create_the_same(void *argument)
{
    neo_primitive **out = argument;
    pthread_barrier_wait(&barrier);
    *out = cached_create(100 + atomic_load(&round_number));
    return NULL;
}

static void thirty_two_creators_build_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_t threads[CREATORS];
        neo_primitive *made[CREATORS];
        atomic_store(&round_number, round);
        pthread_barrier_init(&barrier, NULL, CREATORS);
        for (size_t i = 0; i < CREATORS; i++)
            require(pthread_create(&threads[i], NULL, create_the_same, &made[i]) == 0);
        for (size_t i = 0; i < CREATORS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        assert_int_equal(cached_statistics().misses, round + 1);
        for (size_t i = 0; i < CREATORS; i++) {
            assert_ptr_equal(made[i]->desc.implementation, made[0]->desc.implementation);
            neo_primitive_destroy(made[i]); /* in another thread than the one that made it */
        }
    }
    neo_cache_statistics stats = cached_statistics();
    assert_int_equal(stats.hits + stats.waits, 20 * (CREATORS - 1));
    assert_int_equal(stats.blocks_held, 0);
}

static neo_status describe_unsupported(void)
{
    neo_matmul_desc desc = {
        .src = matrix(5, 7, "ab"), .weights = matrix(7, 9, "ab"), .dst = matrix(5, 9, "ab")};
    desc.dst.data_type = NEO_U4; /* only weights may be halves of bytes */
    neo_primitive_desc *pd;
    neo_status status = neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL);
    require(pd == NULL);
    return status;
}

static void *fail_together(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&barrier);
    require(describe_unsupported() == NEO_UNSUPPORTED);
    return NULL;
}

static void a_failure_reaches_all_and_is_not_kept(void **state)
{
    (void)state;
    pthread_t threads[CREATORS];
    neo_set_verbose(0);
    pthread_barrier_init(&barrier, NULL, CREATORS);
    for (size_t i = 0; i < CREATORS; i++)
        require(pthread_create(&threads[i], NULL, fail_together, NULL) == 0);
    for (size_t i = 0; i < CREATORS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    neo_cache_statistics stats = cached_statistics();
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.failures, stats.misses);
    assert_int_equal(stats.hits, 0);
    assert_int_equal(describe_unsupported(), NEO_UNSUPPORTED); /* tried again */
    assert_int_equal(cached_statistics().failures, stats.failures + 1);
}

/* ---- the log ---- */

static void creations_and_evictions_are_logged_with_their_times(void **state)
{
    (void)state;
    cached_set_capacity(1, SIZE_MAX);
    neo_set_verbose(2);
    capture_begin();
    cached_is_hit(5);
    cached_is_hit(5);
    cached_is_hit(6);
    char *text = capture_end();
    neo_set_verbose(0);
    static const char *const wanted[] = {
        "neoprene_verbose,v1,primitive,create:cache_miss,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_hit,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_evict,cpu,matmul,",
        "neoprene_verbose,v1,primitive,create:cache_miss,cpu,matmul,",
    };
    const char *at = text;
    for (size_t i = 0; i < count_of(wanted); i++) {
        const char *end = strchr(at, '\n');
        if (strncmp(at, wanted[i], strlen(wanted[i])) || !end)
            fail_msg("line %zu of the log is not '%s…':\n%s", i, wanted[i], text);
        const char *time = end;
        while (time[-1] != ',')
            time--;
        char *rest;
        double milliseconds = strtod(time, &rest);
        assert_ptr_equal(rest, end);
        assert_true(milliseconds > 0 && milliseconds < 10000);
        at = end + 1;
    }
    assert_int_equal(*at, 0);
    assert_non_null(strstr(text, ",5x27:27x29,"));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup_single, session_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_create_is_a_hit_of_the_same_plan),
        TEST(blocks_serve_any_shape),
        TEST(whatever_differs_is_another_entry),
        TEST(garbage_is_not_a_hit),
        TEST(the_least_recently_used_goes_first),
        TEST(shrinking_to_half_keeps_the_newest_half),
        TEST(capacities_of_0_and_1_compute_the_same),
        TEST(bytes_are_a_capacity_too),
        TEST(bad_environment_values_leave_the_defaults),
        TEST(threads_are_not_part_of_the_key),
        TEST(thirty_two_creators_build_once),
        TEST(a_failure_reaches_all_and_is_not_kept),
        TEST(creations_and_evictions_are_logged_with_their_times),
    };
    return cmocka_run_group_tests_name("primitive_cache", tests, NULL, NULL);
}
