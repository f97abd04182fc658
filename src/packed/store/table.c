/* The entries of a store, by key and by number. */
#include "src/packed/store/table.h"

#include <stdlib.h>

#include "src/packed/key.h"

enum { FIRST_SLOTS = 64 };

static struct store_entry **bucket_of(const struct store_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->slot_count - 1)];
}

struct store_entry *store_table_find(const struct store_table *table, const neo_weights_key *key)
{
    uint64_t hash = weights_key_hash(key, true);
    for (struct store_entry *entry = *bucket_of(table, hash); entry; entry = entry->next)
        if (entry->hash == hash && weights_key_equal(&entry->key, key))
            return entry;
    return NULL;
}

struct store_entry *store_table_get(const struct store_table *table, uint64_t id)
{
    size_t slot = (size_t)(id & UINT32_MAX) - 1;
    if (slot >= table->slot_count)
        return NULL;
    struct store_entry *entry = table->slots[slot].entry;
    return entry && entry->id == id ? entry : NULL;
}

static bool grow(struct store_table *table)
{
    size_t count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS;
    struct store_slot *slots = calloc(count, sizeof *slots);
    struct store_entry **buckets = calloc(count, sizeof(struct store_entry *));
    if (!slots || !buckets) {
        free(slots);
        free(buckets);
        return false;
    }
    struct store_slot *old = table->slots;
    size_t old_count = table->slot_count;
    free(table->buckets);
    table->slots = slots;
    table->buckets = buckets;
    table->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        slots[i] = old[i];
        struct store_entry *entry = old[i].entry;
        if (entry) {
            struct store_entry **bucket = bucket_of(table, entry->hash);
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    free(old);
    return true;
}

static size_t free_slot(const struct store_table *table)
{
    size_t i = 0;
    while (table->slots[i].entry)
        i++;
    return i;
}

struct store_entry *store_table_add(struct store_table *table, const neo_weights_key *key,
                                    size_t entry_bytes, enum store_state state)
{
    if (table->entries == table->slot_count && !grow(table))
        return NULL;
    struct store_entry *entry = calloc(1, entry_bytes);
    if (!entry)
        return NULL;
    size_t i = free_slot(table);
    struct store_slot *slot = &table->slots[i];
    slot->entry = entry;
    entry->key = *key;
    entry->hash = weights_key_hash(key, true);
    entry->id = (uint64_t)++slot->uses << 32 | (uint64_t)(i + 1);
    entry->state = state;
    struct store_entry **bucket = bucket_of(table, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    table->entries++;
    return entry;
}

void store_table_remove(struct store_table *table, struct store_entry *entry)
{
    struct store_entry **link = bucket_of(table, entry->hash);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    table->slots[(size_t)(entry->id & UINT32_MAX) - 1].entry = NULL;
    table->entries--;
}

bool store_table_init(struct store_table *table)
{
    *table = (struct store_table){.slot_count = 0};
    return grow(table);
}

void store_table_deinit(struct store_table *table)
{
    free(table->slots);
    free(table->buckets);
}
