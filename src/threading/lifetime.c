/* The one list of what has threads: a process has one exit and one fork, so this is global. Work
 * never touches it; only creating and destroying threads does. */
#include "src/threading/lifetime.h"

#include <pthread.h>
#include <stdatomic.h>

#include "src/threading/nesting.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lifetime *owners;
static _Atomic uint64_t generation;

uint64_t lifetime_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

/* The lock is held across a fork, so that the child does not inherit it from another thread. */
static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
    owners = NULL;
    (void)pthread_mutex_unlock(&lock);
}

static int fork_status;
static void watch(void)
{
    fork_status = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

bool lifetime_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return !pthread_once(&once, watch) && !fork_status;
}

void lifetime_add(struct lifetime *owner)
{
    (void)pthread_mutex_lock(&lock);
    owner->next = owners;
    owners = owner;
    (void)pthread_mutex_unlock(&lock);
}

void lifetime_remove(struct lifetime *owner)
{
    (void)pthread_mutex_lock(&lock);
    struct lifetime **at = &owners;
    while (*at && *at != owner)
        at = &(*at)->next;
    if (*at)
        *at = owner->next;
    (void)pthread_mutex_unlock(&lock);
}

/* No thread may outlive its code. A task that calls exit() cannot be joined by itself. */
__attribute__((destructor)) static void stop_all(void)
{
    if (parallel_is_nested())
        return;
    (void)pthread_mutex_lock(&lock);
    for (struct lifetime *owner = owners; owner; owner = owner->next)
        owner->stop(owner);
    owners = NULL;
    (void)pthread_mutex_unlock(&lock);
}
