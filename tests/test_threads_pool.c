/* The built-in pool: every task runs once, in any number of threads, after a fork, without memory.
 */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/threading/default_pool.h"
#include "src/threading/parallel.h"
#include "tests/support/fault.h"

#define MOST_TASKS 2000

struct marks {
    atomic_int runs[MOST_TASKS];
    atomic_int wrong_n;
    int n;
};

static void mark(void *argument, int i, int n)
{
    struct marks *marks = argument;
    atomic_fetch_add(&marks->runs[i], 1);
    if (n != marks->n)
        atomic_fetch_add(&marks->wrong_n, 1);
}

static void run_and_check(const struct parallel *p, int n)
{
    static _Thread_local struct marks marks;
    for (int i = 0; i < MOST_TASKS; i++)
        atomic_store(&marks.runs[i], 0);
    marks.n = n;
    parallel_for(p, n, mark, &marks);
    for (int i = 0; i < MOST_TASKS; i++)
        assert_int_equal(atomic_load(&marks.runs[i]), i < n);
    assert_int_equal(atomic_load(&marks.wrong_n), 0);
}

static struct default_pool *make_pool(int threads)
{
    struct default_pool *pool;
    assert_int_equal(default_pool_create(&pool, &(struct default_pool_options){.threads = threads}),
                     NEO_OK);
    return pool;
}

static void every_task_runs_exactly_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8, 40};
    static const int tasks[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000};
    for (size_t t = 0; t < count_of(threads); t++) {
        struct default_pool *pool = make_pool(threads[t]);
        struct parallel p;
        parallel_init(&p, NULL, pool, 0);
        assert_int_equal(parallel_threads(&p), threads[t]);
        for (size_t n = 0; n < count_of(tasks); n++)
            for (int repeat = 0; repeat < 5; repeat++)
                run_and_check(&p, tasks[n]);
        default_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_exactly_once),
    };
    return cmocka_run_group_tests_name("threads_pool", tests, NULL, NULL);
}
