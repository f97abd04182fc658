#include "tests/support/block_fixture.h"

#include <pthread.h>

#include "tests/support/test.h"

int block_set_up(void **state)
{
    static struct fixture fixture;
    *state = &fixture;
    neo_status status = block_pool_create(&fixture.pool, &block_source_heap, NULL);
    block_manager_init(&fixture.manager, fixture.pool);
    return status != NEO_OK;
}

int block_tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct block_pool_stats stats;
    neo_status status = block_manager_deinit(&fixture->manager);
    block_pool_stats(fixture->pool, &stats);
    block_pool_destroy(fixture->pool);
    return status != NEO_OK || stats.live_blocks;
}

struct reservation reserve(struct fixture *fixture, size_t bytes)
{
    struct reservation reservation;
    assert_int_equal(block_manager_reserve(&fixture->manager, bytes, &reservation), NEO_OK);
    assert_non_null(reservation.block);
    assert_true(reservation.block->bytes >= bytes);
    return reservation;
}

void unreserve(struct fixture *fixture, struct reservation *reservation)
{
    assert_int_equal(block_manager_unreserve(&fixture->manager, reservation), NEO_OK);
    assert_null(reservation->block);
}

struct block_manager_stats stats_of(struct fixture *fixture)
{
    struct block_manager_stats stats;
    block_manager_stats(&fixture->manager, &stats);
    return stats;
}

struct block_pool_stats pool_stats(struct fixture *fixture)
{
    struct block_pool_stats stats;
    block_pool_stats(fixture->pool, &stats);
    return stats;
}

void run_threads(struct fixture *fixture, size_t count, void *(*run)(void *))
{
    pthread_t threads[MOST_THREADS];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, fixture), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

size_t most_blocks(struct fixture *fixture)
{
    return pool_stats(fixture).peak_bytes / block_pool_class_bytes(BYTES);
}
