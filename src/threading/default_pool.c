/* The built-in pool: mailboxes, taking back what nobody started, sleeping, fork and exit. */
#include "src/threading/default_pool.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/threading/affinity.h"
#include "src/threading/core_kinds.h"
#include "src/threading/futex.h"
#include "src/threading/leave_cpu.h"
#include "src/threading/lifetime.h"
#include "src/threading/parallel.h"
#include "src/threading/threads.h"

/* A mailbox holds one of these four, or the address of a region with these two flags. Regions are
 * 64-byte aligned, so a flag is no part of an address, and no low half of a region's word is equal
 * to MAIL_ASLEEP: the futex, which compares only that half, cannot miss mail. */
#define MAIL_NONE ((uintptr_t)0)    /* the worker is free and looks here */
#define MAIL_ASLEEP ((uintptr_t)1)  /* the worker is free and sleeps on this word */
#define MAIL_STOP ((uintptr_t)3)    /* the worker ends */
#define MAIL_START ((uintptr_t)5)   /* the worker has been created, but has not run yet */
#define MAIL_TAKEN ((uintptr_t)2)   /* flag: the worker runs tasks of the region */
#define MAIL_AWAITED ((uintptr_t)4) /* flag: the region's caller sleeps until it has finished */

#define CACHE_LINE 64
#define DEFAULT_SPIN_US 200
#define MOVE_PAUSE_NS 1000000 /* between two moves of a worker away from its caller */
#define SPINS_PER_CLOCK 32    /* looks at a mailbox between two looks at the clock */
#define WAKE_FANOUT 4         /* how many sleepers each thread wakes before it works */
#define SLEEPER 0x8000u       /* flag in region.slot: the worker slept when it was invited */

struct worker {
    _Alignas(CACHE_LINE) _Atomic uintptr_t mail;
    struct default_pool *pool;
    int id;
    int cpu; /* to run on; negative: any */
    pthread_t thread;
    uint64_t moved_ns; /* when it last tried to leave its caller's CPU */
};

/* One call of default_pool_run(), on its caller's stack. Task number s belongs to the participant
 * in slot s (the caller has slot 0, invited workers 1, 2, …), so that over many calls the same
 * thread works on the same part. The tasks after those go to whoever asks first. */
struct region {
    _Alignas(CACHE_LINE) neo_task_fn *task;
    void *argument;
    int n;
    struct worker *workers;
    int looked_at;       /* the workers 0 … looked_at - 1 have a valid slot[] */
    bool sleepers;       /* some of them slept */
    _Atomic int slots;   /* participants; 0 until looked_at and slot[] are complete */
    _Atomic int to_wake; /* the first worker whose wake-up nobody has taken on */
    _Alignas(CACHE_LINE) _Atomic uint32_t next; /* the next task after the slots' own */
    uint16_t slot[DEFAULT_POOL_MAX_THREADS];    /* by worker; 0: not invited */
};

struct default_pool {
    struct lifetime lifetime; /* the first member, see stop() */
    int threads;
    uint64_t spin_ns;
    _Atomic uint64_t state; /* fork generation and phase, see start() */
    int live;               /* workers that run; valid in PHASE_READY */
    _Atomic int caller_cpu; /* where the last call came from */
    int cpus;               /* that it may use */
    struct core_kinds kinds;
    bool uneven;            /* the CPUs it may use are not equally fast */
    double *weights;        /* speeds by thread; NULL if they are equal or threads may move */
    struct worker *workers; /* threads - 1 of them */
};

/* ---- the tasks of a region ---- */

static void run_task(const struct region *r, int i)
{
    r->task(r->argument, i, r->n);
}

static int wait_for_slots(struct region *r)
{
    int slots;
    while (!(slots = atomic_load_explicit(&r->slots, memory_order_acquire)))
        spin_pause();
    return slots;
}

/* The half of the mailbox with the low bits. */
static const void *futex_word(const struct worker *w)
{
    const void *mail = &w->mail;
    bool low_is_last = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return (const char *)mail + (low_is_last ? sizeof w->mail - sizeof(uint32_t) : 0);
}

static void wake_some(struct region *r)
{
    for (int woken = 0; woken < WAKE_FANOUT;) {
        int i = atomic_fetch_add_explicit(&r->to_wake, 1, memory_order_relaxed);
        if (i >= r->looked_at)
            return;
        if (r->slot[i] & SLEEPER) {
            futex_wake(futex_word(&r->workers[i]), INT_MAX);
            woken++;
        }
    }
}

/* Takes the region out of a mailbox whose worker has not started. A sleeper that somebody has woken
 * or will wake is then left as one that looks, or each short call would have to wake it again. */
static bool take_back(struct region *r, int i)
{
    uintptr_t mail = (uintptr_t)r;
    if (atomic_load_explicit(&r->workers[i].mail, memory_order_relaxed) != mail)
        return false;
    bool sleeps =
        (r->slot[i] & SLEEPER) && i >= atomic_load_explicit(&r->to_wake, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&r->workers[i].mail, &mail,
                                                   sleeps ? MAIL_ASLEEP : MAIL_NONE,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* One participant's share: its own task, then unowned ones, then those of workers that are late. */
static void work(struct region *r, int slot)
{
    int slots = wait_for_slots(r);
    if (r->sleepers)
        wake_some(r);
    run_task(r, slot);
    uint32_t unowned = (uint32_t)(r->n - slots);
    while (atomic_load_explicit(&r->next, memory_order_relaxed) < unowned) {
        uint32_t i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
        if (i < unowned)
            run_task(r, slots + (int)i);
    }
    for (int i = 0; i < r->looked_at; i++)
        if (r->slot[i] && take_back(r, i))
            run_task(r, (int)(r->slot[i] & ~SLEEPER));
}

/* ---- a worker ---- */

/* The kernel puts a new or a woken worker on the very CPU of its caller where no other one is idle
 * at that moment, and then leaves both there for tens of milliseconds: the worker only runs when
 * the caller does not, and finds that all its tasks have been taken back. */
static void make_way_for_caller(struct worker *w)
{
    int cpu = sched_getcpu();
    if (cpu != atomic_load_explicit(&w->pool->caller_cpu, memory_order_relaxed))
        return;
    uint64_t now = log_now_ns();
    bool has_own = w->id + 1 < w->pool->cpus; /* the first workers are invited first */
    if (has_own && now - w->moved_ns > MOVE_PAUSE_NS) {
        w->moved_ns = now;
        if (leave_cpu(cpu))
            return;
    }
    (void)sched_yield();
}

/* The word may say that it sleeps already: a caller who took back what it had not yet woken it for
 * could not know that it had seen the mail. */
static uintptr_t sleep_for_mail(struct worker *w)
{
    uintptr_t mail = MAIL_NONE;
    if (!atomic_compare_exchange_strong(&w->mail, &mail, MAIL_ASLEEP) && mail != MAIL_ASLEEP)
        return mail;
    while ((mail = atomic_load_explicit(&w->mail, memory_order_acquire)) == MAIL_ASLEEP)
        futex_wait(futex_word(w), (uint32_t)MAIL_ASLEEP);
    w->moved_ns = 0; /* a new place, which has nothing to do with the last one */
    make_way_for_caller(w);
    return mail;
}

static uintptr_t wait_for_mail(struct worker *w)
{
    uint64_t deadline = log_now_ns() + w->pool->spin_ns;
    do {
        make_way_for_caller(w);
        for (int i = 0; i < SPINS_PER_CLOCK; i++) {
            uintptr_t mail = atomic_load_explicit(&w->mail, memory_order_acquire);
            if (mail != MAIL_NONE && mail != MAIL_ASLEEP)
                return mail;
            spin_pause();
        }
    } while (log_now_ns() < deadline);
    return sleep_for_mail(w);
}

static void take_part(struct worker *w, uintptr_t mail)
{
    if (!atomic_compare_exchange_strong_explicit(&w->mail, &mail, mail | MAIL_TAKEN,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return; /* taken back */
    struct region *r = (struct region *)mail;
    parallel_enter();
    work(r, (int)(r->slot[w->id] & ~SLEEPER));
    parallel_leave();
    if (atomic_exchange_explicit(&w->mail, MAIL_NONE, memory_order_acq_rel) & MAIL_AWAITED)
        futex_wake(futex_word(w), INT_MAX);
}

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    make_way_for_caller(w);
    atomic_store_explicit(&w->mail, MAIL_NONE, memory_order_release);
    futex_wake(futex_word(w), INT_MAX);
    for (;;) {
        uintptr_t mail = wait_for_mail(w);
        if (mail == MAIL_STOP)
            return NULL;
        if (mail != MAIL_NONE)
            take_part(w, mail);
    }
}

/* ---- the caller ---- */

/* Puts the region into worker i's mailbox if that worker is free. */
static bool invite_one(struct region *r, int i, int slot)
{
    _Atomic uintptr_t *box = &r->workers[i].mail;
    uintptr_t mail = atomic_load_explicit(box, memory_order_relaxed);
    while (mail == MAIL_NONE || mail == MAIL_ASLEEP) { /* it may just fall asleep */
        bool sleeps = mail == MAIL_ASLEEP;
        r->slot[i] = (uint16_t)((unsigned)slot | (sleeps ? SLEEPER : 0));
        if (atomic_compare_exchange_weak_explicit(box, &mail, (uintptr_t)r, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
            r->sleepers |= sleeps;
            return true;
        }
    }
    r->slot[i] = 0;
    return false;
}

static void tell_cpu(struct default_pool *pool)
{
    int cpu = sched_getcpu();
    if (cpu != atomic_load_explicit(&pool->caller_cpu, memory_order_relaxed))
        atomic_store_explicit(&pool->caller_cpu, cpu, memory_order_relaxed);
}

/* Invites up to wanted free workers. */
static void invite(struct region *r, int live, int wanted)
{
    int slots = 1, i = 0;
    for (; i < live && slots <= wanted; i++)
        slots += invite_one(r, i, slots);
    r->looked_at = i;
    atomic_store_explicit(&r->slots, slots, memory_order_release);
}

/* Returns true when the worker has finished, false when it may sleep on its mailbox for that. */
static bool spin_for_worker(struct worker *w, uintptr_t running)
{
    uint64_t deadline = log_now_ns() + w->pool->spin_ns;
    do {
        for (int i = 0; i < SPINS_PER_CLOCK; i++) {
            if (atomic_load_explicit(&w->mail, memory_order_acquire) != running)
                return true;
            spin_pause();
        }
    } while (log_now_ns() < deadline);
    return !atomic_compare_exchange_strong(&w->mail, &running, running | MAIL_AWAITED);
}

/* Returns when worker w no longer runs tasks of the region. */
static void wait_for_worker(struct worker *w, const struct region *r)
{
    uintptr_t running = (uintptr_t)r | MAIL_TAKEN;
    if (atomic_load_explicit(&w->mail, memory_order_acquire) != running ||
        spin_for_worker(w, running))
        return;
    running |= MAIL_AWAITED;
    while (atomic_load_explicit(&w->mail, memory_order_acquire) == running)
        futex_wait(futex_word(w), (uint32_t)running);
}

/* ---- threads: created at first use, again after a fork, joined at the end ---- */

enum { PHASE_NONE, PHASE_STARTING, PHASE_READY, PHASE_STOPPED, PHASES };

static uint64_t state_of(int phase)
{
    return lifetime_generation() * PHASES + (uint64_t)phase;
}

/* A CPU that cannot be had (the mask has changed) is no reason to have no thread. */
static int create_bound(struct worker *w, int cpu)
{
    cpu_set_t sets[LEAVE_CPU_MOST / CPU_SETSIZE];
    pthread_attr_t attributes;
    if (cpu < 0 || cpu >= LEAVE_CPU_MOST || pthread_attr_init(&attributes))
        return pthread_create(&w->thread, NULL, worker_main, w);
    CPU_ZERO_S(sizeof sets, sets);
    CPU_SET_S((size_t)cpu, sizeof sets, sets);
    int status = pthread_attr_setaffinity_np(&attributes, sizeof sets, sets);
    if (!status)
        status = pthread_create(&w->thread, &attributes, worker_main, w);
    (void)pthread_attr_destroy(&attributes);
    return status ? pthread_create(&w->thread, NULL, worker_main, w) : 0;
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
        if (create_bound(w, w->cpu))
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
    tell_cpu(pool);
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

static int live_workers(struct default_pool *pool)
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

static void stop(struct lifetime *lifetime)
{
    struct default_pool *pool = (struct default_pool *)lifetime; /* its first member */
    uint64_t ready = state_of(PHASE_READY);
    if (!atomic_compare_exchange_strong(&pool->state, &ready, state_of(PHASE_STOPPED)))
        return;
    for (int i = 0; i < pool->live; i++)
        stop_worker(&pool->workers[i]);
}

/* ---- options ---- */

static uint64_t spin_ns(int spin_us)
{
    if (spin_us < 0)
        return 0;
    return (uint64_t)(spin_us ? spin_us : DEFAULT_SPIN_US) * 1000;
}

static void bind_as_user_says(struct default_pool *pool, const neo_threadpool_options *options)
{
    for (int i = 1; i < pool->threads; i++)
        pool->workers[i - 1].cpu = options->cpu_of_thread(options->context, i);
}

/* The first CPU of the order is left to the caller, who is not bound. */
static void bind_in_order(struct default_pool *pool, const struct topology *t, neo_affinity mode)
{
    int order[TOPOLOGY_MAX_CPUS];
    struct affinity_machine machine = affinity_this_machine();
    affinity_order(order, t, mode, &machine);
    for (int i = 0; i < pool->threads; i++) {
        const struct topology_cpu *c = &t->cpus[order[i % t->count]];
        if (i)
            pool->workers[i - 1].cpu = c->cpu;
        if (pool->weights)
            pool->weights[i] = c->capacity;
    }
}

static bool is_uneven(const struct topology *t)
{
    for (int i = 1; i < t->count; i++)
        if (t->cpus[i].class != t->cpus[0].class)
            return true;
    return false;
}

static neo_status bind_workers(struct default_pool *pool, const neo_threadpool_options *options,
                               const struct topology *t)
{
    pool->uneven = is_uneven(t);
    pool->cpus = t->count;
    neo_affinity mode =
        options->affinity == NEO_AFFINITY_DEFAULT ? affinity_from_environment() : options->affinity;
    if (options->cpu_of_thread) {
        bind_as_user_says(pool, options);
    } else if (mode != NEO_AFFINITY_NONE) {
        if (pool->uneven)
            pool->weights = calloc((size_t)pool->threads, sizeof *pool->weights);
        if (pool->uneven && !pool->weights)
            return NEO_OUT_OF_MEMORY;
        bind_in_order(pool, t, mode);
    }
    return NEO_OK;
}

neo_status default_pool_create(struct default_pool **out, const neo_threadpool_options *options)
{
    struct topology t;
    topology_read(&t, &(struct topology_sources){.root = "", .core = getenv("NEO_CPU_CORE")});
    return default_pool_create_on(out, options, &t);
}

neo_status default_pool_create_on(struct default_pool **out, const neo_threadpool_options *options,
                                  const struct topology *topology)
{
    *out = NULL;
    struct default_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NEO_OUT_OF_MEMORY;
    pool->threads = options->threads ? options->threads : threads_default();
    pool->spin_ns = spin_ns(options->spin_us);
    pool->lifetime.stop = stop;
    atomic_init(&pool->state, state_of(PHASE_NONE));
    pool->workers = aligned_alloc(CACHE_LINE, (size_t)pool->threads * sizeof *pool->workers);
    if (!pool->workers)
        goto fail;
    for (int i = 0; i < pool->threads; i++)
        pool->workers[i] = (struct worker){.pool = pool, .id = i, .cpu = -1};
    if (bind_workers(pool, options, topology) || !core_kinds_init(&pool->kinds, topology))
        goto fail;
    *out = pool;
    return NEO_OK;
fail:
    default_pool_destroy(pool);
    return NEO_OUT_OF_MEMORY;
}

void default_pool_destroy(struct default_pool *pool)
{
    if (!pool)
        return;
    lifetime_remove(&pool->lifetime);
    stop(&pool->lifetime);
    free(pool->weights);
    core_kinds_deinit(&pool->kinds);
    free(pool->workers);
    free(pool);
}

const double *default_pool_weights(const struct default_pool *pool)
{
    return pool->weights;
}

bool default_pool_is_uneven(const struct default_pool *pool)
{
    return pool->uneven;
}

int default_pool_in_order_here(const struct default_pool *pool)
{
    return core_kinds_here(&pool->kinds);
}

int default_pool_threads(const struct default_pool *pool)
{
    return pool->threads;
}

void default_pool_run(struct default_pool *pool, int n, neo_task_fn *task, void *argument)
{
    int wanted = (n < pool->threads ? n : pool->threads) - 1;
    int live = wanted > 0 && !parallel_is_nested() ? live_workers(pool) : 0;
    if (!live) {
        parallel_run_inline(n, task, argument);
        return;
    }
    struct region r; /* slot[] stays unwritten beyond looked_at */
    r.task = task;
    r.argument = argument;
    r.n = n;
    r.workers = pool->workers;
    r.sleepers = false;
    atomic_init(&r.slots, 0);
    atomic_init(&r.to_wake, 0);
    atomic_init(&r.next, 0);
    tell_cpu(pool);
    invite(&r, live, wanted);
    parallel_enter();
    work(&r, 0);
    parallel_leave();
    for (int i = 0; i < r.looked_at; i++)
        if (r.slot[i])
            wait_for_worker(&pool->workers[i], &r);
}
