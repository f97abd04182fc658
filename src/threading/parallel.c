/* Hands tasks to whichever pool a stream has, and waits for pools that do not. */
#include "src/threading/parallel.h"

#include <stdatomic.h>
#include <stdint.h>

#include "src/core/checked.h"
#include "src/threading/default_pool.h"
#include "src/threading/float_mode.h"
#include "src/threading/futex.h"
#include "src/threading/nesting.h"

static _Thread_local const struct parallel *lent;

const struct parallel *parallel_lend(const struct parallel *p)
{
    const struct parallel *before = lent;
    lent = p;
    return before;
}

const struct parallel *parallel_lent(void)
{
    return lent;
}

void parallel_init(struct parallel *p, const neo_threadpool *user, struct default_pool *engine_pool,
                   int limit)
{
    *p = (struct parallel){.builtin = engine_pool, .limit = limit > 0 ? limit : 0};
    if (!user)
        return;
    struct default_pool *builtin = default_pool_of(user);
    if (builtin)
        p->builtin = builtin;
    else
        p->user = *user;
}

static int pool_threads(const struct parallel *p)
{
    if (p->user.parallel_for)
        return p->user.in_parallel(p->user.context) ? 1 : p->user.num_threads(p->user.context);
    return p->builtin ? default_pool_threads(p->builtin) : 1;
}

int parallel_threads(const struct parallel *p)
{
    if (parallel_is_nested() || p->limit == 1)
        return 1;
    int threads = pool_threads(p);
    if (p->limit && threads > p->limit)
        threads = p->limit;
    return threads > 1 ? threads : 1;
}

/* With speeds known the tail only levels what they do not explain; without them it has to level
 * little cores, which have half of the mean speed: half of the work is enough for that. */
struct parallel_cores parallel_cores(const struct parallel *p)
{
    struct parallel_cores cores = {.tail = 0};
    if (!p->builtin || !default_pool_is_uneven(p->builtin))
        return cores;
    cores.weights = p->user.parallel_for ? NULL : default_pool_weights(p->builtin);
    cores.tail = cores.weights ? 0.1 : 0.5;
    return cores;
}

int parallel_kind_here(const struct parallel *p)
{
    return p->builtin ? default_pool_kind_here(p->builtin) : -1;
}

/* ---- a user's pool ---- */

/* One parallel_for() on a user's pool; lives on the caller's stack until every task has run. */
struct call {
    neo_task_fn *task;
    void *argument;
    int n;
    uint64_t float_mode;   /* the caller's */
    _Atomic uint32_t left; /* tasks that have not returned, and ASLEEP */
};

#define ASLEEP (1u << 31) /* the caller sleeps on left, or is about to */
#define SPINS 2000        /* some 10 to 50 microseconds: longer than a task that ends now */

/* The last task may find the call gone between its two lines: the caller can wake by itself, see 0
 * and return. So the second one uses the address only, and a stray wake is allowed everywhere. */
static void run_counted(void *argument, int i, int n)
{
    struct call *call = argument;
    (void)n;
    uint64_t own = float_mode_swap(call->float_mode);
    parallel_enter();
    call->task(call->argument, i, call->n);
    parallel_leave();
    (void)float_mode_swap(own);
    if (atomic_fetch_sub_explicit(&call->left, 1, memory_order_acq_rel) == (ASLEEP | 1))
        futex_wake(&call->left, 1);
}

static int is_done(struct call *call)
{
    return (atomic_load_explicit(&call->left, memory_order_acquire) & ~ASLEEP) == 0;
}

static void wait_for(struct call *call)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_done(call))
            return;
        spin_pause();
    }
    uint32_t seen = atomic_fetch_or_explicit(&call->left, ASLEEP, memory_order_acq_rel) | ASLEEP;
    while (seen != ASLEEP) {
        futex_wait(&call->left, seen);
        seen = atomic_load_explicit(&call->left, memory_order_acquire);
    }
}

/* Tasks are counted for every pool: that costs less than trusting a flag. wait() is called
 * because an asynchronous pool may run its tasks only there. */
static void run_on_user_pool(const neo_threadpool *pool, int n, neo_task_fn *task, void *argument)
{
    struct call call = {.task = task,
                        .argument = argument,
                        .n = n,
                        .float_mode = float_mode_here(),
                        .left = (uint32_t)n};
    pool->parallel_for(pool->context, n, run_counted, &call);
    if (is_done(&call))
        return;
    if (pool->wait)
        pool->wait(pool->context);
    wait_for(&call);
}

void parallel_for(const struct parallel *p, int n, neo_task_fn *task, void *argument)
{
    int inline_only = n <= 1 || parallel_is_nested() || p->limit == 1;
    if (!inline_only && p->user.parallel_for && !p->user.in_parallel(p->user.context))
        run_on_user_pool(&p->user, n, task, argument);
    else if (!inline_only && !p->user.parallel_for && p->builtin)
        default_pool_run(p->builtin, n, task, argument);
    else
        parallel_run_inline(n, task, argument);
}

/* ---- tiles ---- */

#define PIECES_PER_THREAD 8

int parallel_pieces(const struct parallel *p, int threads)
{
    return threads > 1 && parallel_cores(p).tail > 0 ? threads * PIECES_PER_THREAD : threads;
}

/* On the caller's stack. */
struct tiles {
    struct partition_slices slices;
    parallel_tiles_fn *run;
    void *argument;
    _Atomic int next; /* slice of the tail */
};

/* The tail is taken from inside the tasks, not made of further ones, so that it has a slot of the
 * scratchpad without asking which thread this is. */
static void run_slot(void *argument, int slot, int count)
{
    struct tiles *t = argument;
    (void)count;
    struct span own = partition_slice(&t->slices, slot);
    if (own.begin < own.end)
        t->run(t->argument, own, slot);
    while (atomic_load_explicit(&t->next, memory_order_relaxed) < t->slices.tasks) {
        int i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i < t->slices.tasks)
            t->run(t->argument, partition_slice(&t->slices, i), slot);
    }
}

void parallel_for_tiles(const struct parallel *p, size_t count, int threads, parallel_tiles_fn *run,
                        void *argument)
{
    if (count == 0)
        return;
    int slots = (int)min_size((size_t)threads, count);
    struct parallel_cores cores = parallel_cores(p);
    struct tiles t = {partition_slices(count, slots, cores.weights, cores.tail), run, argument,
                      slots};
    parallel_for(p, slots, run_slot, &t);
}
