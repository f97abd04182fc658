/* One pool of blocks and a manager of it for each test; reserving must succeed. */
#ifndef TESTS_SUPPORT_BLOCK_FIXTURE_H
#define TESTS_SUPPORT_BLOCK_FIXTURE_H

#include "src/memory/blocks/manager.h"

enum { BYTES = 5000, MOST_THREADS = 64 /* at most */ };

struct fixture {
    struct block_pool *pool;
    struct block_manager manager;
};

/* cmocka fixtures. After a test nothing may be held. */
int block_set_up(void **state);
int block_tear_down(void **state);

#define BLOCK_TEST(name) cmocka_unit_test_setup_teardown(name, block_set_up, block_tear_down)

struct reservation reserve(struct fixture *fixture, size_t bytes);
void unreserve(struct fixture *fixture, struct reservation *reservation);
struct block_manager_stats stats_of(struct fixture *fixture);
struct block_pool_stats pool_stats(struct fixture *fixture);

/* All with the fixture as their argument. */
void run_threads(struct fixture *fixture, size_t count, void *(*run)(void *));

/* Blocks that existed at the same time; over a whole run a few more are made and trimmed. */
size_t most_blocks(struct fixture *fixture);

#endif
