/* The interface between Neoprene and a thread pool, and the library's own pool behind it. */
#ifndef NEOPRENE_THREADPOOL_H
#define NEOPRENE_THREADPOOL_H

#include "neoprene/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* parallel_for() may return before its tasks have run; wait() then returns when they all have. */
#define NEO_THREADPOOL_ASYNCHRONOUS 1u

/* One piece of work: index i of n. */
typedef void neo_task_fn(void *argument, int i, int n);

/* A pool, as a table of functions. The library copies the table; context stays the user's and must
 * outlive every stream that was made with it.
 *
 * The library relies on nothing but what is said here: tasks of one parallel_for() may run in any
 * order, on any threads, several on one thread, the calling one included; fewer threads than
 * num_threads() said may be there. A task never waits for another task. It computes in the
 * floating-point mode of the thread that called the library (rounding, flushing of tiny numbers),
 * and leaves the mode of the thread that it runs on as it was. */
typedef struct neo_threadpool {
    void *context;
    uint32_t flags; /* NEO_THREADPOOL_* */

    /* How many tasks are worth making, at least 1. */
    int (*num_threads)(void *context);

    /* Not 0 when the calling thread runs a task of this pool: nested work is then done inline. */
    int (*in_parallel)(void *context);

    /* Calls task(argument, i, n) exactly once for each 0 <= i < n. */
    void (*parallel_for)(void *context, int n, neo_task_fn *task, void *argument);

    /* Waits for all work given to parallel_for() so far. May be NULL: the library counts the tasks
     * itself. It is called only where a parallel_for() came back before its tasks had run, and
     * never from inside a task. */
    void (*wait)(void *context);
} neo_threadpool;

/* ---- the built-in pool, for streams of several engines or for the user's own loops ---- */

/* On which CPUs the pool's threads run. The thread that calls is never bound. */
typedef enum neo_affinity {
    NEO_AFFINITY_DEFAULT, /* what NEOPRENE_AFFINITY says: none, compact or spread; else none */
    NEO_AFFINITY_NONE,    /* wherever the system puts them */
    NEO_AFFINITY_COMPACT, /* neighbours: one NUMA node is filled before the next */
    NEO_AFFINITY_SPREAD   /* far apart: nodes and clusters in turn */
} neo_affinity;

/* Zero-initialise it and set fields by name; zero means "default". */
typedef struct neo_threadpool_options {
    /* Including the one that calls parallel_for(): 1 to 512. 0: NEOPRENE_NUM_THREADS, else the
     * CPUs that the affinity mask and the cgroup's quota grant, without little cores. */
    int threads;
    neo_affinity affinity;
    /* Microseconds that an idle thread stays awake for more work; 0: 200, negative: none. */
    int spin_us;
    /* If not NULL, called once for each thread i, 0 < i < threads, in create; returns the number of
     * the CPU to bind it to, or a negative number for none. Overrides affinity. */
    int (*cpu_of_thread)(void *context, int i);
    void *context;
    uint64_t reserved[4]; /* 0 */
} neo_threadpool_options;

/* Makes a built-in pool, the kind that each engine has of its own. Its threads are created by the
 * first parallel_for(); if the system refuses some, it works with fewer. Calls from several threads
 * at a time share the pool's threads without waiting for each other; nested calls run inline.
 * After fork() the child gets new threads when it needs them. A thread has a stack of 1 MiB, of
 * which the library takes less than 64 KiB, as it does of the caller's.
 *
 * @param out      receives the table, or zeroes on failure; release with neo_threadpool_destroy().
 * @param options  copied; NULL means all defaults.
 * @return NEO_OK, NEO_INVALID_ARGUMENT (out is NULL, threads or affinity out of range),
 *         NEO_OUT_OF_MEMORY. */
NEO_API neo_status neo_threadpool_create(neo_threadpool *out,
                                         const neo_threadpool_options *options);

/* Joins the threads, frees the pool and zeroes the table; other copies of the table are then
 * invalid. No call may be running and no stream may use it any more. NULL, zeroes and tables that
 * neo_threadpool_create() has not made are left alone. */
NEO_API void neo_threadpool_destroy(neo_threadpool *pool);

#ifdef __cplusplus
}
#endif

#endif
