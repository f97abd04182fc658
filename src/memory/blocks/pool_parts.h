/* Parts of the block pool that its files share. */
#ifndef SRC_MEMORY_BLOCKS_POOL_PARTS_H
#define SRC_MEMORY_BLOCKS_POOL_PARTS_H

#include "src/core/lock.h"
#include "src/memory/blocks/classes.h"
#include "src/memory/blocks/pool.h"

struct size_class {
    struct block_link free; /* released last first */
    size_t live, free_count;
    size_t peak, previous_peak; /* of live: in this window and in the one before */
};

/* Invariant under the lock: live + free bytes <= limit, and no block is free while they exceed the
 * budget. */
struct block_pool {
    struct lock lock;
    struct block_source source;
    size_t budget_bytes, limit_bytes, window;
    int poison; /* -1: none */
    _Atomic uint64_t last_id;
    size_t until_window_ends;
    struct block_pool_stats stats;
    struct block_link ages; /* all free blocks */
    struct block *spare;    /* records without memory */
    struct block *records;  /* all records */
    struct size_class classes[CLASSES];
};

static inline struct block *by_age(struct block_link *link)
{
    return (void *)((char *)link - offsetof(struct block, in_ages));
}

#endif
