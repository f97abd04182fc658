/* New entries of a store: space is reserved, filled by the caller, and committed or given up. */
#include "src/core/log.h"
#include "src/packed/key.h"
#include "src/packed/store/parts.h"

enum { MAX_ALIGN = 4096 };

/* ---- space ---- */

/* Pins an entry that is there already, if it is what the caller is going to read. */
static neo_status reserve_existing(struct store *store, struct store_entry *entry,
                                   neo_weights_reservation *reservation)
{
    if (entry->size != reservation->size || entry->align < reservation->align) {
        log_check("weights: the entry has %zu bytes at a multiple of %zu; %zu at %zu are wanted",
                  entry->size, entry->align, reservation->size, reservation->align);
        return NEO_INVALID_ARGUMENT;
    }
    store_pin_entry(store, entry);
    store->counters.adopted++;
    reservation->offset = entry->id;
    return NEO_OK;
}

static neo_status reserve_found(struct store *store, struct store_entry *entry,
                                neo_weights_reservation *reservation)
{
    store_settle_ready(store, entry);
    neo_status status = reserve_existing(store, entry, reservation);
    store_unpin_entry(store, entry); /* the pin of settling */
    return status;
}

static neo_status reserve_new(struct store *store, const neo_weights_key *key,
                              neo_weights_reservation *reservation)
{
    struct store_entry *entry = store_add_entry(store, key, STORE_PACKING);
    if (!entry)
        return NEO_OUT_OF_MEMORY;
    entry->size = reservation->size;
    entry->align = reservation->align;
    store_evict(store, entry->size);
    pthread_mutex_unlock(&store->mutex);
    bool found = false;
    neo_status status = store->backend->reserve(store->context, entry, &found);
    if (status != NEO_OK) {
        store_drop(store, entry);
        return status;
    }
    store_lock(store);
    if (found)
        return reserve_found(store, entry, reservation);
    reservation->data = entry->data;
    reservation->offset = entry->id;
    return NEO_OK;
}

static bool request_is_refused(size_t size, size_t align)
{
    if (size && align && align <= MAX_ALIGN && !(align & (align - 1)))
        return false;
    log_check("weights: %zu bytes at a multiple of %zu: the size is 0, or the alignment is not a "
              "power of two up to %d",
              size, align, MAX_ALIGN);
    return true;
}

neo_status store_reserve_space(void *context, const neo_weights_key *key, size_t size, size_t align,
                               neo_weights_reservation *reservation)
{
    if (store_refuses_key(key) || !reservation || request_is_refused(size, align))
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    *reservation = (neo_weights_reservation){.size = size, .align = align};
    store_lock(store);
    struct store_entry *entry = store_table_find(&store->table, key);
    store->counters.waits += entry && entry->state != STORE_READY;
    while (entry && entry->state != STORE_READY) {
        pthread_cond_wait(&store->settled, &store->mutex);
        entry = store_table_find(&store->table, key);
    }
    neo_status status =
        entry ? reserve_existing(store, entry, reservation) : reserve_new(store, key, reservation);
    store_unlock(store);
    return status;
}

/* ---- commit or give up ---- */

/* The entry of a reservation, which ends here; NULL if it is none. */
static struct store_entry *end_reservation(struct store *store,
                                           neo_weights_reservation *reservation)
{
    struct store_entry *entry =
        reservation ? store_table_get(&store->table, reservation->offset) : NULL;
    if (!entry)
        return NULL;
    bool mine = entry->state == STORE_PACKING ? entry->data == reservation->data
                                              : !reservation->data && entry->pins;
    if (!mine)
        return NULL;
    *reservation = (neo_weights_reservation){.data = NULL};
    return entry;
}

static neo_status commit(struct store *store, struct store_entry *entry, neo_weights_blob *blob)
{
    pthread_mutex_unlock(&store->mutex);
    const struct store_backend *backend = store->backend;
    neo_status status = backend->commit ? backend->commit(store->context, entry) : NEO_OK;
    if (status != NEO_OK) {
        store_drop(store, entry);
        return status;
    }
    store_lock(store);
    store->counters.inserts++;
    store_settle_ready(store, entry);
    store_describe(entry, blob);
    return NEO_OK;
}

neo_status store_look_up_or_insert(void *context, const neo_weights_key *key,
                                   neo_weights_reservation *reservation, neo_weights_blob *blob)
{
    if (store_refuses_key(key) || !blob)
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    neo_status status = NEO_OK;
    store_lock(store);
    struct store_entry *entry =
        reservation ? store_table_get(&store->table, reservation->offset) : NULL;
    if (entry && !weights_key_equal(&entry->key, key))
        entry = NULL;
    entry = entry ? end_reservation(store, reservation) : NULL;
    if (!entry) {
        log_check("weights: there is no such reservation for this key");
        status = NEO_INVALID_ARGUMENT;
    } else if (entry->state == STORE_READY) {
        store_describe(entry, blob);
    } else {
        status = commit(store, entry, blob);
    }
    store_unlock(store);
    return status;
}

neo_status store_cancel(void *context, neo_weights_reservation *reservation)
{
    struct store *store = context;
    store_lock(store);
    struct store_entry *entry = end_reservation(store, reservation);
    if (entry && entry->state == STORE_READY) {
        store_unpin_entry(store, entry);
    } else if (entry) {
        store->counters.cancelled++;
        pthread_mutex_unlock(&store->mutex);
        store_drop(store, entry);
    }
    store_unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}
