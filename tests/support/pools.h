/* Thread pools as users have them, for running any test on: each follows the contract of
 * neo_threadpool and uses all the freedom that it leaves. They allocate only when created. */
#ifndef TESTS_SUPPORT_POOLS_H
#define TESTS_SUPPORT_POOLS_H

#include "neoprene/threadpool.h"

#define TEST_POOL_LIST(X)                                                      \
    X(TEST_POOL_SYNCHRONOUS, "synchronous")   /* returns when all have run */  \
    X(TEST_POOL_ASYNCHRONOUS, "asynchronous") /* returns at once, no wait() */ \
    X(TEST_POOL_AWAITED, "awaited")           /* the same with wait() */       \
    X(TEST_POOL_DEFERRED, "deferred")         /* runs tasks only in wait() */  \
    X(TEST_POOL_ONE, "one")                   /* one thread: the caller */     \
    X(TEST_POOL_HOSTILE, "hostile")           /* any order, any thread, fewer threads than told */

enum test_pool_kind {
#define TEST_POOL_ENTRY(name, text) name,
    TEST_POOL_LIST(TEST_POOL_ENTRY)
#undef TEST_POOL_ENTRY
        TEST_POOL_KINDS
};

const char *test_pool_name(enum test_pool_kind kind);

struct test_pool;

/* num_threads() answers threads; the hostile pool has a third of them. Fails the test when it
 * cannot be made. */
struct test_pool *test_pool_create(enum test_pool_kind kind, int threads);

/* Waits for all tasks and joins the threads. */
void test_pool_destroy(struct test_pool *pool);

/* To pass where a stream is made. */
const neo_threadpool *test_pool_table(struct test_pool *pool);

/* What has happened since the pool was made. */
struct test_pool_counts {
    long calls; /* of parallel_for() */
    long tasks; /* that have been run */
    int most;   /* tasks in one call, the largest number so far */
};
struct test_pool_counts test_pool_counts(struct test_pool *pool);

#endif
