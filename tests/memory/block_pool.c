/* The engine's block pool: classes, reuse, budget, limit, trimming, failures, threads. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory/blocks/pool.h"
#include "tests/support/fault.h"

/* A source that knows what is out and how much was out at most. */
struct counted {
    atomic_size_t bytes, peak, calls;
    bool refuses;
};

static neo_status counted_allocate(void *context, size_t bytes, size_t align, void **out)
{
    struct counted *counted = context;
    if (counted->refuses)
        return NEO_OUT_OF_MEMORY;
    neo_status status = block_source_heap.allocate(NULL, bytes, align, out);
    if (status != NEO_OK)
        return status;
    atomic_fetch_add(&counted->calls, 1);
    size_t now = atomic_fetch_add(&counted->bytes, bytes) + bytes;
    size_t peak = atomic_load(&counted->peak);
    while (now > peak && !atomic_compare_exchange_weak(&counted->peak, &peak, now))
        ;
    return NEO_OK;
}

static void counted_release(void *context, void *data, size_t bytes)
{
    struct counted *counted = context;
    atomic_fetch_sub(&counted->bytes, bytes);
    block_source_heap.release(NULL, data, bytes);
}

static struct block_pool *new_pool(struct counted *counted, struct block_pool_options options)
{
    *counted = (struct counted){0};
    struct block_source source = {
        .context = counted, .allocate = counted_allocate, .release = counted_release};
    struct block_pool *pool;
    assert_int_equal(block_pool_create(&pool, &source, &options), NEO_OK);
    return pool;
}

static struct block *acquire(struct block_pool *pool, size_t bytes)
{
    struct block *block;
    assert_int_equal(block_pool_acquire(pool, bytes, &block), NEO_OK);
    assert_true(block->bytes >= bytes);
    return block;
}

static void release(struct block_pool *pool, struct block *block)
{
    assert_int_equal(block_pool_release(pool, block), NEO_OK);
}

static struct block_pool_stats stats_of(struct block_pool *pool)
{
    struct block_pool_stats stats;
    block_pool_stats(pool, &stats);
    return stats;
}

static void classes_waste_at_most_an_eighth(void **state)
{
    (void)state;
    size_t previous = 0;
    for (size_t bytes = 1; bytes < 1u << 20; bytes++) {
        size_t class = block_pool_class_bytes(bytes);
        assert_true(class >= bytes && class >= previous && class % 128 == 0);
        assert_true(bytes <= 1024 ? class - bytes < 128 : bytes * 8 >= class * 7);
        assert_int_equal(block_pool_class_bytes(class), class);
        previous = class;
    }
    for (unsigned bit = 20; bit < 62; bit++) {
        size_t bytes = ((size_t)1 << bit) + 1;
        assert_true(block_pool_class_bytes(bytes) >= bytes);
        assert_true(block_pool_class_bytes(bytes) - bytes < bytes / 8);
    }
    assert_int_equal(block_pool_class_bytes(((size_t)1 << 62) + 1), 0);
    assert_int_equal(block_pool_class_bytes(SIZE_MAX), 0);
}

static void blocks_are_aligned_and_whole(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){0});
    static const size_t sizes[] = {0, 1, 128, 129, 4000, 32767, 32768, 32769, 100000, 1u << 22};
    for (size_t i = 0; i < count_of(sizes); i++) {
        struct block *block = acquire(pool, sizes[i]);
        memset(block->data, 0x5a, block->bytes);
        assert_int_equal((uintptr_t)block->data % (block->bytes >= 32768 ? 4096 : 128), 0);
        release(pool, block);
    }
    block_pool_destroy(pool);
    assert_int_equal(counted.bytes, 0);
}

static void what_one_shape_gave_back_serves_another(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){0});
    struct block *block = acquire(pool, 60000);
    release(pool, block);
    struct block *other = acquire(pool, 58000);
    assert_ptr_equal(other, block);
    assert_int_equal(stats_of(pool).creations, 1);
    release(pool, other);
    block_pool_destroy(pool);
}

static void warm_acquire_and_release_allocate_nothing(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){.window = 16});
    for (int round = 0; round < 2; round++) {
        size_t before = fault_allocations(), calls = counted.calls;
        for (size_t i = 0; i < 10000; i++) {
            struct block *a = acquire(pool, 1000), *b = acquire(pool, 70000);
            release(pool, a);
            release(pool, b);
        }
        if (round) {
            assert_int_equal(fault_allocations(), before);
            assert_int_equal(counted.calls, calls);
        }
    }
    block_pool_destroy(pool);
}

static void a_block_released_twice_is_refused(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){0});
    struct block *block = acquire(pool, 5000);
    release(pool, block);
    assert_int_equal(block_pool_release(pool, block), NEO_INVALID_ARGUMENT);
    block_pool_trim(pool, 0);
    assert_int_equal(block_pool_release(pool, block), NEO_INVALID_ARGUMENT);
    assert_int_equal(stats_of(pool).free_blocks, 0);
    block_pool_destroy(pool);
}

static void the_budget_is_kept_by_dropping_the_oldest_free_blocks(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool =
        new_pool(&counted, (struct block_pool_options){.budget_bytes = 10 * 4096});
    struct block *blocks[8];
    for (size_t i = 0; i < 8; i++)
        blocks[i] = acquire(pool, 4096);
    for (size_t i = 0; i < 8; i++)
        release(pool, blocks[i]);
    assert_int_equal(stats_of(pool).free_bytes, 8 * 4096);
    struct block *large = acquire(pool, 5 * 4096); /* pushes out the three released first */
    assert_int_equal(stats_of(pool).free_blocks, 5);
    for (size_t i = 0; i < 5; i++)
        assert_ptr_equal(acquire(pool, 4096), blocks[7 - i]);
    assert_true(counted.peak <= 10 * 4096);
    struct block *beyond = acquire(pool, 4096); /* live blocks are served beyond it */
    release(pool, beyond);                      /* but not kept */
    assert_int_equal(counted.bytes, 10 * 4096);
    release(pool, large);
    for (size_t i = 0; i < 5; i++)
        release(pool, blocks[7 - i]);
    block_pool_set_budget(pool, 4096);
    assert_int_equal(counted.bytes, 4096);
    block_pool_destroy(pool);
}

static void what_is_kept_for_later_stays_within_the_budget(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool =
        new_pool(&counted, (struct block_pool_options){.budget_bytes = 2 * 4096});
    struct block *blocks[3];
    assert_int_equal(block_pool_make_in_budget(pool, 4096, &blocks[0]), NEO_OK);
    assert_int_equal(block_pool_make_in_budget(pool, 8192, &blocks[1]), NEO_UNSUPPORTED);
    assert_null(blocks[1]);
    assert_int_equal(block_pool_make_in_budget(pool, 4096, &blocks[1]), NEO_OK);
    assert_false(block_pool_is_over(pool));
    assert_int_equal(block_pool_make_in_budget(pool, 128, &blocks[2]), NEO_UNSUPPORTED);
    /* What has to be there goes over the budget. */
    assert_int_equal(block_pool_make(pool, 128, &blocks[2]), NEO_OK);
    assert_true(block_pool_is_over(pool));
    for (size_t i = 0; i < 3; i++)
        release(pool, blocks[i]);
    assert_true(counted.bytes <= 2 * 4096);
    block_pool_set_budget(pool, 0);
    assert_int_equal(counted.bytes, 0);
    block_pool_destroy(pool);
}

static void the_limit_is_an_error_and_not_a_wait(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){.limit_bytes = 8192});
    struct block *first = acquire(pool, 4096), *second = acquire(pool, 4096), *third;
    assert_int_equal(block_pool_acquire(pool, 1, &third), NEO_OUT_OF_MEMORY);
    assert_null(third);
    release(pool, second);
    assert_int_equal(block_pool_acquire(pool, 5000, &third), NEO_OUT_OF_MEMORY);
    assert_int_equal(stats_of(pool).free_blocks, 1); /* what cannot be served drops nothing */
    third = acquire(pool, 2000);                     /* replaces the free one */
    assert_int_equal(counted.bytes, 4096 + 2048);
    assert_int_equal(stats_of(pool).failures, 2);
    release(pool, first);
    release(pool, third);
    assert_int_equal(block_pool_acquire(pool, SIZE_MAX, &third), NEO_OUT_OF_MEMORY);
    block_pool_destroy(pool);
}

static void trim_frees_the_oldest_down_to_what_is_asked(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){0});
    struct block *blocks[4];
    for (size_t i = 0; i < 4; i++)
        blocks[i] = acquire(pool, (size_t)1024 << i);
    for (size_t i = 0; i < 4; i++)
        release(pool, blocks[i]);
    assert_int_equal(block_pool_trim(pool, SIZE_MAX), 0);
    assert_int_equal(block_pool_trim(pool, 12 * 1024), 3 * 1024);
    assert_ptr_equal(acquire(pool, 4096), blocks[2]);
    release(pool, blocks[2]);
    assert_int_equal(block_pool_trim(pool, 0), 12 * 1024);
    assert_int_equal(counted.bytes, 0);
    assert_int_equal(stats_of(pool).trims, 4);
    block_pool_destroy(pool);
}

static void the_high_water_mark_trims_what_two_windows_did_not_need(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){.window = 100});
    struct block *blocks[10];
    for (size_t i = 0; i < 10; i++)
        blocks[i] = acquire(pool, 3000);
    for (size_t i = 0; i < 10; i++)
        release(pool, blocks[i]);
    for (size_t i = 0; i < 90; i++) /* the first window, in which ten were live at once */
        release(pool, acquire(pool, 3000));
    assert_int_equal(stats_of(pool).free_blocks, 10);
    for (size_t i = 0; i < 100; i++)
        release(pool, acquire(pool, 3000));
    assert_int_equal(stats_of(pool).free_blocks, 10);
    for (size_t i = 0; i < 100; i++)
        release(pool, acquire(pool, 3000));
    assert_int_equal(stats_of(pool).free_blocks, 1);
    block_pool_destroy(pool);
}

static void what_was_live_when_a_window_began_counts_for_it(void **state)
{
    (void)state;
    enum { WINDOW = 8 };
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){.window = WINDOW});
    struct block *blocks[WINDOW];
    for (size_t i = 0; i < WINDOW; i++)
        blocks[i] = acquire(pool, 3000);
    for (size_t i = 0; i < WINDOW; i++) /* the second window has no acquire of this class */
        release(pool, acquire(pool, 100));
    for (size_t i = 0; i < WINDOW; i++)
        release(pool, blocks[i]);
    for (size_t window = 0; window < 3; window++) { /* it, and two that need nothing */
        assert_int_equal(stats_of(pool).free_blocks, WINDOW + 1);
        for (size_t i = 0; i < WINDOW; i++)
            release(pool, acquire(pool, 100));
    }
    assert_int_equal(stats_of(pool).free_blocks, 1);
    block_pool_destroy(pool);
}

static void a_refused_block_s_record_serves_the_next_one(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){0});
    struct block *block;
    counted.refuses = true;
    assert_int_equal(block_pool_acquire(pool, 3000, &block), NEO_OUT_OF_MEMORY);
    counted.refuses = false;
    size_t before = fault_allocations();
    release(pool, acquire(pool, 3000));
    assert_int_equal(fault_allocations() - before, 1); /* its memory, and no other record */
    block_pool_destroy(pool);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        struct block_pool *pool;
        struct block *block = NULL;
        fault_arm(n);
        neo_status status = block_pool_create(&pool, &block_source_heap, NULL);
        if (status == NEO_OK)
            status = block_pool_acquire(pool, 100, &block);
        failed = fault_disarm();
        assert_int_equal(status, failed ? NEO_OUT_OF_MEMORY : NEO_OK);
        if (pool && failed) { /* the next call works */
            assert_null(block);
            assert_int_equal(stats_of(pool).live_bytes, 0);
            block = acquire(pool, 100);
        }
        if (pool)
            release(pool, block);
        block_pool_destroy(pool);
        assert_true(n < 10);
    }
}

static void exhausted_memory_is_retried_without_the_free_blocks(void **state)
{
    (void)state;
    struct block_pool *pool;
    assert_int_equal(block_pool_create(&pool, &block_source_heap, NULL), NEO_OK);
    struct block *kept = acquire(pool, 1 << 20), *block;
    release(pool, kept);
    release(pool, acquire(pool, 1 << 16));
    fault_arm(2); /* 1 is the record */
    assert_int_equal(block_pool_acquire(pool, 1 << 21, &block), NEO_OK);
    assert_true(fault_disarm());
    assert_int_equal(stats_of(pool).free_blocks, 0);
    release(pool, block);
    block_pool_destroy(pool);
}

static void destroying_nothing_is_fine(void **state)
{
    (void)state;
    block_pool_destroy(NULL);
}

/* ---- threads ---- */

enum { THREADS = 64, STEPS = 400 };

struct worker {
    struct block_pool *pool;
    unsigned seed;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    const unsigned mark = worker->seed;
    struct block *held[4] = {0};
    for (int i = 0; i < STEPS; i++) {
        unsigned random = (unsigned)rand_r(&worker->seed);
        struct block **slot = &held[random % count_of(held)];
        if (*slot) {
            assert_int_equal(*(unsigned *)(*slot)->data, mark); /* nobody else wrote here */
            release(worker->pool, *slot);
            *slot = NULL;
        } else {
            *slot = acquire(worker->pool, 64 + random % 5000);
            *(unsigned *)(*slot)->data = mark;
        }
        if (random % 97 == 0)
            block_pool_trim(worker->pool, random % 50000);
        if (random % 101 == 0)
            block_pool_set_budget(worker->pool, random % 3 * 100000);
    }
    for (size_t j = 0; j < count_of(held); j++)
        if (held[j])
            release(worker->pool, held[j]);
    return NULL;
}

static void many_threads_never_share_a_block(void **state)
{
    (void)state;
    struct counted counted;
    struct block_pool *pool = new_pool(&counted, (struct block_pool_options){.window = 64});
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){pool, i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct block_pool_stats stats = stats_of(pool);
    assert_int_equal(stats.live_blocks, 0);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.acquires, stats.releases);
    assert_int_equal(stats.creations - stats.trims, stats.free_blocks);
    assert_int_equal(counted.bytes, stats.free_bytes);
    block_pool_destroy(pool);
    assert_int_equal(counted.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_waste_at_most_an_eighth),
        cmocka_unit_test(blocks_are_aligned_and_whole),
        cmocka_unit_test(what_one_shape_gave_back_serves_another),
        cmocka_unit_test(warm_acquire_and_release_allocate_nothing),
        cmocka_unit_test(a_block_released_twice_is_refused),
        cmocka_unit_test(the_budget_is_kept_by_dropping_the_oldest_free_blocks),
        cmocka_unit_test(what_is_kept_for_later_stays_within_the_budget),
        cmocka_unit_test(the_limit_is_an_error_and_not_a_wait),
        cmocka_unit_test(trim_frees_the_oldest_down_to_what_is_asked),
        cmocka_unit_test(the_high_water_mark_trims_what_two_windows_did_not_need),
        cmocka_unit_test(what_was_live_when_a_window_began_counts_for_it),
        cmocka_unit_test(a_refused_block_s_record_serves_the_next_one),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(exhausted_memory_is_retried_without_the_free_blocks),
        cmocka_unit_test(destroying_nothing_is_fine),
        cmocka_unit_test(many_threads_never_share_a_block),
    };
    return cmocka_run_group_tests_name("block_pool", tests, NULL, NULL);
}
