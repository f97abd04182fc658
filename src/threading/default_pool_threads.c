/* Threads of the built-in pool: created at first use, again after a fork, joined at the end. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#include "src/core/log.h"
#include "src/threading/default_pool_parts.h"
#include "src/threading/futex.h"

enum { PHASE_NONE, PHASE_STARTING, PHASE_READY, PHASE_STOPPED, PHASES };

static uint64_t state_of(int phase)
{
    return lifetime_generation() * PHASES + (uint64_t)phase;
}

void pool_threads_init(struct default_pool *pool)
{
    pool->lifetime.stop = pool_stop;
    atomic_init(&pool->state, state_of(PHASE_NONE));
}

static int create_worker(struct worker *w)
{
    pthread_attr_t attributes;
    int status = pthread_attr_init(&attributes);
    if (status)
        return status;
    status = pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES);
    if (!status)
        status = pthread_create(&w->thread, &attributes, pool_worker_main, w);
    (void)pthread_attr_destroy(&attributes);
    return status;
}

/* Signals are blocked in workers, so that a user's handlers run only in the user's threads. */
static int create_workers(struct default_pool *pool)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int live = 0;
    for (; live < pool->threads - 1; live++) {
        struct worker *w = &pool->workers[live];
        atomic_store_explicit(&w->mail, MAIL_START, memory_order_relaxed);
        if (create_worker(w))
            break;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return live;
}

/* Sleeps, so that the kernel can find places for the new threads, until each of them has run: on a
 * busy machine one that has not may wait for long behind a caller who never sleeps. */
static void wait_for_start(struct worker *w)
{
    while (atomic_load_explicit(&w->mail, memory_order_acquire) == MAIL_START)
        futex_wait(futex_word(w), (uint32_t)MAIL_START);
}

/* One caller creates the workers; others meanwhile get 0 and do without. */
static int start(struct default_pool *pool, uint64_t seen)
{
    if (seen == state_of(PHASE_STARTING) || seen == state_of(PHASE_STOPPED))
        return 0;
    if (!lifetime_watch_forks() ||
        !atomic_compare_exchange_strong(&pool->state, &seen, state_of(PHASE_STARTING)))
        return 0;
    pool_tell_cpu(pool);
    pool->live = create_workers(pool);
    for (int i = 0; i < pool->live; i++)
        wait_for_start(&pool->workers[i]);
    if (pool->live < pool->threads - 1)
        log_warn("thread pool: only %d of %d threads could be created", pool->live + 1,
                 pool->threads);
    lifetime_add(&pool->lifetime);
    atomic_store_explicit(&pool->state, state_of(PHASE_READY), memory_order_release);
    return pool->live;
}

int pool_live_workers(struct default_pool *pool)
{
    uint64_t state = atomic_load_explicit(&pool->state, memory_order_acquire);
    return state == state_of(PHASE_READY) ? pool->live : start(pool, state);
}

static void stop_worker(struct worker *w)
{
    for (;;) {
        uintptr_t mail = atomic_load(&w->mail);
        if (mail != MAIL_NONE && mail != MAIL_ASLEEP)
            (void)sched_yield(); /* at exit a call may still be running elsewhere */
        else if (atomic_compare_exchange_strong(&w->mail, &mail, MAIL_STOP))
            break;
    }
    futex_wake(futex_word(w), INT_MAX);
    (void)pthread_join(w->thread, NULL);
}

void pool_stop(struct lifetime *lifetime)
{
    struct default_pool *pool = (struct default_pool *)lifetime; /* its first member */
    uint64_t ready = state_of(PHASE_READY);
    if (!atomic_compare_exchange_strong(&pool->state, &ready, state_of(PHASE_STOPPED)))
        return;
    for (int i = 0; i < pool->live; i++)
        stop_worker(&pool->workers[i]);
}
