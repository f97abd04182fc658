/* The interface between Neoprene and a thread pool of the user's. */
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
 * num_threads() said may be there. A task never waits for another task. */
typedef struct neo_threadpool {
    void *context;
    uint32_t flags; /* NEO_THREADPOOL_* */

    /* How many tasks are worth making, at least 1. */
    int (*num_threads)(void *context);

    /* Not 0 when the calling thread runs a task of this pool: nested work is then done inline. */
    int (*in_parallel)(void *context);

    /* Calls task(argument, i, n) exactly once for each 0 <= i < n. */
    void (*parallel_for)(void *context, int n, neo_task_fn *task, void *argument);

    /* Waits for all work given to parallel_for() so far. May be NULL without
     * NEO_THREADPOOL_ASYNCHRONOUS. */
    void (*wait)(void *context);
} neo_threadpool;

#ifdef __cplusplus
}
#endif

#endif
