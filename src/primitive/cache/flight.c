/* Single flight: builds in progress and the threads that wait for them, under the writer lock. */
#include "src/primitive/cache/parts.h"

struct build *cache_find_build(struct cache *cache, const struct cache_key *key)
{
    struct build *build = cache->builds;
    for (; build; build = build->next)
        if (cache_keys_equal(build->key, key) &&
            (!build->is_private || pthread_equal(build->thread, pthread_self())))
            break;
    return build;
}

/* Those that wait for it go on, even if they have not woken up yet. */
static void remove_build(struct cache *cache, const struct build *ended)
{
    struct build **at = &cache->builds;
    while (*at != ended)
        at = &(*at)->next;
    *at = ended->next;
    for (struct build *build = cache->builds; build; build = build->next)
        if (build->blocked_on == ended)
            build->blocked_on = NULL;
}

/* Would waiting for this build never end, because it waits for the calling thread? */
static bool is_circular(const struct build *build)
{
    for (; build; build = build->blocked_on)
        if (pthread_equal(build->thread, pthread_self()))
            return true;
    return false;
}

/* All builds of the calling thread wait for another one, until that ends: see remove_build(). */
static void block_mine_on(struct cache *cache, struct build *other)
{
    for (struct build *build = cache->builds; build; build = build->next)
        if (pthread_equal(build->thread, pthread_self()))
            build->blocked_on = other;
}

neo_status cache_wait_for(struct cache *cache, struct build *build, struct cache_value **value)
{
    if (is_circular(build))
        return NEO_RUNTIME_ERROR;
    struct waiter waiter = {.next = build->waiters};
    pthread_cond_init(&waiter.ready, NULL);
    build->waiters = &waiter; /* cppcheck-suppress autoVariables ; gone before this returns */
    block_mine_on(cache, build);
    while (!waiter.is_done)
        lock_wait(&cache->writer, &waiter.ready);
    pthread_cond_destroy(&waiter.ready);
    *value = waiter.value;
    return waiter.status;
}

/* The waiters are gone from the builder's view afterwards. */
static void hand_over(struct build *build, neo_status status, struct cache_value *value)
{
    for (struct waiter *waiter = build->waiters, *next; waiter; waiter = next) {
        next = waiter->next;
        waiter->status = status;
        waiter->value = value;
        if (value)
            cache_value_retain(value);
        waiter->is_done = true;
        pthread_cond_signal(&waiter->ready);
    }
}

void cache_end_build(struct cache *cache, struct build *build, neo_status status,
                     struct cache_value *value)
{
    remove_build(cache, build);
    hand_over(build, status, value);
}
