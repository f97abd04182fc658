/* The entries of a store, by key and by number. */
#ifndef SRC_PACKED_STORE_TABLE_H
#define SRC_PACKED_STORE_TABLE_H

#include "src/packed/store/store.h"

struct store_slot {
    struct store_entry *entry;
    uint32_t uses;
};

struct store_table {
    struct store_slot *slots; /* as many as buckets: at least one for each entry */
    struct store_entry **buckets;
    size_t slot_count; /* a power of two */
    size_t entries;
};

/* False: no memory. */
bool store_table_init(struct store_table *table);

/* The entries themselves are the caller's. */
void store_table_deinit(struct store_table *table);

/* NULL if there is none. */
struct store_entry *store_table_find(const struct store_table *table, const neo_weights_key *key);
struct store_entry *store_table_get(const struct store_table *table, uint64_t id);

/* A new entry of so many bytes, zero but for its key, hash, number and state; NULL: no memory. */
struct store_entry *store_table_add(struct store_table *table, const neo_weights_key *key,
                                    size_t entry_bytes, enum store_state state);

/* The entry has to be there; it is not freed. */
void store_table_remove(struct store_table *table, struct store_entry *entry);

#endif
