/* The OpenMP adapter: the only test that is compiled with -fopenmp. */
#include "tests/support/test.h"

#include <stdatomic.h>

#include "neoprene/openmp.h"
#include "src/threading/parallel.h"
#include "tests/support/float_modes.h"

struct marks {
    atomic_int runs[200];
    atomic_int nested_threads;
    const struct parallel *p;
};

static void mark(void *argument, int i, int n)
{
    struct marks *marks = argument;
    (void)n;
    atomic_fetch_add(&marks->runs[i], 1);
    atomic_fetch_add(&marks->nested_threads, parallel_threads(marks->p));
}

static void run_and_check(const struct parallel *p, int n)
{
    struct marks marks = {.p = p};
    parallel_for(p, n, mark, &marks);
    for (int i = 0; i < 200; i++)
        assert_int_equal(atomic_load(&marks.runs[i]), i < n);
    assert_int_equal(atomic_load(&marks.nested_threads), n); /* 1 in each */
}

static void tasks_run_once_whatever_the_team(void **state)
{
    (void)state;
    neo_threadpool pool = neo_openmp_threadpool();
    struct parallel p;
    parallel_init(&p, &pool, NULL, 0);
    for (int threads = 1; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        assert_int_equal(parallel_threads(&p), threads);
        for (int n = 0; n <= 200; n += 1 + n / 3)
            run_and_check(&p, n);
    }
    omp_set_dynamic(1); /* the runtime may now give fewer threads than asked for */
    omp_set_num_threads(64);
    run_and_check(&p, 64);
}

static void note_mode(void *argument, int i, int n)
{
    uint64_t *modes = argument;
    (void)n;
    modes[i] = float_mode_here();
}

static void tasks_have_the_callers_mode(void **state)
{
    (void)state;
    enum { TASKS = 16 };
    neo_threadpool pool = neo_openmp_threadpool();
    struct parallel p;
    parallel_init(&p, &pool, NULL, 0);
    uint64_t modes[TASKS];
    omp_set_dynamic(0);
    omp_set_num_threads(4);
    parallel_for(&p, TASKS, note_mode, modes); /* the team exists from now on */
    for (int mode = 0; mode < FLOAT_MODES; mode++) {
        uint64_t want = float_modes[mode].bits, own = float_mode_swap(want);
        parallel_for(&p, TASKS, note_mode, modes);
        (void)float_mode_swap(own);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(modes[i], want);
    }
}

static void calls_inside_a_users_region_run_inline(void **state)
{
    (void)state;
    neo_threadpool pool = neo_openmp_threadpool();
    struct parallel p;
    parallel_init(&p, &pool, NULL, 0);
    static struct marks marks[3];
    omp_set_dynamic(0);
    omp_set_num_threads(3);
    int team = 0;
#pragma omp parallel num_threads(3) reduction(+ : team)
    {
        struct marks *own = &marks[omp_get_thread_num()];
        own->p = &p;
        team += parallel_threads(&p);
        parallel_for(&p, 50, mark, own);
    }
    assert_int_equal(team, 3);
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 50; i++)
            assert_int_equal(atomic_load(&marks[t].runs[i]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_run_once_whatever_the_team),
        cmocka_unit_test(tasks_have_the_callers_mode),
        cmocka_unit_test(calls_inside_a_users_region_run_inline),
    };
    return cmocka_run_group_tests_name("threads_openmp", tests, NULL, NULL);
}
