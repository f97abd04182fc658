/* One queue, one lock, some threads: simple on purpose. */
#include "tests/support/pools.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/test.h"

#define QUEUE 1024 /* jobs that do not fit are run by the thread that brings them */
#define MOST_THREADS 128

struct job {
    neo_task_fn *task;
    void *argument;
    int i, n;
};

struct test_pool {
    neo_threadpool table;
    enum test_pool_kind kind;
    int threads, workers;
    pthread_t worker[MOST_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job queue[QUEUE];
    int first, queued;
    int unfinished; /* queued or running */
    bool ending;
    uint64_t random;
    struct test_pool_counts counts;
};

static const char *const names[] = {
#define NAME(kind, text) [kind] = text,
    TEST_POOL_LIST(NAME)
#undef NAME
};

const char *test_pool_name(enum test_pool_kind kind)
{
    return names[kind];
}

static _Thread_local const struct test_pool *running; /* the pool whose task this thread runs */

static void lock(struct test_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
}

static void unlock(struct test_pool *pool)
{
    (void)pthread_mutex_unlock(&pool->lock);
}

/* With the lock held, which it gives up while the task runs. */
static void run_job(struct test_pool *pool, struct job job)
{
    pool->counts.tasks++;
    unlock(pool);
    const struct test_pool *outer = running;
    running = pool;
    job.task(job.argument, job.i, job.n);
    running = outer;
    lock(pool);
    pool->unfinished--;
    if (!pool->unfinished)
        (void)pthread_cond_broadcast(&pool->changed);
}

static void run_first_job(struct test_pool *pool)
{
    struct job job = pool->queue[pool->first];
    pool->first = (pool->first + 1) % QUEUE;
    pool->queued--;
    run_job(pool, job);
}

static void *worker_main(void *argument)
{
    struct test_pool *pool = argument;
    lock(pool);
    while (pool->queued || !pool->ending)
        if (pool->queued)
            run_first_job(pool);
        else
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
    unlock(pool);
    return NULL;
}

/* With the lock held. */
static void submit(struct test_pool *pool, struct job job)
{
    pool->unfinished++;
    if (pool->queued == QUEUE) {
        run_job(pool, job);
        return;
    }
    pool->queue[(pool->first + pool->queued++) % QUEUE] = job;
    (void)pthread_cond_broadcast(&pool->changed);
}

/* With the lock held. Returns when nothing of the pool is unfinished, whoever submitted it. */
static void finish(struct test_pool *pool)
{
    while (pool->unfinished)
        if (pool->queued)
            run_first_job(pool);
        else
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
}

static uint64_t next_random(struct test_pool *pool)
{
    pool->random ^= pool->random << 13;
    pool->random ^= pool->random >> 7;
    pool->random ^= pool->random << 17;
    return pool->random;
}

/* ---- the tables ---- */

static int num_threads(void *context)
{
    return ((struct test_pool *)context)->threads;
}

static int in_parallel(void *context)
{
    return running == context;
}

static void count_call(struct test_pool *pool, int n)
{
    pool->counts.calls++;
    if (n > pool->counts.most)
        pool->counts.most = n;
}

static void run_inline(void *context, int n, neo_task_fn *task, void *argument)
{
    struct test_pool *pool = context;
    lock(pool);
    count_call(pool, n);
    for (int i = 0; i < n; i++) {
        pool->unfinished++;
        run_job(pool, (struct job){task, argument, i, n});
    }
    unlock(pool);
}

static void run_asynchronous(void *context, int n, neo_task_fn *task, void *argument)
{
    struct test_pool *pool = context;
    lock(pool);
    count_call(pool, n);
    for (int i = 0; i < n; i++)
        submit(pool, (struct job){task, argument, i, n});
    unlock(pool);
}

static void wait_all(void *context)
{
    struct test_pool *pool = context;
    assert_ptr_not_equal(running, pool); /* a task that waits for itself */
    lock(pool);
    finish(pool);
    unlock(pool);
}

static void run_synchronous(void *context, int n, neo_task_fn *task, void *argument)
{
    run_asynchronous(context, n, task, argument);
    wait_all(context);
}

/* From a random start in steps of a number that has no factor in common with n, so that each index
 * comes once; every now and then the caller runs one itself, or all of them. */
static void run_hostile(void *context, int n, neo_task_fn *task, void *argument)
{
    struct test_pool *pool = context;
    static const int primes[] = {10007, 104729, 1299709, 7919};
    lock(pool);
    count_call(pool, n);
    uint64_t random = next_random(pool);
    int prime = primes[random % count_of(primes)];
    int i = (int)((random >> 8) % (uint64_t)n);
    int inline_each = (int)((random >> 40) % 5); /* 0: none, 1: all, else about one in so many */
    int step = n % prime ? prime % n : 1;
    for (int left = n; left; left--, i = (i + step) % n) {
        struct job job = {task, argument, i, n};
        bool run_here = inline_each && next_random(pool) % (uint64_t)inline_each == 0;
        pool->unfinished += run_here;
        if (run_here)
            run_job(pool, job);
        else
            submit(pool, job);
    }
    unlock(pool);
}

/* By kind; a third of the told threads (rounded up) is what the hostile pool really has. */
static const struct {
    uint32_t flags;
    int workers_divisor; /* 0: no workers */
    void (*parallel_for)(void *context, int n, neo_task_fn *task, void *argument);
    void (*wait)(void *context);
} kinds[] = {
    [TEST_POOL_SYNCHRONOUS] = {0, 1, run_synchronous, NULL},
    [TEST_POOL_ASYNCHRONOUS] = {NEO_THREADPOOL_ASYNCHRONOUS, 1, run_asynchronous, NULL},
    [TEST_POOL_AWAITED] = {NEO_THREADPOOL_ASYNCHRONOUS, 1, run_asynchronous, wait_all},
    [TEST_POOL_DEFERRED] = {NEO_THREADPOOL_ASYNCHRONOUS, 0, run_asynchronous, wait_all},
    [TEST_POOL_ONE] = {0, 0, run_inline, NULL},
    [TEST_POOL_HOSTILE] = {NEO_THREADPOOL_ASYNCHRONOUS, 3, run_hostile, NULL},
};

struct test_pool *test_pool_create(enum test_pool_kind kind, int threads)
{
    struct test_pool *pool = calloc(1, sizeof *pool);
    assert_non_null(pool);
    assert_in_range(threads, 1, MOST_THREADS);
    pool->kind = kind;
    pool->threads = kind == TEST_POOL_ONE ? 1 : threads;
    pool->random = 88172645463325252u;
    pool->table = (neo_threadpool){pool,        kinds[kind].flags,        num_threads,
                                   in_parallel, kinds[kind].parallel_for, kinds[kind].wait};
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->changed, NULL);
    int divisor = kinds[kind].workers_divisor;
    int workers = divisor ? (threads + divisor - 1) / divisor : 0;
    for (; pool->workers < workers; pool->workers++)
        assert_int_equal(pthread_create(&pool->worker[pool->workers], NULL, worker_main, pool), 0);
    return pool;
}

void test_pool_destroy(struct test_pool *pool)
{
    lock(pool);
    finish(pool);
    pool->ending = true;
    (void)pthread_cond_broadcast(&pool->changed);
    unlock(pool);
    for (int i = 0; i < pool->workers; i++)
        (void)pthread_join(pool->worker[i], NULL);
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->changed);
    free(pool);
}

const neo_threadpool *test_pool_table(struct test_pool *pool)
{
    return &pool->table;
}

struct test_pool_counts test_pool_counts(struct test_pool *pool)
{
    lock(pool);
    struct test_pool_counts counts = pool->counts;
    unlock(pool);
    return counts;
}
