/* The memory manager of one cached implementation: its handles reserve blocks from it when they are
 * created and give them back when they are destroyed.
 *
 * A reservation is a token that owns exactly one block. Reserving takes an idle block of this
 * manager, else a free one of the engine's pool, else makes one: it never waits. The choice is
 * made under the manager's lock, and blocks move between the two lists only under it, so there are
 * never more blocks than reservations that were live at once.
 *
 * Executions work in their handle's block; those that overlap with another one of the same handle
 * lease a further block. The manager keeps no more idle blocks than it has live reservations, and
 * none when the pool is over its budget, so an implementation without handles holds none: its
 * memory serves other primitives. */
#ifndef SRC_MEMORY_BLOCKS_MANAGER_H
#define SRC_MEMORY_BLOCKS_MANAGER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/lock.h"
#include "src/memory/blocks/pool.h"

/* Fields are for manager.c, but stats may be read through block_manager_stats(). */
struct block_manager_stats {
    size_t reserved, leased; /* blocks in live reservations, and in leases beyond them */
    size_t idle;             /* blocks kept for the next one */
    size_t peak;             /* of reserved + leased */
    uint64_t reserves, unreserves, leases;
    uint64_t from_idle, from_pool; /* where blocks came from; the others were made */
};

struct block_manager {
    struct lock lock;
    struct block_pool *pool;
    struct block *idle; /* chained by next */
    const char *user;   /* of its blocks, in reports: a static text */
    uint64_t user_id;
    struct block_manager_stats stats;
};

/* Zero-initialised it is empty. It may be moved and copied while nothing runs in it; of two copies
 * only the first unreserve succeeds. */
struct reservation {
    struct block *block; /* NULL: empty */
    uint64_t serial;     /* which reservation of the block this is */
    atomic_uint running; /* an execution works in the block */
};

/* The memory of one execution. */
struct lease {
    void *data;
    struct reservation *own;  /* the handle's block is used, else */
    struct reservation extra; /* this one */
};

void block_manager_init(struct block_manager *manager, struct block_pool *pool);

/* For reports: user is a static text; id tells managers with the same text apart. Before the first
 * reservation. */
void block_manager_set_user(struct block_manager *manager, const char *user, uint64_t id);

/* Gives every idle block to the pool. NEO_BUSY, and nothing happens, while a reservation or a lease
 * is live. */
neo_status block_manager_deinit(struct block_manager *manager);

/* On failure *out is empty: NEO_OUT_OF_MEMORY; NEO_UNSUPPORTED, the budget of the pool is used up
 * by blocks that are in use (executions can still lease one). */
neo_status block_manager_reserve(struct block_manager *manager, size_t bytes,
                                 struct reservation *out);

/* Empties the token. NEO_INVALID_ARGUMENT: it is empty or its block was given back already;
 * NEO_BUSY: an execution works in the block. Neither changes anything. */
neo_status block_manager_unreserve(struct block_manager *manager, struct reservation *reservation);

/* Memory for one execution: own's block when that is free and large enough (no lock, one atomic
 * operation), else a further one. own may be NULL. */
neo_status block_manager_lease(struct block_manager *manager, struct reservation *own, size_t bytes,
                               struct lease *out);
neo_status block_manager_return(struct block_manager *manager, struct lease *lease);

void block_manager_stats(struct block_manager *manager, struct block_manager_stats *out);

#endif
