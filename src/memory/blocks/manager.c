/* Reservations and leases of one implementation. */
#include "src/memory/blocks/manager.h"

#include <stdbool.h>

#include "src/core/checked.h"

/* An idle block serves only requests of its own size class; looking further than this is not worth
 * it, the pool answers in constant time. */
#define LOOK_AT_IDLE 4

enum purpose { RESERVE, LEASE };

/* ---- under the manager's lock ---- */

static struct block *pop_idle(struct block_manager *manager, size_t class_bytes)
{
    struct block **at = &manager->idle;
    for (int i = 0; *at && i < LOOK_AT_IDLE; i++, at = &(*at)->next) {
        struct block *block = *at;
        if (block->bytes == class_bytes) {
            *at = block->next;
            manager->stats.idle--;
            return block;
        }
    }
    return NULL;
}

static struct block *find_block(struct block_manager *manager, size_t bytes,
                                struct block **pushed_out)
{
    *pushed_out = NULL;
    struct block *block = pop_idle(manager, block_pool_class_bytes(bytes));
    if (block) {
        manager->stats.from_idle++;
        return block;
    }
    block = block_pool_take(manager->pool, bytes, pushed_out);
    if (block)
        manager->stats.from_pool++;
    return block;
}

static void count_use(struct block_manager *manager, enum purpose purpose)
{
    struct block_manager_stats *stats = &manager->stats;
    if (purpose == RESERVE) {
        stats->reserved++;
        stats->reserves++;
    } else {
        stats->leased++;
        stats->leases++;
    }
    stats->peak = max_size(stats->peak, stats->reserved + stats->leased);
}

static void uncount_use(struct block_manager *manager, enum purpose purpose)
{
    if (purpose == RESERVE) {
        manager->stats.reserved--;
        manager->stats.unreserves++;
    } else {
        manager->stats.leased--;
    }
}

/* Gives idle blocks beyond the allowed number to the pool, which may push others out. */
static struct block *shed_idle(struct block_manager *manager, size_t allowed)
{
    struct block *pushed_out = NULL;
    while (manager->stats.idle > allowed) {
        struct block *block = manager->idle, *chain;
        manager->idle = block->next;
        manager->stats.idle--;
        block_pool_put(manager->pool, block, &chain);
        while (chain) {
            struct block *next = chain->next;
            chain->next = pushed_out;
            pushed_out = chain;
            chain = next;
        }
    }
    return pushed_out;
}

/* ---- tokens ---- */

static void set_user(struct block *block, const char *user, uint64_t id, size_t bytes)
{
    atomic_store_explicit(&block->user_bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&block->user_id, id, memory_order_relaxed);
    atomic_store_explicit(&block->user, user, memory_order_relaxed);
}

static void fill(struct reservation *token, struct block *block)
{
    /* The block is this token's alone, and no old token has its present number. */
    uint64_t serial = atomic_load_explicit(&block->serial, memory_order_relaxed) + 1;
    atomic_store_explicit(&block->serial, serial, memory_order_relaxed);
    token->block = block;
    token->serial = serial;
}

static void make_empty(struct reservation *token)
{
    token->block = NULL;
    token->serial = 0;
    atomic_init(&token->running, 0);
}

/* A block's number moves on when it is reserved and when it is given back, so an old token never
 * fits again, whoever holds the block now. */
static bool retire(const struct reservation *token)
{
    uint64_t expected = token->serial;
    return atomic_compare_exchange_strong_explicit(&token->block->serial, &expected, expected + 1,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* How many blocks may stay idle. */
static size_t idle_limit(const struct block_manager *manager)
{
    size_t reserved = manager->stats.reserved;
    return reserved && !block_pool_is_over(manager->pool) ? reserved : 0;
}

/* Takes back what take() counted. */
static void take_failed(struct block_manager *manager, enum purpose purpose)
{
    lock_take(&manager->lock);
    uncount_use(manager, purpose);
    struct block *pushed_out = shed_idle(manager, manager->stats.reserved);
    lock_give(&manager->lock);
    block_pool_discard(manager->pool, pushed_out);
}

static neo_status take(struct block_manager *manager, size_t bytes, enum purpose purpose,
                       struct reservation *out)
{
    struct block *pushed_out;
    lock_take(&manager->lock);
    count_use(manager, purpose);
    struct block *block = find_block(manager, bytes, &pushed_out);
    lock_give(&manager->lock);
    block_pool_discard(manager->pool, pushed_out);
    neo_status status = block ? NEO_OK
                        : purpose == RESERVE
                            ? block_pool_make_in_budget(manager->pool, bytes, &block)
                            : block_pool_make(manager->pool, bytes, &block);
    make_empty(out);
    if (status != NEO_OK) {
        take_failed(manager, purpose);
        return status;
    }
    set_user(block, manager->user, manager->user_id, bytes);
    fill(out, block);
    return NEO_OK;
}

static neo_status give(struct block_manager *manager, enum purpose purpose,
                       struct reservation *token)
{
    if (!token->block || !retire(token))
        return NEO_INVALID_ARGUMENT;
    struct block *block = token->block;
    make_empty(token);
    set_user(block, NULL, 0, 0);
    lock_take(&manager->lock);
    uncount_use(manager, purpose);
    block->next = manager->idle;
    manager->idle = block;
    manager->stats.idle++;
    struct block *pushed_out = shed_idle(manager, idle_limit(manager));
    lock_give(&manager->lock);
    block_pool_discard(manager->pool, pushed_out);
    return NEO_OK;
}

/* ---- interface ---- */

void block_manager_init(struct block_manager *manager, struct block_pool *pool)
{
    *manager = (struct block_manager){.pool = pool};
    lock_init(&manager->lock);
}

void block_manager_set_user(struct block_manager *manager, const char *user, uint64_t id)
{
    manager->user = user;
    manager->user_id = id;
}

neo_status block_manager_deinit(struct block_manager *manager)
{
    struct block *pushed_out = NULL;
    lock_take(&manager->lock);
    bool busy = manager->stats.reserved || manager->stats.leased;
    if (!busy)
        pushed_out = shed_idle(manager, 0);
    lock_give(&manager->lock);
    if (busy)
        return NEO_BUSY;
    block_pool_discard(manager->pool, pushed_out);
    lock_deinit(&manager->lock);
    return NEO_OK;
}

neo_status block_manager_reserve(struct block_manager *manager, size_t bytes,
                                 struct reservation *out)
{
    return take(manager, bytes, RESERVE, out);
}

neo_status block_manager_unreserve(struct block_manager *manager, struct reservation *reservation)
{
    if (atomic_exchange_explicit(&reservation->running, 1, memory_order_acquire))
        return NEO_BUSY;
    neo_status status = give(manager, RESERVE, reservation);
    atomic_store_explicit(&reservation->running, 0, memory_order_release);
    return status;
}

neo_status block_manager_lease(struct block_manager *manager, struct reservation *own, size_t bytes,
                               struct lease *out)
{
    *out = (struct lease){0};
    if (own && own->block && bytes <= own->block->bytes &&
        !atomic_exchange_explicit(&own->running, 1, memory_order_acquire)) {
        out->own = own;
        out->data = own->block->data;
        block_pool_poison(manager->pool, own->block);
        return NEO_OK;
    }
    neo_status status = take(manager, bytes, LEASE, &out->extra);
    if (status != NEO_OK)
        return status;
    out->data = out->extra.block->data;
    block_pool_poison(manager->pool, out->extra.block);
    return NEO_OK;
}

neo_status block_manager_return(struct block_manager *manager, struct lease *lease)
{
    struct reservation *own = lease->own;
    lease->data = NULL;
    lease->own = NULL;
    if (!own)
        return give(manager, LEASE, &lease->extra);
    return atomic_exchange_explicit(&own->running, 0, memory_order_release) ? NEO_OK
                                                                            : NEO_INVALID_ARGUMENT;
}

void block_manager_stats(struct block_manager *manager, struct block_manager_stats *out)
{
    lock_take(&manager->lock);
    *out = manager->stats;
    lock_give(&manager->lock);
}
