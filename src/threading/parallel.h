/* What operations call to run tasks: one stream's pool, resolved. */
#ifndef SRC_THREADING_PARALLEL_H
#define SRC_THREADING_PARALLEL_H

#include "neoprene/threadpool.h"

struct default_pool;

/* A value, free to be copied; the pools it names are not owned. Fill it with parallel_init(). */
struct parallel {
    neo_threadpool user;          /* parallel_for is NULL when there is no user's pool */
    struct default_pool *builtin; /* used when there is no user's pool; may be NULL: the caller */
    int limit;                    /* the most tasks parallel_threads() asks for; 0: no limit */
};

/* user wins over engine_pool; with neither, tasks run in the caller. user is copied. */
void parallel_init(struct parallel *p, const neo_threadpool *user, struct default_pool *engine_pool,
                   int limit);

/* How many tasks are worth making now, at least 1; 1 when the caller runs a task itself. The answer
 * may differ from one call to the next, so ask once per execution and plan with that. */
int parallel_threads(const struct parallel *p);

/* What partition_slices() wants to know of the cores. */
struct parallel_cores {
    const double *weights; /* by thread, at least parallel_threads(); NULL: unknown or equal */
    double tail;           /* the part of the work to leave dynamic */
};
struct parallel_cores parallel_cores(const struct parallel *p);

/* Calls task(argument, i, n) exactly once for each 0 <= i < n and returns when all have returned.
 *
 * Tasks run in any order, on any threads, possibly all on one: a task must not wait for another.
 * One task, no pool, or a call from inside a task: they run here, in order. Nothing is allocated.
 * Any number of threads may call at the same time, with the same or with different pools. */
void parallel_for(const struct parallel *p, int n, neo_task_fn *task, void *argument);

/* True while the calling thread runs a task of any parallel_for(). */
int parallel_is_nested(void);

/* Around tasks that a pool runs, so that calls from inside them are known as nested. */
void parallel_enter(void);
void parallel_leave(void);

/* Runs all tasks in the calling thread, in order. */
void parallel_run_inline(int n, neo_task_fn *task, void *argument);

#endif
