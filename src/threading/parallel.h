/* What operations call to run tasks: one stream's pool, resolved. */
#ifndef SRC_THREADING_PARALLEL_H
#define SRC_THREADING_PARALLEL_H

#include "neoprene/threadpool.h"
#include "src/threading/partition.h"

struct default_pool;

/* A value, free to be copied; the pools it names are not owned. Fill it with parallel_init(). */
struct parallel {
    neo_threadpool user;          /* parallel_for is NULL when there is no user's pool */
    struct default_pool *builtin; /* used when there is no user's pool; may be NULL: the caller.
                                   * With a user's pool it only tells of the machine. */
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

/* core_kind() of the core that this thread runs on; negative: not known. A thread that is not bound
 * may run on another one right after. */
int parallel_kind_here(const struct parallel *p);

/* Calls task(argument, i, n) exactly once for each 0 <= i < n and returns when all have returned.
 *
 * Tasks run in any order, on any threads, possibly all on one: a task must not wait for another.
 * One task, no pool, or a call from inside a task: they run here, in order. Nothing is allocated.
 * Each task has the caller's floating-point mode; threads of a user's pool get theirs back.
 * Any number of threads may call at the same time, with the same or with different pools. */
void parallel_for(const struct parallel *p, int n, neo_task_fn *task, void *argument);

/* Computes the tiles [tiles.begin, tiles.end) in slot 0 <= slot < threads of the scratchpad. */
typedef void parallel_tiles_fn(void *argument, struct span tiles, int slot);

/* Calls run() for slices of 0 … count - 1, so that each tile is computed once, on at most so many
 * threads. Two calls with the same slot never overlap in time.
 *
 * On equal cores there is a slice for each thread. On unequal ones slices follow the cores' speeds,
 * and the last part of the work goes in small pieces to whoever has finished. */
void parallel_for_tiles(const struct parallel *p, size_t count, int threads, parallel_tiles_fn *run,
                        void *argument);

/* Lends a pool to what the calling thread does below, through interfaces that do not speak of
 * pools; NULL: none. Returns what was lent before, to be lent again afterwards. */
const struct parallel *parallel_lend(const struct parallel *p);

/* The pool lent to the calling thread, or NULL. */
const struct parallel *parallel_lent(void);

/* Into how many pieces to cut what parallel_for_tiles() cannot cut itself: threads, but more on
 * unequal cores, where threads get different numbers of pieces. */
int parallel_pieces(const struct parallel *p, int threads);

#endif
