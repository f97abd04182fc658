/* Whether the thread is inside of a task: then another parallel_for() runs in it. */
#ifndef SRC_THREADING_NESTING_H
#define SRC_THREADING_NESTING_H

#include "neoprene/threadpool.h"

/* True while the calling thread runs a task of any parallel_for(). */
int parallel_is_nested(void);

/* Around tasks that a pool runs, so that calls from inside them are known as nested. */
void parallel_enter(void);
void parallel_leave(void);

/* Runs all tasks in the calling thread, in order. */
void parallel_run_inline(int n, neo_task_fn *task, void *argument);

#endif
