/* Constants that batches, streams and primitives share: one copy for one content.
 *
 * A constant is known by a key (words that say what it holds). The first caller builds it, outside
 * any lock, so different constants are built at once; callers for the same key wait for the one
 * build and get the same copy or the same failure. A failure is forgotten: the next caller builds
 * again. The last release frees the copy. */
#ifndef SRC_MEMORY_CONSTANTS_H
#define SRC_MEMORY_CONSTANTS_H

#include <pthread.h>
#include <stdbool.h>

#include "src/memory/allocation.h"

/* Fills data, which has request.memory.bytes bytes. Must not ask for the constant it builds. */
typedef neo_status constant_build_fn(void *argument, void *data, size_t bytes);

struct constant_request {
    const uint32_t *key; /* copied */
    size_t key_words;
    /* bytes (> 0), alignment, kind, flags, owner. With replicas the kind is numa_bound. */
    neo_allocation_request memory;
    constant_build_fn *build;
    void *argument;
    /* Where the reader runs; used only if the registry keeps a replica per node. -1: anywhere. */
    int node;
    bool is_sealed; /* nobody can write it after the build, where its kind has pages of its own */
};

struct constants_stats {
    size_t live, live_bytes; /* constants built, and their bytes as counted by the domain */
    uint64_t builds, hits, waits, failures; /* a hit that had to wait counts as a wait, too */
};

#define CONSTANTS_BUCKETS 256

struct constant;

struct constants {
    pthread_mutex_t lock;
    pthread_cond_t built; /* some build ended */
    struct memory_domain *domain;
    struct constant *buckets[CONSTANTS_BUCKETS];
    struct constants_stats stats;
    bool has_replicas;
};

/* has_replicas: each NUMA node that asks gets a copy of its own. domain must outlive the registry.
 */
void constants_init(struct constants *constants, struct memory_domain *domain, bool has_replicas);

/* NEO_BUSY, and nothing happens, while a constant is held. */
neo_status constants_deinit(struct constants *constants);

/* *out is NULL on failure; else release it with constant_release(), before the registry ends. */
neo_status constants_get(struct constants *constants, const struct constant_request *request,
                         struct constant **out);

/* NULL is fine. Any thread. */
void constant_release(struct constant *constant);

/* One more reference to one that is held. */
struct constant *constant_retain(struct constant *constant);

const void *constant_data(const struct constant *constant);
void constant_query(const struct constant *constant, neo_allocation_info *out);
struct constants_stats constants_stats(struct constants *constants);

#endif
