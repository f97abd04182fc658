/* The built-in pool: options, binding, creation. What a call does is in default_pool_region.c. */
#include <stdbool.h>
#include <stdlib.h>

#include "arch/cpu.h"
#include "src/threading/affinity.h"
#include "src/threading/default_pool_parts.h"
#include "src/threading/nesting.h"
#include "src/threading/threads.h"

#define DEFAULT_SPIN_US 200

static uint64_t spin_ns(int spin_us)
{
    if (spin_us < 0)
        return 0;
    return (uint64_t)(spin_us ? spin_us : DEFAULT_SPIN_US) * 1000;
}

static void bind_as_user_says(struct default_pool *pool, const neo_threadpool_options *options)
{
    for (int i = 1; i < pool->threads; i++)
        pool->workers[i - 1].cpu = options->cpu_of_thread(options->context, i);
}

/* The first CPU of the order is left to the caller, who is not bound. */
static neo_status bind_in_order(struct default_pool *pool, const struct topology *t,
                                neo_affinity mode)
{
    struct affinity_machine machine = affinity_this_machine();
    int *order = calloc((size_t)t->count, sizeof *order);
    if (!order || !affinity_order(order, t, mode, &machine)) {
        free(order);
        return NEO_OUT_OF_MEMORY;
    }
    for (int i = 0; i < pool->threads; i++) {
        const struct topology_cpu *c = &t->cpus[order[i % t->count]];
        if (i)
            pool->workers[i - 1].cpu = c->cpu;
        if (pool->weights)
            pool->weights[i] = c->capacity;
    }
    free(order);
    return NEO_OK;
}

static bool is_uneven(const struct topology *t)
{
    for (int i = 1; i < t->count; i++)
        if (t->cpus[i].class != t->cpus[0].class)
            return true;
    return false;
}

static neo_status bind_workers(struct default_pool *pool, const neo_threadpool_options *options,
                               const struct topology *t)
{
    pool->uneven = is_uneven(t);
    pool->cpus = t->count;
    neo_affinity mode =
        options->affinity == NEO_AFFINITY_DEFAULT ? affinity_from_environment() : options->affinity;
    if (options->cpu_of_thread) {
        bind_as_user_says(pool, options);
    } else if (mode != NEO_AFFINITY_NONE) {
        if (pool->uneven)
            pool->weights = calloc((size_t)pool->threads, sizeof *pool->weights);
        if (pool->uneven && !pool->weights)
            return NEO_OUT_OF_MEMORY;
        return bind_in_order(pool, t, mode);
    }
    return NEO_OK;
}

neo_status default_pool_create(struct default_pool **out, const neo_threadpool_options *options)
{
    const char *core = cpu_variable(CPU_VARIABLE_CORE).value;
    struct topology *t = topology_create(&(struct topology_sources){.root = "", .core = core});
    if (!t)
        return NEO_OUT_OF_MEMORY;
    neo_status status = default_pool_create_on(out, options, t);
    free(t);
    return status;
}

neo_status default_pool_create_on(struct default_pool **out, const neo_threadpool_options *options,
                                  const struct topology *topology)
{
    *out = NULL;
    struct default_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NEO_OUT_OF_MEMORY;
    pool->threads = options->threads ? options->threads : threads_default();
    pool->spin_ns = spin_ns(options->spin_us);
    pool_threads_init(pool);
    pool->workers = aligned_alloc(CACHE_LINE, (size_t)pool->threads * sizeof *pool->workers);
    if (!pool->workers)
        goto fail;
    for (int i = 0; i < pool->threads; i++)
        pool->workers[i] = (struct worker){.pool = pool, .id = i, .cpu = -1};
    if (bind_workers(pool, options, topology) || !core_kinds_init(&pool->kinds, topology))
        goto fail;
    *out = pool;
    return NEO_OK;
fail:
    default_pool_destroy(pool);
    return NEO_OUT_OF_MEMORY;
}

void default_pool_destroy(struct default_pool *pool)
{
    if (!pool)
        return;
    lifetime_remove(&pool->lifetime);
    pool_stop(&pool->lifetime);
    free(pool->weights);
    core_kinds_deinit(&pool->kinds);
    free(pool->workers);
    free(pool);
}

const double *default_pool_weights(const struct default_pool *pool)
{
    return pool->weights;
}

bool default_pool_is_uneven(const struct default_pool *pool)
{
    return pool->uneven;
}

int default_pool_kind_here(const struct default_pool *pool)
{
    return core_kinds_here(&pool->kinds);
}

int default_pool_threads(const struct default_pool *pool)
{
    return pool->threads;
}

void default_pool_run(struct default_pool *pool, int n, neo_task_fn *task, void *argument)
{
    int wanted = (n < pool->threads ? n : pool->threads) - 1;
    int live = wanted > 0 && !parallel_is_nested() ? pool_live_workers(pool) : 0;
    if (!live) {
        parallel_run_inline(n, task, argument);
        return;
    }
    pool_run_region(pool, live, wanted, n, task, argument);
}
