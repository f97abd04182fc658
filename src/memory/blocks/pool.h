/* The blocks of memory of one engine: what one primitive gave back serves another of any shape.
 *
 * Blocks come in size classes, eight to a power of two, so that a request above 1 KiB fills at
 * least 8/9 of its block; smaller ones are rounded up to 128 bytes. An acquire takes the free block
 * that was released last, or makes a new one: it never waits for a release. One short lock guards
 * the lists; memory is obtained and freed outside it. A warm acquire or release makes no allocation
 * and no system call.
 *
 * Free memory goes back to its source in four ways: the budget, the high-water mark (at the end of
 * every window of acquires each class keeps as many blocks as were live at once in this window
 * or the one before), block_pool_trim(), and an allocation that fails (everything free is given
 * up and the allocation tried again).
 *
 * The records of blocks live as long as the pool, so that a stale pointer to one is recognised
 * instead of followed. */
#ifndef SRC_MEMORY_BLOCKS_POOL_H
#define SRC_MEMORY_BLOCKS_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "neoprene/allocation.h"

/* Where memory comes from. Called from any thread and never with a lock held. */
struct block_source {
    void *context;
    neo_status (*allocate)(void *context, size_t bytes, size_t align, void **out);
    void (*release)(void *context, void *data, size_t bytes);
    neo_allocation_kind (*kind_of)(void *context, const void *data); /* NULL: heap */
};

/* The C heap. */
extern const struct block_source block_source_heap;

struct block_link {
    struct block_link *next, *previous;
};

struct block {
    void *data;   /* aligned to 128 bytes, to 4096 from 32 KiB on */
    size_t bytes; /* usable: the size of the class */
    /* The rest belongs to the pool, and next and serial also to the holder. */
    struct block *next;         /* in a holder's list, or among records without memory */
    _Atomic uint64_t serial;    /* counts the reservations of this block */
    struct block_link in_class; /* free blocks of the class, released last first */
    struct block_link in_ages;  /* all free blocks, released last first */
    struct block *record;       /* next of all records ever made */
    uint32_t class_index;
    bool is_live;
    /* Who has it, for reports: written by the holder, read by block_pool_write(). */
    _Atomic(const char *) user; /* a static text; NULL: nobody */
    _Atomic uint64_t user_id;
    atomic_size_t user_bytes; /* what was asked for */
};

struct block_pool_options {
    size_t budget_bytes; /* live and free together: free blocks are dropped to stay within it, live
                          * ones are served even beyond; 0: no budget */
    size_t limit_bytes; /* live and free together never exceed it: NEO_OUT_OF_MEMORY; 0: no limit */
    size_t window;      /* acquires between two looks at the high-water mark; 0: 4096 */
    bool is_poisoned;   /* block_pool_poison() fills blocks with this byte, so that whoever reads */
    unsigned char poison; /* what he did not write shows */
};

struct block_pool_stats {
    size_t live_blocks, live_bytes; /* acquired and not released */
    size_t free_blocks, free_bytes;
    size_t peak_live_bytes, peak_bytes; /* of live, and of live and free together */
    uint64_t acquires, releases;
    uint64_t creations; /* acquires that had to allocate */
    uint64_t trims;     /* free blocks given back to the source */
    uint64_t failures;  /* acquires that returned an error */
};

struct block_pool;

/* options may be NULL: no budget, no limit, the default window. */
neo_status block_pool_create(struct block_pool **out, const struct block_source *source,
                             const struct block_pool_options *options);

/* Every block must have been released. NULL is fine. */
void block_pool_destroy(struct block_pool *pool);

/* A block of at least bytes bytes, its content undefined. NEO_OUT_OF_MEMORY: the source has none
 * or the limit is reached; *out is then NULL. */
neo_status block_pool_acquire(struct block_pool *pool, size_t bytes, struct block **out);

/* The two halves of an acquire, for holders that decide under a lock of their own: take pops a free
 * block or returns NULL, and allocates and frees nothing; make always creates one. The holder
 * passes the blocks that take pushes out, chained by next, to block_pool_discard() once it has
 * given up its lock. */
struct block *block_pool_take(struct block_pool *pool, size_t bytes, struct block **pushed_out);
neo_status block_pool_make(struct block_pool *pool, size_t bytes, struct block **out);

/* The same, but NEO_UNSUPPORTED when live blocks alone would exceed the budget with it. */
neo_status block_pool_make_in_budget(struct block_pool *pool, size_t bytes, struct block **out);

/* Live blocks alone exceed the budget: none should be kept for later. */
bool block_pool_is_over(struct block_pool *pool);

/* NEO_INVALID_ARGUMENT: the block is not live (it was released before). */
neo_status block_pool_release(struct block_pool *pool, struct block *block);

/* The same without freeing anything: the blocks that the budget pushes out are left to the holder.
 */
neo_status block_pool_put(struct block_pool *pool, struct block *block, struct block **pushed_out);
void block_pool_discard(struct block_pool *pool, struct block *chain);

/* Gives free blocks back to the source, released longest ago first, until at most keep_bytes are
 * free. Returns the bytes given back. */
size_t block_pool_trim(struct block_pool *pool, size_t keep_bytes);

/* Replaces the budget (SIZE_MAX: none) and drops what is over it. */
void block_pool_set_budget(struct block_pool *pool, size_t budget_bytes);
size_t block_pool_budget(struct block_pool *pool);

void block_pool_stats(struct block_pool *pool, struct block_pool_stats *out);

/* Fills a block that its holder is about to use, if the options say so. */
void block_pool_poison(const struct block_pool *pool, const struct block *block);

/* 1, 2, …: a number that no other call got. */
uint64_t block_pool_new_id(struct block_pool *pool);

/* Writes every block with its user (see usage_report.h): type "blocks" for those in use, "free" for
 * the others. Exact while nobody acquires or releases. NEO_OUT_OF_MEMORY, NEO_IO_ERROR. */
neo_status block_pool_write(struct block_pool *pool, FILE *file, neo_dump_format format);

/* The size of the block that serves a request; 0 when no class is large enough. */
size_t block_pool_class_bytes(size_t bytes);

#endif
