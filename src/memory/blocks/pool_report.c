/* What is in the block pool, for reports. */
#include <stdlib.h>

#include "src/memory/blocks/pool_parts.h"
#include "src/memory/blocks/usage_report.h"

struct listing {
    struct pool_record *records;
    struct pool_user *users; /* one for each record */
    size_t count, room;
};

static void find_kinds(const struct block_pool *pool, struct listing *list)
{
    for (size_t i = 0; pool->source.kind_of && i < list->count; i++)
        list->records[i].kind = pool->source.kind_of(pool->source.context, list->records[i].data);
}

static void list_block(struct listing *list, const struct block *block, const char *type)
{
    if (list->count == list->room)
        return;
    struct pool_user *user = &list->users[list->count];
    user->primitive = atomic_load_explicit(&block->user, memory_order_relaxed);
    user->unique_id = atomic_load_explicit(&block->user_id, memory_order_relaxed);
    user->bytes = atomic_load_explicit(&block->user_bytes, memory_order_relaxed);
    list->records[list->count++] = (struct pool_record){.pool_type = type,
                                                        .data = block->data,
                                                        .kind = NEO_KIND_HEAP,
                                                        .bytes = block->bytes,
                                                        .users = user,
                                                        .user_count = user->primitive != NULL};
}

/* Blocks that come to be after the room was measured are left out. */
static void list_blocks(struct block_pool *pool, struct listing *list)
{
    lock_take(&pool->lock);
    for (const struct block *block = pool->records; block; block = block->record)
        if (block->is_live)
            list_block(list, block, "blocks");
    for (struct block_link *link = pool->ages.next; link != &pool->ages; link = link->next)
        list_block(list, by_age(link), "free");
    lock_give(&pool->lock);
}

neo_status block_pool_write(struct block_pool *pool, FILE *file, neo_dump_format format)
{
    struct block_pool_stats stats;
    block_pool_stats(pool, &stats);
    struct listing list = {.room = stats.live_blocks + stats.free_blocks};
    list.records = calloc(list.room + 1, sizeof *list.records);
    list.users = calloc(list.room + 1, sizeof *list.users);
    neo_status status = NEO_OUT_OF_MEMORY;
    if (list.records && list.users) {
        list_blocks(pool, &list);
        find_kinds(pool, &list);
        status = pool_write(file, format, list.records, list.count, 0);
    }
    free(list.users);
    free(list.records);
    return status;
}
