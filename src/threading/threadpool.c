/* The built-in pool as a neo_threadpool. */
#include "neoprene/threadpool.h"

#include <stddef.h>

#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/threading/default_pool.h"
#include "src/threading/nesting.h"

static int num_threads(void *context)
{
    return default_pool_threads(context);
}

static int in_parallel(void *context)
{
    (void)context;
    return parallel_is_nested();
}

static void run(void *context, int n, neo_task_fn *task, void *argument)
{
    default_pool_run(context, n, task, argument);
}

static neo_status check(const neo_threadpool *out, const neo_threadpool_options *options)
{
    if (!out)
        log_check("threadpool: out is NULL");
    else if (reserved_is_set(options->reserved))
        log_check("threadpool: %s", RESERVED_IS_SET);
    else if (options->threads < 0 || options->threads > DEFAULT_POOL_MAX_THREADS)
        log_check("threadpool: threads is %d, not 0 to %d", options->threads,
                  DEFAULT_POOL_MAX_THREADS);
    else if ((unsigned)options->affinity > NEO_AFFINITY_SPREAD)
        log_check("threadpool: affinity is %d, no neo_affinity", (int)options->affinity);
    else
        return NEO_OK;
    return NEO_INVALID_ARGUMENT;
}

neo_status neo_threadpool_create(neo_threadpool *out, const neo_threadpool_options *options)
{
    static const neo_threadpool_options defaults;
    options = options ? options : &defaults;
    if (out)
        *out = (neo_threadpool){.context = NULL};
    neo_status status = check(out, options);
    struct default_pool *pool = NULL;
    if (status == NEO_OK)
        status = default_pool_create(&pool, options);
    if (status == NEO_OK)
        *out = (neo_threadpool){.context = pool,
                                .num_threads = num_threads,
                                .in_parallel = in_parallel,
                                .parallel_for = run};
    return status;
}

struct default_pool *default_pool_of(const neo_threadpool *table)
{
    return table->parallel_for == run ? table->context : NULL;
}

void neo_threadpool_destroy(neo_threadpool *pool)
{
    if (!pool || pool->parallel_for != run)
        return;
    default_pool_destroy(pool->context);
    *pool = (neo_threadpool){.context = NULL};
}
