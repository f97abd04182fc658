/* Calls of the built-in pool: mailboxes, taking back what nobody started, sleeping. */
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "src/core/log.h"
#include "src/threading/default_pool_parts.h"
#include "src/threading/float_mode.h"
#include "src/threading/futex.h"
#include "src/threading/leave_cpu.h"
#include "src/threading/nesting.h"

#define MOVE_PAUSE_NS 1000000 /* between two moves of a worker away from its caller */
#define SPINS_PER_CLOCK 32    /* looks at a mailbox between two looks at the clock */
#define WAKE_FANOUT 4         /* how many sleepers each thread wakes before it works */
#define SLEEPER 0x8000u       /* flag in region.slot: the worker slept when it was invited */

/* One call of default_pool_run(), on its caller's stack. Task number s belongs to the participant
 * in slot s (the caller has slot 0, invited workers 1, 2, …), so that over many calls the same
 * thread works on the same part. The tasks after those go to whoever asks first. */
struct region {
    _Alignas(CACHE_LINE) neo_task_fn *task;
    void *argument;
    int n;
    struct worker *workers;
    uint64_t float_mode; /* the caller's */
    int looked_at;       /* the workers 0 … looked_at - 1 have a valid slot[] */
    bool sleepers;       /* some of them slept */
    _Atomic int slots;   /* participants; 0 until looked_at and slot[] are complete */
    _Atomic int to_wake; /* the first worker whose wake-up nobody has taken on */
    _Alignas(CACHE_LINE) _Atomic uint32_t next; /* the next task after the slots' own */
    uint16_t slot[DEFAULT_POOL_MAX_THREADS];    /* by worker; 0: not invited */
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
    (void)float_mode_swap(r->float_mode); /* kept: only tasks compute here */
    parallel_enter();
    work(r, (int)(r->slot[w->id] & ~SLEEPER));
    parallel_leave();
    if (atomic_exchange_explicit(&w->mail, MAIL_NONE, memory_order_acq_rel) & MAIL_AWAITED)
        futex_wake(futex_word(w), INT_MAX);
}

/* A CPU that cannot be had (the mask has changed) is no reason to have no thread. */
static void bind_worker(const struct worker *w)
{
    cpu_set_t sets[LEAVE_CPU_MOST / (8 * sizeof(cpu_set_t))];
    if (w->cpu < 0 || w->cpu >= LEAVE_CPU_MOST)
        return;
    memset(sets, 0, sizeof sets);
    CPU_SET_S((size_t)w->cpu, sizeof sets, sets);
    (void)sched_setaffinity(0, sizeof sets, sets);
}

void *pool_worker_main(void *argument)
{
    struct worker *w = argument;
    bind_worker(w);
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

void pool_tell_cpu(struct default_pool *pool)
{
    int cpu = sched_getcpu();
    if (cpu != atomic_load_explicit(&pool->caller_cpu, memory_order_relaxed))
        atomic_store_explicit(&pool->caller_cpu, cpu, memory_order_relaxed);
}

void pool_run_region(struct default_pool *pool, int live, int wanted, int n, neo_task_fn *task,
                     void *argument)
{
    struct region r; /* slot[] stays unwritten beyond looked_at */
    r.task = task;
    r.argument = argument;
    r.n = n;
    r.workers = pool->workers;
    r.float_mode = float_mode_here();
    r.sleepers = false;
    atomic_init(&r.slots, 0);
    atomic_init(&r.to_wake, 0);
    atomic_init(&r.next, 0);
    pool_tell_cpu(pool);
    invite(&r, live, wanted);
    parallel_enter();
    work(&r, 0);
    parallel_leave();
    for (int i = 0; i < r.looked_at; i++)
        if (r.slot[i])
            wait_for_worker(&pool->workers[i], &r);
}
