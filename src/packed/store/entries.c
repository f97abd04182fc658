/* The entries of a store: pins, eviction, settling, and the end of the store. */
#include <stdlib.h>

#include "src/core/log.h"
#include "src/packed/key.h"
#include "src/packed/store/parts.h"

/* ---- unpinned entries, by when they became so ---- */

static void list_push(struct store *store, struct store_entry *entry)
{
    entry->newer = NULL;
    entry->older = store->newest;
    *(store->newest ? &store->newest->newer : &store->oldest) = entry;
    store->newest = entry;
    store->unpinned++;
}

static void list_remove(struct store *store, struct store_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &store->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &store->oldest) = entry->newer;
    store->unpinned--;
}

static void account(struct store *store, const struct store_entry *entry, bool add)
{
    uint64_t sign = add ? 1 : UINT64_MAX; /* minus one */
    store->counters.memory_bytes += sign * entry->memory_bytes;
    store->counters.mapped_bytes += sign * entry->mapped_bytes;
}

/* An entry that is in no list any more. */
static void drop_unlisted(struct store *store, struct store_entry *entry)
{
    store_table_remove(&store->table, entry);
    account(store, entry, false);
    store->backend->release(store->context, entry, true);
    free(entry);
}

static void drop_oldest(struct store *store)
{
    struct store_entry *entry = store->oldest;
    store->oldest = entry->newer;
    *(entry->newer ? &entry->newer->older : &store->newest) = NULL;
    store->unpinned--;
    drop_unlisted(store, entry);
}

void store_evict(struct store *store, size_t incoming)
{
    size_t limit = store->limit_bytes;
    while (store->oldest &&
           (store->ended || (limit && store->counters.memory_bytes + incoming > limit))) {
        drop_oldest(store);
        store->counters.evictions++;
    }
}

/* ---- life ---- */

static void store_free(struct store *store)
{
    while (store->oldest)
        drop_oldest(store);
    if (store->backend->destroy)
        store->backend->destroy(store->context);
    pthread_cond_destroy(&store->settled);
    pthread_mutex_destroy(&store->mutex);
    store_table_deinit(&store->table);
    free(store);
}

void store_lock(struct store *store)
{
    pthread_mutex_lock(&store->mutex);
}

void store_unlock(struct store *store)
{
    bool last = store->held == 0;
    pthread_mutex_unlock(&store->mutex);
    if (last)
        store_free(store);
}

/* ---- entries ---- */

void store_pin_entry(struct store *store, struct store_entry *entry)
{
    if (entry->pins++ == 0)
        list_remove(store, entry);
    store->held++;
}

void store_unpin_entry(struct store *store, struct store_entry *entry)
{
    store->held--;
    if (--entry->pins)
        return;
    if (entry->mapped_bytes) {
        drop_unlisted(store, entry); /* the kernel keeps its pages as long as it likes */
        return;
    }
    list_push(store, entry);
    store_evict(store, 0);
}

struct store_entry *store_add_entry(struct store *store, const neo_weights_key *key,
                                    enum store_state state)
{
    struct store_entry *entry =
        store_table_add(&store->table, key, store->backend->entry_bytes, state);
    store->held += entry != NULL;
    return entry;
}

void store_settle_ready(struct store *store, struct store_entry *entry)
{
    entry->state = STORE_READY;
    entry->pins = 1;
    account(store, entry, true);
    store_evict(store, 0);
    pthread_cond_broadcast(&store->settled);
}

void store_settle_gone(struct store *store, struct store_entry *entry)
{
    store_table_remove(&store->table, entry);
    store->held--;
    free(entry);
    pthread_cond_broadcast(&store->settled);
}

void store_drop(struct store *store, struct store_entry *entry)
{
    store->backend->release(store->context, entry, false);
    store_lock(store);
    store_settle_gone(store, entry);
}

/* ---- what users say and are told ---- */

void store_describe(const struct store_entry *entry, neo_weights_blob *blob)
{
    *blob = (neo_weights_blob){
        .offset = entry->id,
        .size = entry->size,
        .align = entry->align,
        .layout_id = entry->key.layout[KEY_LAYOUT_ID],
        .layout_version = entry->key.layout[KEY_LAYOUT_VERSION],
    };
}

bool store_refuses_key(const neo_weights_key *key)
{
    if (key && weights_key_is_valid(key))
        return false;
    log_check("weights: the key is NULL or its layout is not 2 to %d words followed by zeros",
              NEO_WEIGHTS_MAX_LAYOUT_WORDS);
    return true;
}
