/* The blocks of memory of one engine, by size class. */
#include "src/memory/blocks/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory/blocks/pool_lists.h"

#define PAGE 4096u
#define PAGE_ALIGNED_FROM 32768u /* from here on the step between classes is a page or more */
#define DEFAULT_WINDOW 4096u

/* ---- the heap as a source ---- */

static neo_status heap_allocate(void *context, size_t bytes, size_t align, void **out)
{
    (void)context;
    *out = aligned_alloc(align, bytes);
    return *out ? NEO_OK : NEO_OUT_OF_MEMORY;
}

static void heap_release(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(data);
}

const struct block_source block_source_heap = {.allocate = heap_allocate, .release = heap_release};

size_t block_pool_class_bytes(size_t bytes)
{
    return has_class(bytes) ? class_of(bytes).bytes : 0;
}

/* ---- records ---- */

static struct block *record_create(struct block_pool *pool)
{
    struct block *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    lock_take(&pool->lock);
    record->record = pool->records;
    pool->records = record;
    lock_give(&pool->lock);
    return record;
}

/* Under the lock; NULL when there is none. */
static struct block *pop_spare(struct block_pool *pool)
{
    struct block *record = pool->spare;
    if (record)
        pool->spare = record->next;
    return record;
}

void block_pool_discard(struct block_pool *pool, struct block *chain)
{
    if (!chain)
        return;
    struct block *last = chain;
    for (struct block *block = chain; block; block = block->next) {
        pool->source.release(pool->source.context, block->data, block->bytes);
        last = block;
    }
    lock_take(&pool->lock);
    last->next = pool->spare;
    pool->spare = chain;
    lock_give(&pool->lock);
}

/* ---- acquire ---- */

struct block *block_pool_take(struct block_pool *pool, size_t bytes, struct block **pushed_out)
{
    *pushed_out = NULL;
    if (!has_class(bytes))
        return NULL;
    struct size_class *class = &pool->classes[class_of(bytes).index];
    struct block *block = NULL;
    lock_take(&pool->lock);
    if (!list_is_empty(&class->free)) {
        block = by_class(class->free.next);
        remove_free(pool, block);
        block->is_live = true;
        count_live(pool, class, block->bytes);
        *pushed_out = count_acquire(pool);
    }
    lock_give(&pool->lock);
    return block;
}

/* Counts a block that is about to be made, and detaches what has to go first. */
static bool announce(struct block_pool *pool, struct class_of class, struct block **record,
                     struct block **chain)
{
    if (class.bytes > pool->limit_bytes || pool->stats.live_bytes > pool->limit_bytes - class.bytes)
        return false;
    *chain = detach_over(pool, min_size(pool->budget_bytes, pool->limit_bytes), class.bytes, NULL);
    *record = pop_spare(pool);
    count_live(pool, &pool->classes[class.index], class.bytes);
    return true;
}

static neo_status allocate(struct block_pool *pool, size_t bytes, void **out)
{
    size_t align = bytes >= PAGE_ALIGNED_FROM ? PAGE : SMALL_STEP;
    neo_status status = pool->source.allocate(pool->source.context, bytes, align, out);
    if (status != NEO_OK && block_pool_trim(pool, 0))
        status = pool->source.allocate(pool->source.context, bytes, align, out);
    return status;
}

static neo_status fill_record(struct block_pool *pool, struct class_of class, struct block **record)
{
    if (!*record)
        *record = record_create(pool);
    if (!*record)
        return NEO_OUT_OF_MEMORY;
    (*record)->class_index = (uint32_t) class.index;
    (*record)->bytes = class.bytes;
    return allocate(pool, class.bytes, &(*record)->data);
}

/* Takes back what announce() counted. */
static void renounce(struct block_pool *pool, struct class_of class, struct block *record)
{
    lock_take(&pool->lock);
    uncount_live(pool, &pool->classes[class.index], class.bytes);
    pool->stats.failures++;
    if (record) {
        record->next = pool->spare;
        pool->spare = record;
    }
    lock_give(&pool->lock);
}

static neo_status refuse(struct block_pool *pool)
{
    lock_take(&pool->lock);
    pool->stats.failures++;
    lock_give(&pool->lock);
    return NEO_OUT_OF_MEMORY;
}

static bool is_beyond_budget(const struct block_pool *pool, size_t bytes)
{
    return bytes > pool->budget_bytes || pool->stats.live_bytes > pool->budget_bytes - bytes;
}

static neo_status make(struct block_pool *pool, size_t bytes, bool in_budget, struct block **out)
{
    *out = NULL;
    if (!has_class(bytes))
        return refuse(pool);
    struct class_of class = class_of(bytes);
    struct block *record = NULL, *chain = NULL;
    lock_take(&pool->lock);
    bool declined = in_budget && is_beyond_budget(pool, class.bytes);
    bool fits = !declined && announce(pool, class, &record, &chain);
    lock_give(&pool->lock);
    if (declined)
        return NEO_UNSUPPORTED;
    block_pool_discard(pool, chain);
    if (!fits)
        return refuse(pool);
    neo_status status = fill_record(pool, class, &record);
    if (status != NEO_OK) {
        renounce(pool, class, record);
        return status;
    }
    lock_take(&pool->lock);
    record->is_live = true;
    pool->stats.creations++;
    chain = count_acquire(pool);
    lock_give(&pool->lock);
    block_pool_discard(pool, chain);
    *out = record;
    return NEO_OK;
}

neo_status block_pool_make(struct block_pool *pool, size_t bytes, struct block **out)
{
    return make(pool, bytes, false, out);
}

neo_status block_pool_make_in_budget(struct block_pool *pool, size_t bytes, struct block **out)
{
    return make(pool, bytes, true, out);
}

bool block_pool_is_over(struct block_pool *pool)
{
    lock_take(&pool->lock);
    bool is_over = is_beyond_budget(pool, 0);
    lock_give(&pool->lock);
    return is_over;
}

neo_status block_pool_acquire(struct block_pool *pool, size_t bytes, struct block **out)
{
    struct block *pushed_out;
    *out = block_pool_take(pool, bytes, &pushed_out);
    block_pool_discard(pool, pushed_out);
    return *out ? NEO_OK : block_pool_make(pool, bytes, out);
}

/* ---- release ---- */

neo_status block_pool_put(struct block_pool *pool, struct block *block, struct block **pushed_out)
{
    *pushed_out = NULL;
    lock_take(&pool->lock);
    bool is_live = block->is_live;
    if (is_live) {
        block->is_live = false;
        pool->stats.releases++;
        uncount_live(pool, &pool->classes[block->class_index], block->bytes);
        insert_free(pool, block);
        *pushed_out = detach_over(pool, pool->budget_bytes, 0, NULL);
    }
    lock_give(&pool->lock);
    return is_live ? NEO_OK : NEO_INVALID_ARGUMENT;
}

neo_status block_pool_release(struct block_pool *pool, struct block *block)
{
    struct block *pushed_out;
    neo_status status = block_pool_put(pool, block, &pushed_out);
    block_pool_discard(pool, pushed_out);
    return status;
}

size_t block_pool_trim(struct block_pool *pool, size_t keep_bytes)
{
    struct block *chain = NULL;
    lock_take(&pool->lock);
    size_t before = pool->stats.free_bytes;
    while (pool->stats.free_bytes > keep_bytes)
        chain = detach(pool, by_age(pool->ages.previous), chain);
    size_t trimmed = before - pool->stats.free_bytes;
    lock_give(&pool->lock);
    block_pool_discard(pool, chain);
    return trimmed;
}

void block_pool_set_budget(struct block_pool *pool, size_t budget_bytes)
{
    lock_take(&pool->lock);
    pool->budget_bytes = budget_bytes;
    struct block *chain = detach_over(pool, pool->budget_bytes, 0, NULL);
    lock_give(&pool->lock);
    block_pool_discard(pool, chain);
}

size_t block_pool_budget(struct block_pool *pool)
{
    lock_take(&pool->lock);
    size_t bytes = pool->budget_bytes;
    lock_give(&pool->lock);
    return bytes;
}

void block_pool_stats(struct block_pool *pool, struct block_pool_stats *out)
{
    lock_take(&pool->lock);
    *out = pool->stats;
    lock_give(&pool->lock);
}

void block_pool_poison(const struct block_pool *pool, const struct block *block)
{
    if (pool->poison >= 0)
        memset(block->data, pool->poison, block->bytes);
}

uint64_t block_pool_new_id(struct block_pool *pool)
{
    return atomic_fetch_add_explicit(&pool->last_id, 1, memory_order_relaxed) + 1;
}

/* ---- life ---- */

neo_status block_pool_create(struct block_pool **out, const struct block_source *source,
                             const struct block_pool_options *options)
{
    struct block_pool *pool = calloc(1, sizeof *pool);
    *out = pool;
    if (!pool)
        return NEO_OUT_OF_MEMORY;
    struct block_pool_options chosen = options ? *options : (struct block_pool_options){0};
    pool->source = *source;
    pool->budget_bytes = chosen.budget_bytes ? chosen.budget_bytes : SIZE_MAX;
    pool->limit_bytes = chosen.limit_bytes ? chosen.limit_bytes : SIZE_MAX;
    pool->window = chosen.window ? chosen.window : DEFAULT_WINDOW;
    pool->until_window_ends = pool->window;
    pool->poison = chosen.is_poisoned ? chosen.poison : -1;
    lock_init(&pool->lock);
    list_init(&pool->ages);
    for (size_t i = 0; i < CLASSES; i++)
        list_init(&pool->classes[i].free);
    return NEO_OK;
}

void block_pool_destroy(struct block_pool *pool)
{
    if (!pool)
        return;
    assert(!pool->stats.live_blocks);
    block_pool_trim(pool, 0);
    for (struct block *record = pool->records, *next; record; record = next) {
        next = record->record;
        free(record);
    }
    lock_deinit(&pool->lock);
    free(pool);
}
