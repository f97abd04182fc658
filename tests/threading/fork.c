/* The built-in pool in processes that fork and exit. */
#include "tests/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/meeting.h"

static void expect_child(pid_t child)
{
    assert_true(child > 0);
    int status = 0;
    for (int i = 0; i < 1000; i++) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            return;
        }
        (void)usleep(10000);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    fail_msg("the child did not end");
}

/* The pool is neither destroyed nor idle when the process ends. */
static void a_pool_in_use_does_not_hinder_exit(void **state)
{
    (void)state;
    pid_t child = fork();
    if (!child) {
        struct default_pool *pool;
        if (default_pool_create(&pool, &(neo_threadpool_options){.threads = 4}))
            _exit(1);
        for (int i = 0; i < 10; i++)
            default_pool_run(pool, 8, do_nothing, NULL);
        exit(0); /* NOLINT: with the handlers, that is the point */
    }
    expect_child(child);
}

/* qemu-user and the thread sanitizer give up when the child of a process with threads creates
 * threads itself: this test is for everything else. */
static bool children_can_have_threads(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    const char *emulator = getenv("EMULATOR"); /* tests/run.sh has it */
    return !emulator || !*emulator;
#endif
}

static void a_child_can_destroy_a_pool_it_never_used(void **state)
{
    (void)state;
    struct default_pool *pool = pool_of(3);
    hold_meeting(pool, 3, &(struct meeting){0});
    pid_t child = fork();
    if (!child) {
        default_pool_destroy(pool);
        _exit(0);
    }
    expect_child(child);
    default_pool_destroy(pool);
}

static void a_forked_child_gets_threads_of_its_own(void **state)
{
    (void)state;
    struct default_pool *pool = pool_of(3);
    hold_meeting(pool, 3, &(struct meeting){0});
    for (int sleeping = 0; sleeping < 2; sleeping++) {
        (void)usleep(sleeping ? 20000 : 0);
        pid_t child = fork();
        if (!child) {
            struct meeting m = {.wanted = 3, .caller = pthread_self()};
            default_pool_run(pool, 3, meet, &m);
            bool ok = atomic_load(&m.met) == 3;
            default_pool_destroy(pool);
            exit(ok ? 0 : 1); /* NOLINT: with the handlers */
        }
        expect_child(child);
        hold_meeting(pool, 3, &(struct meeting){0}); /* the parent's are still there */
    }
    default_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_in_use_does_not_hinder_exit), /* first: forks without threads */
        cmocka_unit_test(a_child_can_destroy_a_pool_it_never_used),
        cmocka_unit_test(a_forked_child_gets_threads_of_its_own), /* the last one */
    };
    size_t count = count_of(tests) - !children_can_have_threads();
    return _cmocka_run_group_tests("threads_fork", tests, count, NULL, NULL);
}
