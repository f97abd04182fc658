/* Leases: the memory of executions. The list of what pools are known to do wrong is in
 * block_manager.c. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/block_fixture.h"
#include "tests/support/fault.h"

static void a_block_is_not_taken_from_under_an_execution(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES);
    struct lease run;
    assert_int_equal(block_manager_lease(&fixture->manager, &handle, BYTES, &run), NEO_OK);
    assert_ptr_equal(run.data, handle.block->data);
    assert_int_equal(block_manager_unreserve(&fixture->manager, &handle), NEO_BUSY);
    assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
    assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_INVALID_ARGUMENT);
    unreserve(fixture, &handle);
}

static void overlapping_executions_of_one_handle_lease_their_own_blocks(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES);
    struct lease runs[4];
    for (size_t i = 0; i < count_of(runs); i++) {
        assert_int_equal(block_manager_lease(&fixture->manager, &handle, BYTES, &runs[i]), NEO_OK);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(runs[i].data, runs[j].data);
    }
    assert_int_equal(block_manager_deinit(&fixture->manager), NEO_BUSY);
    for (size_t i = 0; i < count_of(runs); i++)
        assert_int_equal(block_manager_return(&fixture->manager, &runs[i]), NEO_OK);
    assert_int_equal(stats_of(fixture).idle, 1); /* one handle: one is kept, the others serve all */
    assert_int_equal(pool_stats(fixture).free_blocks, 2);
    unreserve(fixture, &handle);
    assert_int_equal(stats_of(fixture).idle, 0);
    assert_int_equal(pool_stats(fixture).free_blocks, 4);
}

static void beyond_the_budget_nothing_stays_idle(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES);
    block_pool_set_budget(fixture->pool, handle.block->bytes);
    struct lease run;
    for (int within = 0; within < 2; within++) {
        assert_int_equal(block_manager_lease(&fixture->manager, NULL, BYTES, &run), NEO_OK);
        assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
        assert_int_equal(stats_of(fixture).idle, within);
        block_pool_set_budget(fixture->pool, SIZE_MAX);
    }
    unreserve(fixture, &handle);
}

static void an_execution_of_the_handle_s_very_bytes_works_in_its_block(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES);
    struct lease run;
    assert_int_equal(block_manager_lease(&fixture->manager, &handle, handle.block->bytes, &run),
                     NEO_OK);
    assert_ptr_equal(run.data, handle.block->data);
    assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
    unreserve(fixture, &handle);
}

static void an_execution_that_needs_more_than_its_handle_has_leases_it(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES);
    struct lease run;
    assert_int_equal(block_manager_lease(&fixture->manager, &handle, 20 * BYTES, &run), NEO_OK);
    memset(run.data, 1, (size_t)20 * BYTES);
    assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
    assert_int_equal(block_manager_lease(&fixture->manager, NULL, BYTES, &run), NEO_OK);
    assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
    unreserve(fixture, &handle);
}

static void expect_poison(struct lease *lease)
{
    const unsigned char *data = lease->data;
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(data[i], 0xff);
    memset(lease->data, 0, BYTES);
}

/* Of every execution, not just of the first one in a block: so nothing is read that was not written
 * in the same execution. */
static void poison_fills_the_memory_of_every_execution(void **state)
{
    struct fixture *fixture = *state;
    const struct block_pool_options options = {.is_poisoned = true, .poison = 0xff};
    block_manager_deinit(&fixture->manager);
    block_pool_destroy(fixture->pool);
    assert_int_equal(block_pool_create(&fixture->pool, &block_source_heap, &options), NEO_OK);
    block_manager_init(&fixture->manager, fixture->pool);
    struct reservation own = reserve(fixture, BYTES);
    for (int i = 0; i < 3; i++) {
        struct lease first, second;
        assert_int_equal(block_manager_lease(&fixture->manager, &own, BYTES, &first), NEO_OK);
        assert_int_equal(block_manager_lease(&fixture->manager, &own, BYTES, &second), NEO_OK);
        assert_ptr_not_equal(first.data, second.data);
        expect_poison(&first);
        expect_poison(&second);
        assert_int_equal(block_manager_return(&fixture->manager, &second), NEO_OK);
        assert_int_equal(block_manager_return(&fixture->manager, &first), NEO_OK);
    }
    unreserve(fixture, &own);
}

static void warm_reserve_lease_return_unreserve_allocate_nothing(void **state)
{
    struct fixture *fixture = *state;
    size_t before = 0;
    for (size_t i = 0; i < 10001; i++) {
        struct reservation token = reserve(fixture, BYTES);
        struct lease one, two;
        assert_int_equal(block_manager_lease(&fixture->manager, &token, BYTES, &one), NEO_OK);
        assert_int_equal(block_manager_lease(&fixture->manager, &token, BYTES, &two), NEO_OK);
        assert_int_equal(block_manager_return(&fixture->manager, &one), NEO_OK);
        assert_int_equal(block_manager_return(&fixture->manager, &two), NEO_OK);
        unreserve(fixture, &token);
        if (!i)
            before = fault_allocations();
    }
    assert_int_equal(fault_allocations(), before);
}

/* ---- threads ---- */

enum { ROUNDS = 500 };

static struct reservation shared_handle;

static void *lease_and_return(void *argument)
{
    struct fixture *fixture = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct lease run;
        assert_int_equal(block_manager_lease(&fixture->manager, &shared_handle, BYTES, &run),
                         NEO_OK);
        memset(run.data, i, 64); /* a data race if two runs had the same block */
        assert_int_equal(block_manager_return(&fixture->manager, &run), NEO_OK);
    }
    return NULL;
}

static void threads_that_execute_one_handle_never_share_memory(void **state)
{
    struct fixture *fixture = *state;
    shared_handle = reserve(fixture, BYTES);
    run_threads(fixture, MOST_THREADS, lease_and_return);
    assert_int_equal(stats_of(fixture).leased, 0);
    assert_true(most_blocks(fixture) <= MOST_THREADS);
    unreserve(fixture, &shared_handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BLOCK_TEST(a_block_is_not_taken_from_under_an_execution),
        BLOCK_TEST(overlapping_executions_of_one_handle_lease_their_own_blocks),
        BLOCK_TEST(beyond_the_budget_nothing_stays_idle),
        BLOCK_TEST(an_execution_of_the_handle_s_very_bytes_works_in_its_block),
        BLOCK_TEST(an_execution_that_needs_more_than_its_handle_has_leases_it),
        BLOCK_TEST(poison_fills_the_memory_of_every_execution),
        BLOCK_TEST(warm_reserve_lease_return_unreserve_allocate_nothing),
        BLOCK_TEST(threads_that_execute_one_handle_never_share_memory),
    };
    return cmocka_run_group_tests_name("block_leases", tests, NULL, NULL);
}
