/* Parts of the store that its files share: entries.c keeps the entries, reservations.c
 * adds to them, store.c is the provider. */
#ifndef SRC_PACKED_STORE_PARTS_H
#define SRC_PACKED_STORE_PARTS_H

#include <pthread.h>

#include "src/packed/store/store.h"
#include "src/packed/store/table.h"

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

void store_lock(struct store *store);

/* The last one to hold something of a destroyed store frees it. */
void store_unlock(struct store *store);

/* ---- entries: under the lock, where nothing else is said ---- */

/* Drops unpinned entries until incoming more bytes are within the limit, or none is left. */
void store_evict(struct store *store, size_t incoming);

void store_pin_entry(struct store *store, struct store_entry *entry);
void store_unpin_entry(struct store *store, struct store_entry *entry);

/* A new entry that belongs to the calling thread until it is settled. */
struct store_entry *store_add_entry(struct store *store, const neo_weights_key *key,
                                    enum store_state state);

/* The calling thread's entry is there for all, pinned once in place of being held. */
void store_settle_ready(struct store *store, struct store_entry *entry);
void store_settle_gone(struct store *store, struct store_entry *entry);

/* Called without the lock, which it takes: releasing the data may take a while. */
void store_drop(struct store *store, struct store_entry *entry);

/* What users are told of an entry. */
void store_describe(const struct store_entry *entry, neo_weights_blob *blob);

/* Says so in the log. */
bool store_refuses_key(const neo_weights_key *key);

/* ---- the provider's functions that add entries ---- */

neo_status store_reserve_space(void *context, const neo_weights_key *key, size_t size, size_t align,
                               neo_weights_reservation *reservation);
neo_status store_look_up_or_insert(void *context, const neo_weights_key *key,
                                   neo_weights_reservation *reservation, neo_weights_blob *blob);
neo_status store_cancel(void *context, neo_weights_reservation *reservation);

#endif
