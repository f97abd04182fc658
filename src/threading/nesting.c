/* Whether the thread is inside of a task, and tasks that run where they are. */
#include "src/threading/nesting.h"

/* How many tasks deep the thread is; back at 0 whenever it is outside of all parallel_for(). */
static _Thread_local int depth;

int parallel_is_nested(void)
{
    return depth > 0;
}

void parallel_enter(void)
{
    depth++;
}

void parallel_leave(void)
{
    depth--;
}

void parallel_run_inline(int n, neo_task_fn *task, void *argument)
{
    parallel_enter();
    for (int i = 0; i < n; i++)
        task(argument, i, n);
    parallel_leave();
}
