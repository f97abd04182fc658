/* The built-in pool: concurrent callers, idle threads, signals, failures, short lives. */
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/core/log.h"
#include "src/threading/parallel.h"
#include "src/threading/threads.h"
#include "tests/support/fault.h"
#include "tests/support/meeting.h"

static void all_threads_work_at_the_same_time(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 6; threads++) {
        struct default_pool *pool = pool_of(threads);
        for (int repeat = 0; repeat < 3; repeat++)
            hold_meeting(pool, threads, &(struct meeting){0});
        default_pool_destroy(pool);
    }
}

static void sleeping_threads_wake_up(void **state)
{
    (void)state;
    struct default_pool *pool = make_pool(&(neo_threadpool_options){.threads = 20, .spin_us = -1});
    for (int repeat = 0; repeat < 3; repeat++) {
        hold_meeting(pool, 20, &(struct meeting){0});
        (void)usleep(2000);
    }
    default_pool_destroy(pool);
}

/* Short calls take tasks back from threads that sleep and that nobody has woken yet: the next call
 * must still know that they sleep. */
static void threads_that_slept_through_a_call_wake_up_for_the_next(void **state)
{
    (void)state;
    struct default_pool *pool = make_pool(&(neo_threadpool_options){.threads = 20, .spin_us = -1});
    for (int repeat = 0; repeat < 10; repeat++) {
        hold_meeting(pool, 20, &(struct meeting){0});
        (void)usleep(2000);
        default_pool_run(pool, 20, do_nothing, NULL);
    }
    default_pool_destroy(pool);
}

/* ---- two callers ---- */

struct second {
    struct default_pool *pool;
    int n;
    atomic_int tasks;
    atomic_bool done;
};

static void count_second(void *argument, int i, int n)
{
    (void)i, (void)n;
    atomic_fetch_add(&((struct second *)argument)->tasks, 1);
}

static void *run_second(void *argument)
{
    struct second *s = argument;
    default_pool_run(s->pool, s->n, count_second, s);
    atomic_store(&s->done, true);
    return NULL;
}

/* The first task of the first call stays until the other call is over. */
static void wait_for_second(void *argument, int i, int n)
{
    struct second *s = argument;
    (void)n;
    uint64_t deadline = log_now_ns() + UINT64_C(5000000000);
    while (i == 0 && !atomic_load(&s->done) && log_now_ns() < deadline)
        (void)sched_yield();
}

/* T6 had one lock around every call; here a call begins and ends while another one runs. */
static void t6_a_call_does_not_wait_for_another_one(void **state)
{
    (void)state;
    for (int tasks = 2; tasks <= 4; tasks++) {
        struct default_pool *pool = pool_of(3);
        struct second second = {.pool = pool, .n = 9};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_second, &second), 0);
        default_pool_run(pool, tasks, wait_for_second, &second);
        assert_true(atomic_load(&second.done));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(atomic_load(&second.tasks), 9);
        default_pool_destroy(pool);
    }
}

/* ---- no more than needed ---- */

static int count_threads_of_process(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count;
}

/* A joined thread is listed a little longer: waits until the count has been the same for a while.
 */
static int settled_threads_of_process(void)
{
    int count = count_threads_of_process();
    for (int same = 0; same < 20; same++) {
        (void)usleep(1000);
        int now = count_threads_of_process();
        same = now == count ? same : 0;
        count = now;
    }
    return count;
}

/* T9: pools that nobody uses must not have threads. */
static void t9_threads_exist_only_after_the_first_call_that_needs_them(void **state)
{
    (void)state;
    int before = settled_threads_of_process();
    struct default_pool *pool = pool_of(5);
    default_pool_run(pool, 1, do_nothing, NULL);
    assert_int_equal(count_threads_of_process(), before);
    default_pool_run(pool, 2, do_nothing, NULL);
    assert_int_equal(count_threads_of_process(), before + 4);
    default_pool_destroy(pool);
    assert_int_equal(settled_threads_of_process(), before);
}

struct visitors {
    pthread_mutex_t lock;
    pthread_t threads[64];
    size_t count;
};

static void visit(void *argument, int i, int n)
{
    struct visitors *v = argument;
    (void)i, (void)n;
    (void)pthread_mutex_lock(&v->lock);
    size_t at = 0;
    while (at < v->count && !pthread_equal(v->threads[at], pthread_self()))
        at++;
    if (at == v->count)
        v->threads[v->count++] = pthread_self();
    (void)pthread_mutex_unlock(&v->lock);
}

static void few_tasks_disturb_few_threads(void **state)
{
    (void)state;
    struct default_pool *pool = pool_of(8);
    struct visitors visitors = {.lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < 500; i++)
        default_pool_run(pool, 3, visit, &visitors);
    assert_in_range(visitors.count, 1, 3); /* the same three every time */
    default_pool_destroy(pool);
}

static uint64_t cpu_time_ns(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void idle_threads_use_no_processor(void **state)
{
    (void)state;
    static const int spins_us[] = {0, -1}; /* the default; none at all */
    for (size_t i = 0; i < count_of(spins_us); i++) {
        struct default_pool *pool =
            make_pool(&(neo_threadpool_options){.threads = 4, .spin_us = spins_us[i]});
        hold_meeting(pool, 4, &(struct meeting){0});
        (void)usleep(20000); /* asleep after 1 ms of their own; give them a processor for it */
        uint64_t before = cpu_time_ns();
        (void)usleep(200000);
        assert_true(cpu_time_ns() - before < UINT64_C(10000000));
        default_pool_destroy(pool);
    }
}

/* ---- signals ---- */

static void check_signals(struct meeting *m)
{
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM, SIGPROF};
    for (size_t i = 0; i < count_of(signals); i++)
        if (sigismember(&mask, signals[i]) != 1)
            atomic_fetch_add(&m->bad, 1);
}

static void workers_take_no_signals(void **state)
{
    (void)state;
    sigset_t before, own, after;
    (void)sigemptyset(&own);
    (void)sigaddset(&own, SIGUSR2);
    (void)pthread_sigmask(SIG_SETMASK, &own, &before);
    struct default_pool *pool = pool_of(3);
    hold_meeting(pool, 3, &(struct meeting){.check = check_signals});
    (void)pthread_sigmask(SIG_SETMASK, &before, &after);
    for (int signal = 1; signal < SIGRTMIN; signal++) /* the caller's are as they were */
        assert_int_equal(sigismember(&after, signal), signal == SIGUSR2);
    default_pool_destroy(pool);
}

/* ---- numbers from the environment ---- */

static void the_environment_sets_the_number_of_threads(void **state)
{
    (void)state;
    neo_set_verbose(0);
    assert_int_equal(unsetenv("NEOPRENE_NUM_THREADS"), 0);
    int machines = threads_default();
    static const struct {
        const char *text;
        int threads; /* 0: the machine's */
    } rows[] = {{"1", 1},  {"37", 37}, {"512", 512}, {"0", 0},    {"513", 0},
                {"-2", 0}, {"", 0},    {"4x", 0},    {"many", 0}, {"2", 2}};
    for (size_t i = 0; i < count_of(rows); i++) {
        assert_int_equal(setenv("NEOPRENE_NUM_THREADS", rows[i].text, 1), 0);
        int want = rows[i].threads ? rows[i].threads : machines;
        struct default_pool *pool = pool_of(0);
        assert_int_equal(default_pool_threads(pool), want);
        default_pool_destroy(pool);
    }
    assert_int_equal(unsetenv("NEOPRENE_NUM_THREADS"), 0);
}

/* ---- the public table ---- */

static void the_public_pool_is_checked_and_usable(void **state)
{
    (void)state;
    neo_threadpool pool;
    assert_int_equal(neo_threadpool_create(NULL, NULL), NEO_INVALID_ARGUMENT);
    const neo_threadpool_options wrong[] = {
        {.threads = -1}, {.threads = 513}, {.affinity = (neo_affinity)4}};
    for (size_t i = 0; i < count_of(wrong); i++) {
        memset(&pool, 0xff, sizeof pool);
        assert_int_equal(neo_threadpool_create(&pool, &wrong[i]), NEO_INVALID_ARGUMENT);
        assert_null(pool.context);
        neo_threadpool_destroy(&pool);
    }
    assert_int_equal(neo_threadpool_create(&pool, NULL), NEO_OK);
    assert_int_equal(pool.num_threads(pool.context), threads_default());
    neo_threadpool_destroy(&pool);
    assert_null(pool.context);
    neo_threadpool_destroy(&pool);
    neo_threadpool_destroy(NULL);

    assert_int_equal(neo_threadpool_create(&pool, &(neo_threadpool_options){.threads = 3}), NEO_OK);
    struct second count = {.n = 10};
    pool.parallel_for(pool.context, 10, count_second, &count);
    assert_int_equal(atomic_load(&count.tasks), 10);
    assert_false(pool.in_parallel(pool.context));
    struct parallel p;
    parallel_init(&p, &pool, NULL, 0);
    assert_int_equal(parallel_threads(&p), 3);
    assert_ptr_equal(p.builtin, pool.context); /* no table in between */
    neo_threadpool_destroy(&pool);
}

/* ---- failures ---- */

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    size_t n = 1;
    for (;; n++) {
        neo_threadpool pool;
        fault_arm(n);
        neo_status status = neo_threadpool_create(&pool, &(neo_threadpool_options){.threads = 3});
        if (!fault_disarm()) {
            assert_int_equal(status, NEO_OK);
            neo_threadpool_destroy(&pool);
            break;
        }
        assert_int_equal(status, NEO_OUT_OF_MEMORY);
        assert_null(pool.context);
    }
    assert_true(n > 1);
}

/* The linker's --wrap fixes these names; see tests.mk. */
typedef void *thread_main(void *argument);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_main *main,
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_main *main,
                          void *argument);

static atomic_int creatable = INT_MAX; /* threads that the system still grants */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_main *main,
                          void *argument)
{
    if (atomic_load(&creatable) <= 0)
        return EAGAIN;
    atomic_fetch_sub(&creatable, 1);
    return __real_pthread_create(thread, attributes, main, argument);
}

static void a_pool_works_with_the_threads_that_can_be_created(void **state)
{
    (void)state;
    for (int granted = 0; granted < 4; granted++)
        for (int bound = 0; bound < 2; bound++) {
            struct default_pool *pool = make_pool(&(neo_threadpool_options){
                .threads = 6, .affinity = bound ? NEO_AFFINITY_COMPACT : NEO_AFFINITY_NONE});
            struct visitors visitors = {.lock = PTHREAD_MUTEX_INITIALIZER};
            struct second count = {.n = 100};
            atomic_store(&creatable, granted);
            default_pool_run(pool, 100, count_second, &count);
            atomic_store(&creatable, INT_MAX);
            default_pool_run(pool, 100, visit, &visitors);
            assert_int_equal(atomic_load(&count.tasks), 100);
            assert_in_range(visitors.count, 1, granted + 1);
            hold_meeting(pool, granted + 1, &(struct meeting){0});
            default_pool_destroy(pool);
        }
}

/* ---- many short lives ---- */

static void pools_can_be_destroyed_in_any_state(void **state)
{
    (void)state;
    default_pool_destroy(NULL);
    for (int i = 0; i < 60; i++) {
        struct default_pool *pool =
            make_pool(&(neo_threadpool_options){.threads = 1 + i % 5, .spin_us = i % 7 - 1});
        for (int calls = 0; calls < i % 3; calls++)
            default_pool_run(pool, 1 + i % 4, do_nothing, NULL);
        if (i % 4 == 0)
            (void)usleep(300);
        default_pool_destroy(pool);
    }
}

/* ---- sleep, invitation and taking back at the same time ---- */

struct storm {
    struct default_pool *pool;
    unsigned seed;
    uint64_t end_ns;
    long tasks_wanted;
    atomic_long tasks;
    bool wrong;
};

static void count_storm(void *argument, int i, int n)
{
    (void)i, (void)n;
    atomic_fetch_add(&((struct storm *)argument)->tasks, 1);
}

/* Calls of all sizes with pauses about as long as the workers stay awake. */
static void *storm(void *argument)
{
    struct storm *s = argument;
    while (log_now_ns() < s->end_ns && !s->wrong) {
        s->seed = s->seed * 1664525u + 1013904223u;
        int n = 1 + (int)(s->seed >> 24) % 20;
        s->tasks_wanted += n;
        default_pool_run(s->pool, n, count_storm, s);
        s->wrong = atomic_load(&s->tasks) != s->tasks_wanted;
        uint64_t pause_end = log_now_ns() + (s->seed >> 8) % 40000;
        while (s->seed % 3 && log_now_ns() < pause_end)
            ;
    }
    return NULL;
}

/* A worker that sleeps and is taken for awake would never be used again: all must come at last. */
static void no_worker_is_lost_in_a_storm_of_short_calls(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        int callers = 1 + kind % 3;
        neo_threadpool_options options = {.threads = 7, .spin_us = 10};
        if (kind >= 3) /* always asleep, and more than the calls can wake before they are over */
            options = (neo_threadpool_options){.threads = 16, .spin_us = -1};
        struct default_pool *pool = make_pool(&options);
        struct storm storms[3];
        pthread_t threads[3];
        for (int i = 0; i < callers; i++) {
            storms[i] = (struct storm){
                .pool = pool, .seed = (unsigned)i, .end_ns = log_now_ns() + UINT64_C(300000000)};
            assert_int_equal(pthread_create(&threads[i], NULL, storm, &storms[i]), 0);
        }
        for (int i = 0; i < callers; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_false(storms[i].wrong);
        }
        hold_meeting(pool, options.threads, &(struct meeting){0});
        default_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_work_at_the_same_time),
        cmocka_unit_test(sleeping_threads_wake_up),
        cmocka_unit_test(threads_that_slept_through_a_call_wake_up_for_the_next),
        cmocka_unit_test(t6_a_call_does_not_wait_for_another_one),
        cmocka_unit_test(t9_threads_exist_only_after_the_first_call_that_needs_them),
        cmocka_unit_test(few_tasks_disturb_few_threads),
        cmocka_unit_test(idle_threads_use_no_processor),
        cmocka_unit_test(workers_take_no_signals),
        cmocka_unit_test(the_environment_sets_the_number_of_threads),
        cmocka_unit_test(the_public_pool_is_checked_and_usable),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_pool_works_with_the_threads_that_can_be_created),
        cmocka_unit_test(pools_can_be_destroyed_in_any_state),
        cmocka_unit_test(no_worker_is_lost_in_a_storm_of_short_calls),
    };
    return cmocka_run_group_tests_name("threads_pool", tests, NULL, NULL);
}
