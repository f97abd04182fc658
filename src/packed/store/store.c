/* The provider that a store is: look-ups, pins, life. */
#include "src/packed/store/store.h"

#include <stdlib.h>

#include "src/packed/store/parts.h"

/* ---- look-ups ---- */

static neo_status find_in_backend(struct store *store, const neo_weights_key *key,
                                  neo_weights_blob *blob)
{
    struct store_entry *entry = store_add_entry(store, key, STORE_FINDING);
    if (!entry)
        return NEO_OUT_OF_MEMORY;
    pthread_mutex_unlock(&store->mutex);
    neo_status status = store->backend->find(store->context, entry);
    store_lock(store);
    if (status != NEO_OK) {
        store_settle_gone(store, entry);
        return status;
    }
    store_settle_ready(store, entry);
    store_describe(entry, blob);
    return NEO_OK;
}

static neo_status store_look_up(void *context, const neo_weights_key *key, neo_weights_blob *blob)
{
    if (store_refuses_key(key) || !blob)
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    neo_status status = NEO_NOT_FOUND;
    store_lock(store);
    struct store_entry *entry = store_table_find(&store->table, key);
    while (entry && entry->state == STORE_FINDING) {
        pthread_cond_wait(&store->settled, &store->mutex);
        entry = store_table_find(&store->table, key);
    }
    if (entry && entry->state == STORE_READY) {
        store_pin_entry(store, entry);
        store_describe(entry, blob);
        status = NEO_OK;
    } else if (!entry && store->backend->find) {
        status = find_in_backend(store, key, blob);
    }
    store->counters.hits += status == NEO_OK;
    store->counters.misses += status != NEO_OK;
    store_unlock(store);
    return status;
}

/* ---- pins ---- */

/* NULL for what is not pinned. */
static struct store_entry *pinned_entry(const struct store *store, uint64_t id)
{
    struct store_entry *entry = store_table_get(&store->table, id);
    return entry && entry->state == STORE_READY && entry->pins ? entry : NULL;
}

static const void *store_offset_to_addr(void *context, uint64_t offset)
{
    struct store *store = context;
    store_lock(store);
    const struct store_entry *entry = pinned_entry(store, offset);
    const void *data = entry ? entry->data : NULL;
    store_unlock(store);
    return data;
}

static neo_status store_pin(void *context, uint64_t offset)
{
    struct store *store = context;
    store_lock(store);
    struct store_entry *entry = pinned_entry(store, offset);
    if (entry)
        store_pin_entry(store, entry);
    store_unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}

static neo_status store_unpin(void *context, uint64_t offset)
{
    struct store *store = context;
    store_lock(store);
    struct store_entry *entry = pinned_entry(store, offset);
    if (entry)
        store_unpin_entry(store, entry);
    store_unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}

/* ---- life ---- */

static void store_statistics(void *context, neo_weights_statistics *out)
{
    struct store *store = context;
    store_lock(store);
    *out = store->counters;
    out->entries = store->table.entries;
    out->pinned = store->table.entries - store->unpinned;
    pthread_mutex_unlock(&store->mutex); /* whoever may ask holds the store */
    if (store->backend->statistics)
        store->backend->statistics(store->context, out);
}

static void store_destroy(void *context)
{
    struct store *store = context;
    if (!store)
        return;
    store_lock(store);
    store->ended = true;
    store_evict(store, 0);
    store->held--;
    store_unlock(store);
}

neo_status store_create(neo_weights_provider *out, const struct store_backend *backend,
                        void *context, size_t limit_bytes)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || !store_table_init(&store->table))
        goto fail;
    store->backend = backend;
    store->context = context;
    store->limit_bytes = limit_bytes;
    store->held = 1;
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->settled, NULL);
    *out = (neo_weights_provider){
        .context = store,
        .look_up = store_look_up,
        .reserve_space = store_reserve_space,
        .look_up_or_insert = store_look_up_or_insert,
        .cancel = store_cancel,
        .offset_to_addr = store_offset_to_addr,
        .pin = store_pin,
        .unpin = store_unpin,
        .statistics = store_statistics,
        .destroy = store_destroy,
    };
    return NEO_OK;
fail:
    free(store);
    if (backend->destroy)
        backend->destroy(context);
    return NEO_OUT_OF_MEMORY;
}
