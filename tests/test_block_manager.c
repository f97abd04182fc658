/* Reservations and leases of one implementation.
 *
 * Pools built from semaphores, counts and lists of anonymous blocks are known to go wrong in these
 * ways; each has a test here, in test_block_pool.c (p), test_block_interleavings.c (i),
 * test_cache.c or test_cache_flight.c (c), test_primitive_cache.c or test_primitive_lives.c (a)
 * that fails if it happens to us:
 *
 *  F1  a list is looked at without its lock   (i) every order; the thread tests under TSan
 *  F2  the loser of a race for a block waits  a_busy_block_makes_a_new_one_instead_of_a_wait
 *  F3  a semaphore is replaced under waiters  eight_threads_finish_with_at_most_eight_blocks
 *  F4  a permit too many lets a third one in  (i) three reservations
 *  F5  two disciplines for one counter        (i) every order: the counts agree at the end
 *  F6  n asked for, one reserved, n released  reserving_n_blocks_owns_n_and_frees_the_same_n
 *  F7  a reservation has no identity          a_reservation_is_returned_once
 *      and sizes mix                          blocks_of_different_sizes_are_not_mixed
 *  F8  a block is taken from an execution     a_block_is_not_taken_from_under_an_execution
 *      or its handle destroyed                (a) a_primitive_in_use_is_not_destroyed
 *  F9  preconditions unchecked, sizes cut     sizes_of_zero_and_beyond_memory_have_a_status
 *  F10 a failure is swallowed                 a_failed_reserve_returns_a_status_and_holds_nothing
 *  F11 more blocks than users, never trimmed  sixty_four_threads_finish_with_at_most_..._blocks
 *                                             (p) the_high_water_mark_trims_...
 *  F12 no new block while others are in use   a_busy_block_makes_a_new_one_instead_of_a_wait
 *  F13 creators change shared state unlocked  (c) one_of_32_builds_and_all_receive_the_object
 *  F14 memory hangs off entries, by count     memory_of_an_idle_implementation_serves_another_one
 *                                             (p) the_budget_is_kept_...
 *                                             (a) the_block_budget_is_kept
 *  F15 only memory is cached                  (c) the_second_request_is_a_hit_of_the_same_object
 *                                             (a) a_second_create_is_a_hit_of_the_same_plan
 *  F16 each run maps its memory again         warm_reserve_lease_return_unreserve_allocate_...
 *                                             (a) nothing_is_written_to_a_plan_by_its_execution
 *  F17 no alignment, accounting, trim, fork   (p) blocks_are_aligned_and_whole
 *                                             (p) trim_frees_..., (a) statistics_add_up
 *                                             (c) a_forked_child_can_use_the_cache_and_exit
 *  F18 moving an owner leaves pointers behind a_token_moves_with_its_owner */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory/block_manager.h"
#include "tests/support/fault.h"

enum { BYTES = 5000 };

struct fixture {
    struct block_pool *pool;
    struct block_manager manager;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    *state = &fixture;
    neo_status status = block_pool_create(&fixture.pool, &block_source_heap, NULL);
    block_manager_init(&fixture.manager, fixture.pool);
    return status != NEO_OK;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct block_pool_stats stats;
    neo_status status = block_manager_deinit(&fixture->manager);
    block_pool_stats(fixture->pool, &stats);
    block_pool_destroy(fixture->pool);
    return status != NEO_OK || stats.live_blocks;
}

static struct reservation reserve(struct fixture *fixture, size_t bytes)
{
    struct reservation reservation;
    assert_int_equal(block_manager_reserve(&fixture->manager, bytes, &reservation), NEO_OK);
    assert_non_null(reservation.block);
    assert_true(reservation.block->bytes >= bytes);
    return reservation;
}

static void unreserve(struct fixture *fixture, struct reservation *reservation)
{
    assert_int_equal(block_manager_unreserve(&fixture->manager, reservation), NEO_OK);
    assert_null(reservation->block);
}

static struct block_manager_stats stats_of(struct fixture *fixture)
{
    struct block_manager_stats stats;
    block_manager_stats(&fixture->manager, &stats);
    return stats;
}

static struct block_pool_stats pool_stats(struct fixture *fixture)
{
    struct block_pool_stats stats;
    block_pool_stats(fixture->pool, &stats);
    return stats;
}

static void a_destroyed_handle_s_block_serves_the_next_handle(void **state)
{
    struct fixture *fixture = *state;
    struct reservation first = reserve(fixture, BYTES);
    struct block *block = first.block;
    unreserve(fixture, &first);
    struct reservation second = reserve(fixture, BYTES);
    assert_ptr_equal(second.block, block);
    unreserve(fixture, &second);
    assert_int_equal(pool_stats(fixture).creations, 1);
}

static void a_busy_block_makes_a_new_one_instead_of_a_wait(void **state)
{
    struct fixture *fixture = *state;
    struct reservation first = reserve(fixture, BYTES), second = reserve(fixture, BYTES);
    assert_ptr_not_equal(first.block, second.block);
    assert_int_equal(stats_of(fixture).reserved, 2);
    unreserve(fixture, &first);
    unreserve(fixture, &second);
}

static void reserving_n_blocks_owns_n_and_frees_the_same_n(void **state)
{
    struct fixture *fixture = *state;
    struct reservation mine[5], other = reserve(fixture, BYTES);
    struct block *block = other.block;
    for (size_t i = 0; i < count_of(mine); i++)
        mine[i] = reserve(fixture, BYTES);
    assert_int_equal(stats_of(fixture).reserved, 6);
    for (size_t i = 0; i < count_of(mine); i++)
        unreserve(fixture, &mine[i]);
    assert_int_equal(stats_of(fixture).reserved, 1);
    struct reservation next = reserve(fixture, BYTES); /* and not the other one's */
    assert_ptr_not_equal(next.block, block);
    unreserve(fixture, &next);
    unreserve(fixture, &other);
}

static void a_reservation_is_returned_once(void **state)
{
    struct fixture *fixture = *state;
    struct reservation token = reserve(fixture, BYTES);
    struct reservation copy = token, zero = {0};
    unreserve(fixture, &token);
    assert_int_equal(block_manager_unreserve(&fixture->manager, &token), NEO_INVALID_ARGUMENT);
    assert_int_equal(block_manager_unreserve(&fixture->manager, &copy), NEO_INVALID_ARGUMENT);
    assert_int_equal(block_manager_unreserve(&fixture->manager, &zero), NEO_INVALID_ARGUMENT);
    struct reservation next = reserve(fixture, BYTES); /* the same block, another reservation */
    assert_ptr_equal(next.block, copy.block);
    assert_int_equal(block_manager_unreserve(&fixture->manager, &copy), NEO_INVALID_ARGUMENT);
    unreserve(fixture, &next);
    block_pool_trim(fixture->pool, 0); /* not even when its memory is gone */
    assert_int_equal(block_manager_unreserve(&fixture->manager, &copy), NEO_INVALID_ARGUMENT);
    assert_int_equal(stats_of(fixture).unreserves, 2);
}

static void sizes_of_zero_and_beyond_memory_have_a_status(void **state)
{
    struct fixture *fixture = *state;
    static const size_t beyond[] = {SIZE_MAX, SIZE_MAX - 4096, ((size_t)1 << 62) + 1};
    struct reservation token = reserve(fixture, 0); /* as good as any other */
    unreserve(fixture, &token);
    for (size_t i = 0; i < count_of(beyond); i++)
        assert_int_equal(block_manager_reserve(&fixture->manager, beyond[i], &token),
                         NEO_OUT_OF_MEMORY);
    assert_int_equal(stats_of(fixture).reserved, 0);
}

static void a_token_moves_with_its_owner(void **state)
{
    struct fixture *fixture = *state;
    struct reservation *token = malloc(sizeof *token);
    *token = reserve(fixture, BYTES);
    struct reservation moved = *token;
    memset(token, 0xff, sizeof *token);
    free(token);
    memset(moved.block->data, 1, BYTES);
    unreserve(fixture, &moved);
}

static void blocks_of_different_sizes_are_not_mixed(void **state)
{
    struct fixture *fixture = *state;
    struct reservation keep = reserve(fixture, 100), small = reserve(fixture, 100);
    unreserve(fixture, &small);
    struct reservation large = reserve(fixture, 100000);
    memset(large.block->data, 1, 100000);
    unreserve(fixture, &large);
    struct reservation again = reserve(fixture, 100);
    assert_int_equal(again.block->bytes, 128);
    unreserve(fixture, &again);
    unreserve(fixture, &keep);
}

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

static void an_idle_block_serves_no_smaller_class(void **state)
{
    struct fixture *fixture = *state;
    struct reservation handle = reserve(fixture, BYTES), large = reserve(fixture, 4 * BYTES);
    unreserve(fixture, &large);
    assert_int_equal(stats_of(fixture).idle, 1);
    struct reservation small = reserve(fixture, BYTES);
    assert_int_equal(small.block->bytes, block_pool_class_bytes(BYTES));
    assert_int_equal(stats_of(fixture).idle, 1);
    unreserve(fixture, &small);
    unreserve(fixture, &handle);
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

static void the_pool_s_report_names_who_has_a_block(void **state)
{
    struct fixture *fixture = *state;
    block_manager_set_user(&fixture->manager, "matmul", 7);
    struct reservation a = reserve(fixture, 5000), b = reserve(fixture, 100);
    struct block *freed;
    assert_int_equal(block_pool_acquire(fixture->pool, 1024, &freed), NEO_OK);
    assert_int_equal(block_pool_release(fixture->pool, freed), NEO_OK);
    char *text, expected[512];
    size_t length;
    FILE *file = open_memstream(&text, &length);
    assert_int_equal(block_pool_write(fixture->pool, file, NEO_DUMP_CSV), NEO_OK);
    fclose(file);
    snprintf(expected, sizeof expected,
             "pool_type,layout,mem_ptr,mem_type,mem_pool_size,prim_id,unique_id,mem_size\n"
             "blocks,,%p,heap,128,matmul,7,100\n"
             "blocks,,%p,heap,5120,matmul,7,5000\n"
             "free,,%p,heap,1024,,0,0\n",
             b.block->data, a.block->data, freed->data);
    assert_string_equal(text, expected);
    free(text);
    unreserve(fixture, &a);
    unreserve(fixture, &b);
    file = open_memstream(&text, &length);
    assert_int_equal(block_pool_write(fixture->pool, file, NEO_DUMP_CSV), NEO_OK);
    fclose(file);
    assert_null(strstr(text, "matmul"));
    free(text);
}

static void memory_of_an_idle_implementation_serves_another_one(void **state)
{
    struct fixture *fixture = *state;
    struct block_manager other;
    block_manager_init(&other, fixture->pool);
    struct reservation token = reserve(fixture, BYTES);
    struct block *block = token.block;
    unreserve(fixture, &token);
    assert_int_equal(block_manager_reserve(&other, BYTES, &token), NEO_OK);
    assert_ptr_equal(token.block, block);
    assert_int_equal(block_manager_unreserve(&other, &token), NEO_OK);
    assert_int_equal(block_manager_deinit(&other), NEO_OK);
    assert_int_equal(pool_stats(fixture).creations, 1);
}

static void a_failed_reserve_returns_a_status_and_holds_nothing(void **state)
{
    struct fixture *fixture = *state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        struct reservation token;
        fault_arm(n);
        neo_status status = block_manager_reserve(&fixture->manager, BYTES * n, &token);
        failed = fault_disarm();
        assert_int_equal(status, failed ? NEO_OUT_OF_MEMORY : NEO_OK);
        assert_int_equal(stats_of(fixture).reserved, !failed);
        if (failed)
            assert_int_equal(block_manager_unreserve(&fixture->manager, &token),
                             NEO_INVALID_ARGUMENT);
        else
            unreserve(fixture, &token);
        assert_true(n < 10);
    }
    struct reservation token;
    assert_int_equal(block_manager_reserve(&fixture->manager, SIZE_MAX, &token), NEO_OUT_OF_MEMORY);
}

/* While it allocates, another thread gives back what it has; then there is no memory. */
struct giver {
    struct block_manager *manager;
    struct reservation tokens[2];
    bool fails;
};

static neo_status give_and_fail(void *context, size_t bytes, size_t align, void **out)
{
    struct giver *giver = context;
    if (!giver->fails)
        return block_source_heap.allocate(NULL, bytes, align, out);
    for (size_t i = 0; i < count_of(giver->tokens); i++)
        if (giver->tokens[i].block)
            assert_int_equal(block_manager_unreserve(giver->manager, &giver->tokens[i]), NEO_OK);
    return NEO_OUT_OF_MEMORY;
}

static void a_failed_reserve_leaves_no_idle_block_that_it_alone_allowed(void **state)
{
    (void)state;
    struct block_manager manager;
    struct giver giver = {.manager = &manager};
    struct block_source source = {
        .context = &giver, .allocate = give_and_fail, .release = block_source_heap.release};
    struct block_pool *pool;
    assert_int_equal(block_pool_create(&pool, &source, NULL), NEO_OK);
    block_manager_init(&manager, pool);
    for (size_t i = 0; i < count_of(giver.tokens); i++)
        assert_int_equal(block_manager_reserve(&manager, BYTES, &giver.tokens[i]), NEO_OK);
    giver.fails = true;
    struct reservation token;
    assert_int_equal(block_manager_reserve(&manager, 4 * BYTES, &token), NEO_OUT_OF_MEMORY);
    struct block_manager_stats stats;
    block_manager_stats(&manager, &stats);
    assert_int_equal(stats.reserved, 0);
    assert_int_equal(stats.idle, 0);
    assert_int_equal(block_manager_deinit(&manager), NEO_OK);
    block_pool_destroy(pool);
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

/* ---- threads: the same loop as the known hang, 8 and 64 threads ---- */

enum { ROUNDS = 2000, MOST = 64 };

static void *reserve_and_unreserve(void *argument)
{
    struct fixture *fixture = argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct reservation token = reserve(fixture, BYTES);
        *(volatile char *)token.block->data = 1;
        unreserve(fixture, &token);
    }
    return NULL;
}

static void run_threads(struct fixture *fixture, size_t count, void *(*run)(void *))
{
    pthread_t threads[MOST];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, fixture), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Blocks that existed at the same time; over the whole run a few more are made and trimmed. */
static size_t most_blocks(struct fixture *fixture)
{
    return pool_stats(fixture).peak_bytes / block_pool_class_bytes(BYTES);
}

static void eight_threads_finish_with_at_most_eight_blocks(void **state)
{
    struct fixture *fixture = *state;
    run_threads(fixture, 8, reserve_and_unreserve);
    struct block_manager_stats stats = stats_of(fixture);
    assert_true(most_blocks(fixture) <= stats.peak && stats.peak <= 8);
    assert_int_equal(stats.reserves, 8 * ROUNDS);
}

static void sixty_four_threads_finish_with_at_most_sixty_four_blocks(void **state)
{
    struct fixture *fixture = *state;
    run_threads(fixture, MOST, reserve_and_unreserve);
    struct block_manager_stats stats = stats_of(fixture);
    assert_true(most_blocks(fixture) <= stats.peak && stats.peak <= MOST);
    assert_int_equal(stats.unreserves, MOST * ROUNDS);
}

static struct reservation shared_handle;

static void *lease_and_return(void *argument)
{
    struct fixture *fixture = argument;
    for (int i = 0; i < ROUNDS / 4; i++) {
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
    run_threads(fixture, MOST, lease_and_return);
    assert_int_equal(stats_of(fixture).leased, 0);
    assert_true(most_blocks(fixture) <= MOST);
    unreserve(fixture, &shared_handle);
}

static void *destroy_elsewhere(void *argument)
{
    struct fixture *fixture = argument;
    unreserve(fixture, &shared_handle);
    return NULL;
}

static void a_handle_may_be_destroyed_in_another_thread(void **state)
{
    struct fixture *fixture = *state;
    shared_handle = reserve(fixture, BYTES);
    run_threads(fixture, 1, destroy_elsewhere);
    assert_int_equal(stats_of(fixture).reserved, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_destroyed_handle_s_block_serves_the_next_handle),
        TEST(a_busy_block_makes_a_new_one_instead_of_a_wait),
        TEST(reserving_n_blocks_owns_n_and_frees_the_same_n),
        TEST(a_reservation_is_returned_once),
        TEST(sizes_of_zero_and_beyond_memory_have_a_status),
        TEST(a_token_moves_with_its_owner),
        TEST(blocks_of_different_sizes_are_not_mixed),
        TEST(a_block_is_not_taken_from_under_an_execution),
        TEST(overlapping_executions_of_one_handle_lease_their_own_blocks),
        TEST(an_idle_block_serves_no_smaller_class),
        TEST(beyond_the_budget_nothing_stays_idle),
        TEST(an_execution_of_the_handle_s_very_bytes_works_in_its_block),
        TEST(an_execution_that_needs_more_than_its_handle_has_leases_it),
        TEST(poison_fills_the_memory_of_every_execution),
        TEST(the_pool_s_report_names_who_has_a_block),
        TEST(memory_of_an_idle_implementation_serves_another_one),
        TEST(a_failed_reserve_returns_a_status_and_holds_nothing),
        TEST(a_failed_reserve_leaves_no_idle_block_that_it_alone_allowed),
        TEST(warm_reserve_lease_return_unreserve_allocate_nothing),
        TEST(eight_threads_finish_with_at_most_eight_blocks),
        TEST(sixty_four_threads_finish_with_at_most_sixty_four_blocks),
        TEST(threads_that_execute_one_handle_never_share_memory),
        TEST(a_handle_may_be_destroyed_in_another_thread),
    };
    return cmocka_run_group_tests_name("block_manager", tests, NULL, NULL);
}
