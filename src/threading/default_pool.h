/* The built-in thread pool: one per engine, its threads made by the first call that needs them.
 *
 * The caller of default_pool_run() works too, so a pool of t threads has t - 1 workers. Each worker
 * has one cache line with one word, its mailbox. The caller puts a call into the mailboxes of free
 * workers, runs tasks, and takes back what no worker has started: it never waits for a thread that
 * the kernel has not scheduled yet. Callers in several threads take different workers; one that
 * finds none runs everything itself. There is no lock in a call, no allocation, and no system call
 * unless a thread sleeps. */
#ifndef SRC_THREADING_DEFAULT_POOL_H
#define SRC_THREADING_DEFAULT_POOL_H

#include <stdbool.h>

#include "neoprene/threadpool.h"

#define DEFAULT_POOL_MAX_THREADS 512

struct default_pool;

/* Threads are not created yet. The options are in range, as neo_threadpool_create() checks. */
neo_status default_pool_create(struct default_pool **out, const neo_threadpool_options *options);

/* The same for the CPUs of a topology. */
struct topology;
neo_status default_pool_create_on(struct default_pool **out, const neo_threadpool_options *options,
                                  const struct topology *topology);

/* Joins the workers; no call may be running. NULL is allowed. */
void default_pool_destroy(struct default_pool *pool);

/* How many threads a call uses at most; may be more than the system lets the pool create. */
int default_pool_threads(const struct default_pool *pool);

/* True if some of the CPUs it may use are slower than others. */
bool default_pool_is_uneven(const struct default_pool *pool);

/* core_kind() of the core that the calling thread runs on; negative: not known. */
int default_pool_kind_here(const struct default_pool *pool);

/* How fast each thread's CPU is, the caller's first, as an array of default_pool_threads(); NULL if
 * they are equally fast, or not bound and therefore not known. */
const double *default_pool_weights(const struct default_pool *pool);

/* The pool behind a table that neo_threadpool_create() made; NULL for any other table. */
struct default_pool *default_pool_of(const neo_threadpool *table);

/* As parallel_for() promises, for n tasks; nested calls run inline. */
void default_pool_run(struct default_pool *pool, int n, neo_task_fn *task, void *argument);

#endif
