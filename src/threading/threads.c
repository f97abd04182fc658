/* The environment first, then the machine. */
#include "src/threading/threads.h"

#include <stdlib.h>

#include "arch/topology.h"
#include "src/core/env.h"
#include "src/threading/default_pool.h"

int threads_default(void)
{
    uint64_t number;
    if (env_number("NEOPRENE_NUM_THREADS", 1, DEFAULT_POOL_MAX_THREADS, false, &number))
        return (int)number;
    struct topology *t = topology_create(&(struct topology_sources){.root = ""});
    int threads = t ? topology_default_threads(t) : 1;
    free(t);
    return threads < DEFAULT_POOL_MAX_THREADS ? threads : DEFAULT_POOL_MAX_THREADS;
}
