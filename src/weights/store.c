/* The entries of a provider. */
#include "src/weights/store.h"

#include <pthread.h>
#include <stdlib.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/weights/key.h"
#include "src/weights/store_table.h"

enum { MAX_ALIGN = 4096 };

struct store {
    const struct store_backend *backend;
    void *context;
    size_t limit_bytes; /* 0: none */
    pthread_mutex_t mutex;
    pthread_cond_t settled; /* an entry became READY or went */
    struct store_table table;
    size_t held; /* pins and reservations, and 1 until destroy */
    bool ended;  /* destroyed, but still held */
    struct store_entry *newest, *oldest;
    size_t unpinned;
    neo_weights_statistics counters;
};

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

/* Drops unpinned entries until incoming more bytes are within the limit, or none is left. */
static void evict(struct store *store, size_t incoming)
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

static void lock(struct store *store)
{
    pthread_mutex_lock(&store->mutex);
}

/* The last one to hold something of a destroyed store frees it. */
static void unlock(struct store *store)
{
    bool last = store->held == 0;
    pthread_mutex_unlock(&store->mutex);
    if (last)
        store_free(store);
}

static void store_destroy(void *context)
{
    struct store *store = context;
    if (!store)
        return;
    lock(store);
    store->ended = true;
    evict(store, 0);
    store->held--;
    unlock(store);
}

/* ---- entries ---- */

static void describe(const struct store_entry *entry, neo_weights_blob *blob)
{
    *blob = (neo_weights_blob){
        .offset = entry->id,
        .size = entry->size,
        .align = entry->align,
        .layout_id = entry->key.layout[KEY_LAYOUT_ID],
        .layout_version = entry->key.layout[KEY_LAYOUT_VERSION],
    };
}

static void pin_entry(struct store *store, struct store_entry *entry)
{
    if (entry->pins++ == 0)
        list_remove(store, entry);
    store->held++;
}

static void unpin_entry(struct store *store, struct store_entry *entry)
{
    store->held--;
    if (--entry->pins)
        return;
    if (entry->mapped_bytes) {
        drop_unlisted(store, entry); /* the kernel keeps its pages as long as it likes */
        return;
    }
    list_push(store, entry);
    evict(store, 0);
}

/* A new entry that belongs to the calling thread until it is settled. */
static struct store_entry *add_entry(struct store *store, const neo_weights_key *key,
                                     enum store_state state)
{
    struct store_entry *entry =
        store_table_add(&store->table, key, store->backend->entry_bytes, state);
    store->held += entry != NULL;
    return entry;
}

/* The calling thread's entry is there for all, pinned once in place of being held. */
static void settle_ready(struct store *store, struct store_entry *entry)
{
    entry->state = STORE_READY;
    entry->pins = 1;
    account(store, entry, true);
    evict(store, 0);
    pthread_cond_broadcast(&store->settled);
}

static void settle_gone(struct store *store, struct store_entry *entry)
{
    store_table_remove(&store->table, entry);
    store->held--;
    free(entry);
    pthread_cond_broadcast(&store->settled);
}

/* Releases the data first, without the lock: that may take a while. */
static void drop(struct store *store, struct store_entry *entry)
{
    store->backend->release(store->context, entry, false);
    lock(store);
    settle_gone(store, entry);
}

/* ---- the provider's functions ---- */

static bool key_is_refused(const neo_weights_key *key)
{
    if (key && weights_key_is_valid(key))
        return false;
    log_check("weights: the key is NULL or its layout is not 2 to %d words followed by zeros",
              NEO_WEIGHTS_MAX_LAYOUT_WORDS);
    return true;
}

static neo_status find_in_backend(struct store *store, const neo_weights_key *key,
                                  neo_weights_blob *blob)
{
    struct store_entry *entry = add_entry(store, key, STORE_FINDING);
    if (!entry)
        return NEO_OUT_OF_MEMORY;
    pthread_mutex_unlock(&store->mutex);
    neo_status status = store->backend->find(store->context, entry);
    lock(store);
    if (status != NEO_OK) {
        settle_gone(store, entry);
        return status;
    }
    settle_ready(store, entry);
    describe(entry, blob);
    return NEO_OK;
}

static neo_status store_look_up(void *context, const neo_weights_key *key, neo_weights_blob *blob)
{
    if (key_is_refused(key) || !blob)
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    neo_status status = NEO_NOT_FOUND;
    lock(store);
    struct store_entry *entry = store_table_find(&store->table, key);
    while (entry && entry->state == STORE_FINDING) {
        pthread_cond_wait(&store->settled, &store->mutex);
        entry = store_table_find(&store->table, key);
    }
    if (entry && entry->state == STORE_READY) {
        pin_entry(store, entry);
        describe(entry, blob);
        status = NEO_OK;
    } else if (!entry && store->backend->find) {
        status = find_in_backend(store, key, blob);
    }
    store->counters.hits += status == NEO_OK;
    store->counters.misses += status != NEO_OK;
    unlock(store);
    return status;
}

/* Pins an entry that is there already, if it is what the caller is going to read. */
static neo_status reserve_existing(struct store *store, struct store_entry *entry,
                                   neo_weights_reservation *reservation)
{
    if (entry->size != reservation->size || entry->align < reservation->align) {
        log_check("weights: the entry has %zu bytes at a multiple of %zu; %zu at %zu are wanted",
                  entry->size, entry->align, reservation->size, reservation->align);
        return NEO_INVALID_ARGUMENT;
    }
    pin_entry(store, entry);
    store->counters.adopted++;
    reservation->offset = entry->id;
    return NEO_OK;
}

static neo_status reserve_found(struct store *store, struct store_entry *entry,
                                neo_weights_reservation *reservation)
{
    settle_ready(store, entry);
    neo_status status = reserve_existing(store, entry, reservation);
    unpin_entry(store, entry); /* the pin of settling */
    return status;
}

static neo_status reserve_new(struct store *store, const neo_weights_key *key,
                              neo_weights_reservation *reservation)
{
    struct store_entry *entry = add_entry(store, key, STORE_PACKING);
    if (!entry)
        return NEO_OUT_OF_MEMORY;
    entry->size = reservation->size;
    entry->align = reservation->align;
    evict(store, entry->size);
    pthread_mutex_unlock(&store->mutex);
    bool found = false;
    neo_status status = store->backend->reserve(store->context, entry, &found);
    if (status != NEO_OK) {
        drop(store, entry);
        return status;
    }
    lock(store);
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

static neo_status store_reserve_space(void *context, const neo_weights_key *key, size_t size,
                                      size_t align, neo_weights_reservation *reservation)
{
    if (key_is_refused(key) || !reservation || request_is_refused(size, align))
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    *reservation = (neo_weights_reservation){.size = size, .align = align};
    lock(store);
    struct store_entry *entry = store_table_find(&store->table, key);
    store->counters.waits += entry && entry->state != STORE_READY;
    while (entry && entry->state != STORE_READY) {
        pthread_cond_wait(&store->settled, &store->mutex);
        entry = store_table_find(&store->table, key);
    }
    neo_status status =
        entry ? reserve_existing(store, entry, reservation) : reserve_new(store, key, reservation);
    unlock(store);
    return status;
}

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
        drop(store, entry);
        return status;
    }
    lock(store);
    store->counters.inserts++;
    settle_ready(store, entry);
    describe(entry, blob);
    return NEO_OK;
}

static neo_status store_look_up_or_insert(void *context, const neo_weights_key *key,
                                          neo_weights_reservation *reservation,
                                          neo_weights_blob *blob)
{
    if (key_is_refused(key) || !blob)
        return NEO_INVALID_ARGUMENT;
    struct store *store = context;
    neo_status status = NEO_OK;
    lock(store);
    struct store_entry *entry =
        reservation ? store_table_get(&store->table, reservation->offset) : NULL;
    if (entry && !weights_key_equal(&entry->key, key))
        entry = NULL;
    entry = entry ? end_reservation(store, reservation) : NULL;
    if (!entry) {
        log_check("weights: there is no such reservation for this key");
        status = NEO_INVALID_ARGUMENT;
    } else if (entry->state == STORE_READY) {
        describe(entry, blob);
    } else {
        status = commit(store, entry, blob);
    }
    unlock(store);
    return status;
}

static neo_status store_cancel(void *context, neo_weights_reservation *reservation)
{
    struct store *store = context;
    lock(store);
    struct store_entry *entry = end_reservation(store, reservation);
    if (entry && entry->state == STORE_READY) {
        unpin_entry(store, entry);
    } else if (entry) {
        store->counters.cancelled++;
        pthread_mutex_unlock(&store->mutex);
        drop(store, entry);
    }
    unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}

/* NULL for what is not pinned. */
static struct store_entry *pinned_entry(const struct store *store, uint64_t id)
{
    struct store_entry *entry = store_table_get(&store->table, id);
    return entry && entry->state == STORE_READY && entry->pins ? entry : NULL;
}

static const void *store_offset_to_addr(void *context, uint64_t offset)
{
    struct store *store = context;
    lock(store);
    const struct store_entry *entry = pinned_entry(store, offset);
    const void *data = entry ? entry->data : NULL;
    unlock(store);
    return data;
}

static neo_status store_pin(void *context, uint64_t offset)
{
    struct store *store = context;
    lock(store);
    struct store_entry *entry = pinned_entry(store, offset);
    if (entry)
        pin_entry(store, entry);
    unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}

static neo_status store_unpin(void *context, uint64_t offset)
{
    struct store *store = context;
    lock(store);
    struct store_entry *entry = pinned_entry(store, offset);
    if (entry)
        unpin_entry(store, entry);
    unlock(store);
    return entry ? NEO_OK : NEO_INVALID_ARGUMENT;
}

static void store_statistics(void *context, neo_weights_statistics *out)
{
    struct store *store = context;
    lock(store);
    *out = store->counters;
    out->entries = store->table.entries;
    out->pinned = store->table.entries - store->unpinned;
    pthread_mutex_unlock(&store->mutex); /* whoever may ask holds the store */
    if (store->backend->statistics)
        store->backend->statistics(store->context, out);
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
