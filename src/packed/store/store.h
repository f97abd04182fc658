/* The entries of a provider: who packs which key, who uses which entry, what may be dropped.
 *
 * A store is what the built-in providers have in common; where the bytes are is its backend's
 * business. An entry is born when a thread begins to look for it (FINDING) or to pack it (PACKING),
 * and only that thread touches it until it is READY or gone; the others wait for that. So one key
 * is packed once, and different keys are packed at the same time.
 *
 * A store ends when it has been destroyed and its last entry is unpinned. */
#ifndef SRC_PACKED_STORE_STORE_H
#define SRC_PACKED_STORE_STORE_H

#include <stdbool.h>

#include "neoprene/weights.h"

enum store_state { STORE_FINDING, STORE_PACKING, STORE_READY };

/* A backend's entry begins with this. */
struct store_entry {
    neo_weights_key key;
    uint64_t hash;
    uint64_t id; /* slot + 1 in the low half, the slot's use count in the high half; never 0 */
    enum store_state state;
    size_t pins;
    struct store_entry *next;          /* in its bucket */
    struct store_entry *newer, *older; /* among the unpinned */
    void *data;                        /* the backend's from here on */
    size_t size, align;
    size_t memory_bytes, mapped_bytes;
};

/* Called without the store's lock, for entries that no other thread touches. */
struct store_backend {
    size_t entry_bytes;

    /* Looks for the entry's key; on NEO_OK the entry's data, size, align are set. NULL: there is
     * nothing beyond what the store holds. */
    neo_status (*find)(void *context, struct store_entry *entry);

    /* Gives the entry data of its size and alignment; *found is set if it is packed already. */
    neo_status (*reserve)(void *context, struct store_entry *entry, bool *found);

    /* The data is packed. NULL: nothing is to be done. On failure the entry is released. */
    neo_status (*commit)(void *context, struct store_entry *entry);

    /* The entry goes: gives back what find() or reserve() took. committed is false for a
     * reservation. Also called for entries that have no data. */
    void (*release)(void *context, struct store_entry *entry, bool committed);

    /* Adds what the backend knows. May be NULL. */
    void (*statistics)(void *context, neo_weights_statistics *out);
    void (*destroy)(void *context);
};

/* Makes a provider of a backend, which it owns from then on, also when this fails. Unpinned entries
 * go when those in memory exceed limit_bytes (0: no limit); mapped ones go at once. */
neo_status store_create(neo_weights_provider *out, const struct store_backend *backend,
                        void *context, size_t limit_bytes);

#endif
