/* Reservations of one implementation, and what its threads do with them.
 *
 * Pools built from semaphores, counts and lists of anonymous blocks are known to go wrong in these
 * ways; each has a test here, in block_leases.c (l), block_pool.c (p),
 * block_interleavings.c (i), tests/primitive/cache.c or tests/primitive/cache_flight.c (c),
 * tests/primitive/implementation_cache.c or tests/primitive/lives.c (a) that fails if it happens to
 * us:
 *
 *  F1  a list is looked at without its lock   (i) every order; the thread tests under TSan
 *  F2  the loser of a race for a block waits  a_busy_block_makes_a_new_one_instead_of_a_wait
 *  F3  a semaphore is replaced under waiters  eight_threads_finish_with_at_most_eight_blocks
 *  F4  a permit too many lets a third one in  (i) three reservations
 *  F5  two disciplines for one counter        (i) every order: the counts agree at the end
 *  F6  n asked for, one reserved, n released  reserving_n_blocks_owns_n_and_frees_the_same_n
 *  F7  a reservation has no identity          a_reservation_is_returned_once
 *      and sizes mix                          blocks_of_different_sizes_are_not_mixed
 *  F8  a block is taken from an execution     (l) a_block_is_not_taken_from_under_an_execution
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
 *  F16 each run maps its memory again         (l) warm_reserve_lease_return_unreserve_...
 *                                             (a) nothing_is_written_to_a_plan_by_its_execution
 *  F17 no alignment, accounting, trim, fork   (p) blocks_are_aligned_and_whole
 *                                             (p) trim_frees_..., (a) statistics_add_up
 *                                             (c) a_forked_child_can_use_the_cache_and_exit
 *  F18 moving an owner leaves pointers behind a_token_moves_with_its_owner */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/block_fixture.h"
#include "tests/support/fault.h"

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

/* ---- threads: the same loop as the known hang, 8 and 64 threads ---- */

enum { ROUNDS = 2000 };

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
    run_threads(fixture, MOST_THREADS, reserve_and_unreserve);
    struct block_manager_stats stats = stats_of(fixture);
    assert_true(most_blocks(fixture) <= stats.peak && stats.peak <= MOST_THREADS);
    assert_int_equal(stats.unreserves, MOST_THREADS * ROUNDS);
}

static struct reservation shared_handle;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        BLOCK_TEST(a_destroyed_handle_s_block_serves_the_next_handle),
        BLOCK_TEST(a_busy_block_makes_a_new_one_instead_of_a_wait),
        BLOCK_TEST(reserving_n_blocks_owns_n_and_frees_the_same_n),
        BLOCK_TEST(a_reservation_is_returned_once),
        BLOCK_TEST(sizes_of_zero_and_beyond_memory_have_a_status),
        BLOCK_TEST(a_token_moves_with_its_owner),
        BLOCK_TEST(blocks_of_different_sizes_are_not_mixed),
        BLOCK_TEST(an_idle_block_serves_no_smaller_class),
        BLOCK_TEST(the_pool_s_report_names_who_has_a_block),
        BLOCK_TEST(memory_of_an_idle_implementation_serves_another_one),
        BLOCK_TEST(a_failed_reserve_returns_a_status_and_holds_nothing),
        BLOCK_TEST(a_failed_reserve_leaves_no_idle_block_that_it_alone_allowed),
        BLOCK_TEST(eight_threads_finish_with_at_most_eight_blocks),
        BLOCK_TEST(sixty_four_threads_finish_with_at_most_sixty_four_blocks),
        BLOCK_TEST(a_handle_may_be_destroyed_in_another_thread),
    };
    return cmocka_run_group_tests_name("block_manager", tests, NULL, NULL);
}
