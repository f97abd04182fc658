/* Tasks on users' pools of every kind, and on the built-in one behind a table. The tests with a
 * letter and a digit in front are for mistakes that other libraries' adapters have made. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/threading/default_pool.h"
#include "src/threading/nesting.h"
#include "src/threading/parallel.h"
#include "src/threading/partition.h"
#include "tests/support/fault.h"
#include "tests/support/pools.h"

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
    struct marks *marks = calloc(1, sizeof *marks);
    assert_non_null(marks);
    marks->n = n;
    parallel_for(p, n, mark, marks);
    for (int i = 0; i < MOST_TASKS; i++)
        assert_int_equal(atomic_load(&marks->runs[i]), i < n);
    assert_int_equal(atomic_load(&marks->wrong_n), 0);
    free(marks);
}

/* ---- a pool of each kind, as struct parallel ---- */

enum { BUILT_IN = TEST_POOL_KINDS, CALLER, KINDS };

struct subject {
    struct parallel p;
    struct test_pool *user;
    struct default_pool *builtin;
};

static struct subject make(int kind, int threads)
{
    struct subject s = {.user = NULL};
    if (kind < TEST_POOL_KINDS)
        s.user = test_pool_create((enum test_pool_kind)kind, threads);
    if (kind == BUILT_IN)
        assert_int_equal(
            default_pool_create(&s.builtin, &(neo_threadpool_options){.threads = threads}), NEO_OK);
    parallel_init(&s.p, s.user ? test_pool_table(s.user) : NULL, s.builtin, 0);
    return s;
}

static void unmake(struct subject *s)
{
    if (s->user)
        test_pool_destroy(s->user);
    default_pool_destroy(s->builtin);
}

/* ---- every kind ---- */

/* More tasks than threads, fewer, one, none: T3 skipped indices when there were fewer threads. */
static void t3_every_index_runs_once_on_every_pool(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 7, 20};
    static const int tasks[] = {0, 1, 2, 3, 7, 8, 64, MOST_TASKS};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t t = 0; t < count_of(threads); t++) {
            struct subject s = make(kind, threads[t]);
            for (size_t n = 0; n < count_of(tasks); n++)
                run_and_check(&s.p, tasks[n]);
            unmake(&s);
        }
}

static void the_number_of_threads_is_the_pools_within_the_limit(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct subject s = make(kind, 7);
        int all = kind == CALLER || kind == TEST_POOL_ONE ? 1 : 7;
        assert_int_equal(parallel_threads(&s.p), all);
        for (int limit = 1; limit < 10; limit++) {
            struct parallel p;
            parallel_init(&p, s.user ? test_pool_table(s.user) : NULL, s.builtin, limit);
            assert_int_equal(parallel_threads(&p), limit < all ? limit : all);
        }
        unmake(&s);
    }
}

/* ---- nesting ---- */

struct nest {
    const struct parallel *outer, *inner;
    atomic_int inner_tasks, not_one, not_here;
};

struct inner {
    struct nest *nest;
    pthread_t caller;
};

static void inner_task(void *argument, int i, int n)
{
    (void)i, (void)n;
    struct inner *inner = argument;
    atomic_fetch_add(&inner->nest->inner_tasks, 1);
    if (!pthread_equal(inner->caller, pthread_self()))
        atomic_fetch_add(&inner->nest->not_here, 1);
}

static void outer_task(void *argument, int i, int n)
{
    (void)i, (void)n;
    struct nest *nest = argument;
    struct inner inner = {nest, pthread_self()};
    if (parallel_threads(nest->inner) != 1)
        atomic_fetch_add(&nest->not_one, 1);
    parallel_for(nest->inner, 5, inner_task, &inner);
}

/* In all pairs of pools, the same one included: T2 had all workers wait for each other. */
static void t2_nested_calls_run_inline(void **state)
{
    (void)state;
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            struct subject outer = make(a, 3), other = make(b, 3);
            struct nest nest = {.outer = &outer.p, .inner = a == b ? &outer.p : &other.p};
            parallel_for(&outer.p, 16, outer_task, &nest);
            assert_int_equal(atomic_load(&nest.inner_tasks), 16 * 5);
            assert_int_equal(atomic_load(&nest.not_one), 0);
            assert_int_equal(atomic_load(&nest.not_here), 0);
            unmake(&outer);
            unmake(&other);
        }
}

/* The user's own task, given to the user's pool without us, calls us: each worker may do so. */
static void t2_calls_from_a_users_task_do_not_wait_for_the_pool(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++) {
        struct subject s = make(kind, 3);
        struct nest nest = {.inner = &s.p};
        const neo_threadpool *table = test_pool_table(s.user);
        table->parallel_for(table->context, 40, outer_task, &nest);
        test_pool_destroy(s.user); /* waits */
        assert_int_equal(atomic_load(&nest.inner_tasks), 40 * 5);
        assert_int_equal(atomic_load(&nest.not_one), 0);
        assert_int_equal(atomic_load(&nest.not_here), 0);
    }
}

/* ---- nothing stays behind ---- */

/* T1 took the caller's own pool away from it; here two pools are used in turn by one thread. */
static void t1_a_call_leaves_nothing_in_the_calling_thread(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++) {
        struct subject mine = make(kind, 3), other = make(TEST_POOL_SYNCHRONOUS, 2);
        for (int i = 0; i < 10; i++) {
            run_and_check(&mine.p, 8);
            assert_false(parallel_is_nested());
            run_and_check(&other.p, 8);
            assert_false(parallel_is_nested());
        }
        assert_int_equal(test_pool_counts(mine.user).tasks, 80);
        assert_int_equal(test_pool_counts(other.user).tasks, 80);
        assert_int_equal(parallel_threads(&mine.p), kind == TEST_POOL_ONE ? 1 : 3);
        unmake(&mine);
        unmake(&other);
    }
}

static int changing_threads;
static int answer_changing(void *context)
{
    (void)context;
    return changing_threads;
}

/* T5 took the first pool's number of threads for ever. */
static void t5_a_changed_number_of_threads_is_seen_at_once(void **state)
{
    (void)state;
    struct subject s = make(TEST_POOL_SYNCHRONOUS, 2);
    s.p.user.num_threads = answer_changing;
    static const int answers[] = {4, 1, 9, 2, 0, -3};
    for (size_t i = 0; i < count_of(answers); i++) {
        changing_threads = answers[i];
        assert_int_equal(parallel_threads(&s.p), answers[i] > 1 ? answers[i] : 1);
        run_and_check(&s.p, parallel_threads(&s.p));
    }
    unmake(&s);
}

/* ---- results ---- */

#define ROWS 61
#define DEPTH 257

struct product {
    float matrix[ROWS][DEPTH], vector[DEPTH], out[ROWS];
};

/* The rows come from the task's index, never from the thread: T4 left parts unpacked. */
static void multiply_rows(void *argument, int i, int n)
{
    struct product *p = argument;
    struct span rows = partition_span(ROWS, (size_t)n, (size_t)i);
    for (size_t r = rows.begin; r < rows.end; r++) {
        float sum = 0;
        for (size_t k = 0; k < DEPTH; k++)
            sum += p->matrix[r][k] * p->vector[k];
        p->out[r] = sum;
    }
}

static void t4_t7_results_have_the_same_bits_for_every_pool_and_count(void **state)
{
    (void)state;
    static struct product p;
    static float want[ROWS];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < DEPTH; k++) {
            p.matrix[r][k] = 1.0f / (float)(1 + r + 3 * k);
            p.vector[k] = (float)(k % 7) - 3.1f;
        }
    multiply_rows(&p, 0, 1);
    memcpy(want, p.out, sizeof want);
    for (int kind = 0; kind < KINDS; kind++) {
        struct subject s = make(kind, 5);
        for (int n = 1; n <= 128; n++) {
            memset(p.out, 0xff, sizeof p.out);
            parallel_for(&s.p, n, multiply_rows, &p);
            assert_memory_equal(p.out, want, sizeof want);
        }
        unmake(&s);
    }
}

/* ---- several callers ---- */

struct caller {
    const struct parallel *p;
    int seed;
    atomic_int tasks;
    int wanted;
};

static void count_task(void *argument, int i, int n)
{
    (void)i, (void)n;
    atomic_fetch_add(&((struct caller *)argument)->tasks, 1);
}

static void *call_often(void *argument)
{
    struct caller *c = argument;
    for (int i = 0; i < 200; i++) {
        int n = 1 + (i * 7 + c->seed) % 20;
        c->wanted += n;
        parallel_for(c->p, n, count_task, c);
        if (atomic_load(&c->tasks) != c->wanted)
            return c; /* the call returned before its tasks had run */
    }
    return NULL;
}

static void several_callers_share_a_pool(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct subject s = make(kind, 4);
        struct caller callers[4];
        pthread_t threads[count_of(callers)];
        for (size_t i = 0; i < count_of(callers); i++) {
            callers[i] = (struct caller){.p = &s.p, .seed = (int)i};
            assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
        }
        for (size_t i = 0; i < count_of(callers); i++) {
            void *failure;
            assert_int_equal(pthread_join(threads[i], &failure), 0);
            assert_null(failure);
        }
        unmake(&s);
    }
}

/* ---- cost ---- */

static void calls_allocate_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct subject s = make(kind, 3);
        struct caller c = {.p = &s.p};
        parallel_for(&s.p, 3, count_task, &c);
        size_t before = fault_allocations();
        for (int i = 0; i < 100; i++)
            parallel_for(&s.p, 3, count_task, &c);
        assert_int_equal(fault_allocations(), before);
        unmake(&s);
    }
}

/* A single task is not worth a thread: it runs here, and the user's pool never hears of it. */
static void t9_one_task_runs_in_the_caller(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct subject s = make(kind, 3);
        struct nest nest = {.inner = NULL};
        struct inner inner = {&nest, pthread_self()};
        parallel_for(&s.p, 1, inner_task, &inner);
        assert_int_equal(atomic_load(&nest.inner_tasks), 1);
        assert_int_equal(atomic_load(&nest.not_here), 0);
        if (s.user)
            assert_int_equal(test_pool_counts(s.user).calls, 0);
        unmake(&s);
    }
}

static void note_tile(void *argument, struct span mine, int slot)
{
    (void)slot;
    atomic_fetch_add((atomic_int *)argument, (int)(mine.end - mine.begin));
}

static void there_are_no_more_tasks_than_tiles(void **state)
{
    (void)state;
    struct subject s = make(TEST_POOL_SYNCHRONOUS, 7);
    for (size_t tiles = 0; tiles < 10; tiles++) {
        long before = test_pool_counts(s.user).tasks;
        atomic_int done = 0;
        parallel_for_tiles(&s.p, tiles, 7, note_tile, &done);
        assert_int_equal(done, tiles);
        assert_int_equal(test_pool_counts(s.user).tasks - before,
                         tiles < 2 ? 0 : min_size(tiles, 7));
    }
    unmake(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t3_every_index_runs_once_on_every_pool),
        cmocka_unit_test(the_number_of_threads_is_the_pools_within_the_limit),
        cmocka_unit_test(t2_nested_calls_run_inline),
        cmocka_unit_test(t2_calls_from_a_users_task_do_not_wait_for_the_pool),
        cmocka_unit_test(t1_a_call_leaves_nothing_in_the_calling_thread),
        cmocka_unit_test(t5_a_changed_number_of_threads_is_seen_at_once),
        cmocka_unit_test(t4_t7_results_have_the_same_bits_for_every_pool_and_count),
        cmocka_unit_test(several_callers_share_a_pool),
        cmocka_unit_test(calls_allocate_nothing),
        cmocka_unit_test(t9_one_task_runs_in_the_caller),
        cmocka_unit_test(there_are_no_more_tasks_than_tiles),
    };
    return cmocka_run_group_tests_name("threads_user", tests, NULL, NULL);
}
