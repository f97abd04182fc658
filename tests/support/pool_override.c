/* Runs any test program on another pool: with NEOPRENE_TEST_POOL=KIND or KIND,THREADS in the
 * environment, streams that name neither a pool nor a number of threads get that pool, and every
 * problem is worth all of its threads, however small. KIND is "caller" (no pool), "built-in" or one
 * of TEST_POOL_LIST. The linker sends calls of the wrapped functions here. */
#include "tests/support/pool_override.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/neoprene.h"
#include "src/threading/partition.h"
#include "tests/support/pools.h"

enum { DEFAULT_THREADS = 4 };

neo_status __real_neo_stream_create(neo_stream **out, neo_engine *engine,
                                    const neo_stream_options *options);
neo_status __wrap_neo_stream_create(neo_stream **out, neo_engine *engine,
                                    const neo_stream_options *options);
int __real_partition_threads(double cycles, int available, const struct core *core);
int __wrap_partition_threads(double cycles, int available, const struct core *core);

static struct {
    pthread_once_t once;
    const char *kind; /* NULL: nothing is overridden */
    int threads;
    struct test_pool *user;
    neo_threadpool table;
    pid_t process;
    bool always_split;
} override = {.once = PTHREAD_ONCE_INIT};

static void make_user_pool(const char *name)
{
    for (int kind = 0; kind < TEST_POOL_KINDS; kind++)
        if (!strcmp(name, test_pool_name((enum test_pool_kind)kind)))
            override.user = test_pool_create((enum test_pool_kind)kind, override.threads);
    if (!override.user) {
        fprintf(stderr, "NEOPRENE_TEST_POOL: there is no pool '%s'\n", name);
        exit(2);
    }
    override.table = *test_pool_table(override.user);
}

/* The engine's pool, for which networks are planned, gets as many threads. */
__attribute__((constructor)) static void read_environment(void)
{
    static char name[32], threads[16];
    const char *text = getenv("NEOPRENE_TEST_POOL");
    if (!text)
        return;
    override.threads = DEFAULT_THREADS;
    (void)sscanf(text, "%31[^,],%d", name, &override.threads);
    override.kind = name;
    if (!strcmp(name, "caller"))
        override.threads = 1;
    (void)snprintf(threads, sizeof threads, "%d", override.threads);
    (void)setenv("NEOPRENE_NUM_THREADS", threads, 1);
}

/* By the first stream: a program may fork before. */
static void make_pool(void)
{
    override.process = getpid();
    if (!strcmp(override.kind, "caller"))
        return;
    if (strcmp(override.kind, "built-in"))
        make_user_pool(override.kind);
    else if (neo_threadpool_create(&override.table,
                                   &(neo_threadpool_options){.threads = override.threads}))
        exit(2);
}

/* A child of fork() has no threads to join. */
__attribute__((destructor)) static void end(void)
{
    if (override.process != getpid())
        return;
    if (override.user)
        test_pool_destroy(override.user);
    neo_threadpool_destroy(&override.table);
}

neo_status __wrap_neo_stream_create(neo_stream **out, neo_engine *engine,
                                    const neo_stream_options *options)
{
    if (!override.kind || (options && (options->threadpool || options->max_threads)))
        return __real_neo_stream_create(out, engine, options);
    (void)pthread_once(&override.once, make_pool);
    neo_stream_options mine = {.max_threads = override.threads};
    if (override.table.parallel_for)
        mine = (neo_stream_options){.threadpool = &override.table};
    return __real_neo_stream_create(out, engine, &mine);
}

void pool_override_split(bool always)
{
    override.always_split = always;
}

int __wrap_partition_threads(double cycles, int available, const struct core *core)
{
    return override.kind || override.always_split
               ? available
               : __real_partition_threads(cycles, available, core);
}
