/* Threads of the built-in pool that meet. */
#include "tests/support/meeting.h"

#include <sched.h>

#include "src/core/log.h"
#include "tests/support/test.h"

struct default_pool *make_pool(const neo_threadpool_options *options)
{
    struct default_pool *pool;
    assert_int_equal(default_pool_create(&pool, options), NEO_OK);
    return pool;
}

struct default_pool *pool_of(int threads)
{
    return make_pool(&(neo_threadpool_options){.threads = threads});
}

void meet(void *argument, int i, int n)
{
    struct meeting *m = argument;
    (void)i, (void)n;
    uint64_t deadline = log_now_ns() + UINT64_C(5000000000);
    atomic_fetch_add(&m->arrived, 1);
    while (atomic_load(&m->arrived) < m->wanted && log_now_ns() < deadline)
        (void)sched_yield();
    if (atomic_load(&m->arrived) >= m->wanted)
        atomic_fetch_add(&m->met, 1);
    if (!pthread_equal(m->caller, pthread_self())) {
        atomic_fetch_add(&m->elsewhere, 1);
        if (m->check)
            m->check(m);
    }
}

void hold_meeting(struct default_pool *pool, int n, struct meeting *m)
{
    m->wanted = n;
    m->caller = pthread_self();
    default_pool_run(pool, n, meet, m);
    assert_int_equal(atomic_load(&m->met), n);
    assert_int_equal(atomic_load(&m->elsewhere), n - 1);
    assert_int_equal(atomic_load(&m->bad), 0);
}

void do_nothing(void *argument, int i, int n)
{
    (void)argument, (void)i, (void)n;
}
