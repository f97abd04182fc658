/* The free blocks of a pool, in the lists of their classes and by age, and what is counted of all
 * blocks. Everything here runs under the pool's lock and allocates and frees nothing. For
 * pool.c, whose acquires want it inlined. */
#ifndef SRC_MEMORY_BLOCKS_POOL_LISTS_H
#define SRC_MEMORY_BLOCKS_POOL_LISTS_H

#include "src/core/checked.h"
#include "src/memory/blocks/pool_parts.h"

/* ---- lists ---- */

static inline void list_init(struct block_link *list)
{
    list->next = list->previous = list;
}

static inline bool list_is_empty(const struct block_link *list)
{
    return list->next == list;
}

static inline void list_push(struct block_link *list, struct block_link *link)
{
    link->previous = list;
    link->next = list->next;
    list->next->previous = link;
    list->next = link;
}

static inline void list_remove(struct block_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

static inline struct block *by_class(struct block_link *link)
{
    return (void *)((char *)link - offsetof(struct block, in_class));
}

/* ---- accounting ---- */

static inline void count_live(struct block_pool *pool, struct size_class *class, size_t bytes)
{
    struct block_pool_stats *stats = &pool->stats;
    class->peak = max_size(class->peak, ++class->live);
    stats->live_blocks++;
    stats->live_bytes += bytes;
    stats->peak_live_bytes = max_size(stats->peak_live_bytes, stats->live_bytes);
    stats->peak_bytes = max_size(stats->peak_bytes, stats->live_bytes + stats->free_bytes);
}

static inline void uncount_live(struct block_pool *pool, struct size_class *class, size_t bytes)
{
    class->live--;
    pool->stats.live_blocks--;
    pool->stats.live_bytes -= bytes;
}

static inline void insert_free(struct block_pool *pool, struct block *block)
{
    struct size_class *class = &pool->classes[block->class_index];
    list_push(&class->free, &block->in_class);
    list_push(&pool->ages, &block->in_ages);
    class->free_count++;
    pool->stats.free_blocks++;
    pool->stats.free_bytes += block->bytes;
}

static inline void remove_free(struct block_pool *pool, struct block *block)
{
    list_remove(&block->in_class);
    list_remove(&block->in_ages);
    pool->classes[block->class_index].free_count--;
    pool->stats.free_blocks--;
    pool->stats.free_bytes -= block->bytes;
}

/* Takes a free block out of the pool for good, in front of a chain of such blocks. */
static inline struct block *detach(struct block_pool *pool, struct block *block,
                                   struct block *chain)
{
    remove_free(pool, block);
    pool->stats.trims++;
    block->next = chain;
    return block;
}

/* Detaches the blocks released longest ago while live + free + extra bytes exceed limit. */
static inline struct block *detach_over(struct block_pool *pool, size_t limit, size_t extra,
                                        struct block *chain)
{
    const struct block_pool_stats *stats = &pool->stats;
    while (!list_is_empty(&pool->ages) &&
           (extra > limit || stats->live_bytes + stats->free_bytes > limit - extra))
        chain = detach(pool, by_age(pool->ages.previous), chain);
    return chain;
}

/* At the end of a window: no class keeps more blocks than were live at once lately. */
static inline struct block *end_window(struct block_pool *pool, struct block *chain)
{
    for (size_t i = 0; i < CLASSES; i++) {
        struct size_class *class = &pool->classes[i];
        size_t keep = max_size(class->peak, class->previous_peak);
        while (class->free_count && class->live + class->free_count > keep)
            chain = detach(pool, by_class(class->free.previous), chain);
        class->previous_peak = class->peak;
        class->peak = class->live;
    }
    return chain;
}

static inline struct block *count_acquire(struct block_pool *pool)
{
    pool->stats.acquires++;
    if (--pool->until_window_ends)
        return NULL;
    pool->until_window_ends = pool->window;
    return end_window(pool, NULL);
}

#endif
