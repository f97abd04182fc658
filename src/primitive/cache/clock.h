/* The order of uses: stamps that grow. For shards.c, whose hits want it inlined. */
#ifndef SRC_PRIMITIVE_CACHE_CLOCK_H
#define SRC_PRIMITIVE_CACHE_CLOCK_H

#include "arch/ticks.h"
#include "src/core/thread_number.h"
#include "src/primitive/cache/parts.h"

#define TICK_SHIFT 5u /* 32 uses a step: 1 GHz lasts for 18 years of uptime */
#define EVERYBODY 0u
#define CLAIM_AFTER 1024u /* uses */

/* Numbers the uses: of two uses, one of which ended before the other began, the later one gets the
 * larger stamp. A counter in memory would do that alone, but every hit of every thread would fight
 * for it; the machine's own counter is shared without a fight. Its steps may be longer than a use,
 * so that the low bits number what a thread does within one step.
 *
 * Reading it takes longer than all else in a hit, and is only for telling threads apart. So a
 * thread that uses the cache for a while becomes its owner, and counts on from the last time it
 * read. Any other thread that comes takes the ownership away before it reads the counter, which is
 * ahead of all that the owner has counted. */
#if TICKS_ARE_SHARED
struct clock {
    uint64_t last; /* the largest stamp this thread has drawn */
    unsigned readings;
};

static _Thread_local struct clock my_clock __attribute__((tls_model("initial-exec")));

/* Where the machine's counter is too coarse to tell threads apart, one in memory is drawn from. It
 * is one for all caches, as a thread's last stamp is. */
static _Atomic uint64_t drawn;

static inline uint64_t next_reading(const struct cache *cache)
{
    if (cache->has_fine_ticks)
        return ticks_now();
    return atomic_fetch_add_explicit(&drawn, 1, memory_order_relaxed) + 1;
}

static inline void read_clock(const struct cache *cache, struct clock *clock)
{
    uint64_t stamp = next_reading(cache) << TICK_SHIFT;
    clock->last = stamp > clock->last ? stamp : clock->last + 1;
}

static inline uint64_t draw_stamp(struct cache *cache)
{
    uint64_t owner = atomic_load_explicit(&cache->owner, memory_order_relaxed);
    if (owner == thread_number()) {
        if (!(++my_clock.last & ((1u << TICK_SHIFT) - 1)))
            read_clock(cache, &my_clock); /* what follows may be another thread's */
        return my_clock.last;
    }
    if (owner != EVERYBODY)
        atomic_store_explicit(&cache->owner, EVERYBODY, memory_order_relaxed);
    my_clock.readings++;
    read_clock(cache, &my_clock);
    return my_clock.last;
}

/* With no shard's lock held, now and then. Every use of another thread either ends before its
 * shard's lock is taken here, and has a smaller stamp than the reading that follows; or it comes
 * after, sees the new owner and takes the ownership away. */
static inline void claim(struct cache *cache)
{
    uint64_t expected = EVERYBODY;
    my_clock.readings = 0;
    if (!atomic_compare_exchange_strong_explicit(&cache->owner, &expected, thread_number(),
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        lock_take(&cache->shards[i].lock);
        lock_give(&cache->shards[i].lock);
    }
    read_clock(cache, &my_clock);
}

static inline void claim_if_alone(struct cache *cache)
{
    if (my_clock.readings >= CLAIM_AFTER)
        claim(cache);
}
#else
static inline uint64_t draw_stamp(struct cache *cache)
{
    return atomic_fetch_add_explicit(&cache->clock, 1, memory_order_relaxed);
}

static inline void claim_if_alone(struct cache *cache)
{
    (void)cache;
}
#endif

#endif
