/* The registry of constants: a table of chains, get-or-create with waiting. */
#include "src/memory/constants.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"

/* Everything but the memory is guarded by the registry's lock; the memory is written by the one
 * builder before status leaves NEO_BUSY. A failed one is in no chain. */
struct constant {
    struct constants *registry;
    struct constant *next;
    size_t references; /* holders, and callers who wait */
    neo_status status; /* NEO_BUSY: being built; NEO_OK; else why it failed */
    struct allocation memory;
    int node;
    uint32_t hash;
    size_t key_words;
    uint32_t key[];
};

void constants_init(struct constants *constants, struct memory_domain *domain, bool has_replicas)
{
    *constants = (struct constants){.domain = domain, .has_replicas = has_replicas};
    pthread_mutex_init(&constants->lock, NULL);
    pthread_cond_init(&constants->built, NULL);
}

neo_status constants_deinit(struct constants *constants)
{
    for (size_t i = 0; i < CONSTANTS_BUCKETS; i++)
        if (constants->buckets[i])
            return NEO_BUSY;
    pthread_cond_destroy(&constants->built);
    pthread_mutex_destroy(&constants->lock);
    return NEO_OK;
}

/* ---- keys ---- */

static uint32_t hash_key(const uint32_t *key, size_t words, int node)
{
    uint64_t hash = (uint64_t)words + ((uint64_t)(unsigned)node << 32);
    for (size_t i = 0; i < words; i++)
        hash = ((hash ^ key[i]) * UINT64_C(0x9E3779B97F4A7C15)) ^ (hash >> 29);
    return (uint32_t)(hash ^ (hash >> 32));
}

static struct constant *find(const struct constants *constants, const struct constant *wanted)
{
    struct constant *at = constants->buckets[wanted->hash % CONSTANTS_BUCKETS];
    while (at && (at->hash != wanted->hash || at->node != wanted->node ||
                  at->key_words != wanted->key_words ||
                  memcmp(at->key, wanted->key, wanted->key_words * sizeof *wanted->key) != 0))
        at = at->next;
    return at;
}

static void link_in(struct constants *constants, struct constant *constant)
{
    struct constant **head = &constants->buckets[constant->hash % CONSTANTS_BUCKETS];
    constant->next = *head;
    *head = constant;
}

static void link_out(struct constants *constants, struct constant *constant)
{
    struct constant **at = &constants->buckets[constant->hash % CONSTANTS_BUCKETS];
    while (*at != constant)
        at = &(*at)->next;
    *at = constant->next;
}

/* ---- building ---- */

/* Not yet in the registry. */
static struct constant *create(struct constants *constants, const struct constant_request *request)
{
    size_t bytes;
    if (!checked_mul(&bytes, request->key_words, sizeof *request->key) ||
        !checked_add(&bytes, bytes, sizeof(struct constant)))
        return NULL;
    struct constant *constant = malloc(bytes);
    if (!constant)
        return NULL;
    *constant = (struct constant){
        .registry = constants,
        .references = 1,
        .status = NEO_BUSY,
        .node = constants->has_replicas ? request->node : -1,
        .key_words = request->key_words,
    };
    if (request->key_words)
        memcpy(constant->key, request->key, request->key_words * sizeof *request->key);
    constant->hash = hash_key(request->key, request->key_words, constant->node);
    return constant;
}

static neo_status build(struct constant *constant, const struct constant_request *request)
{
    neo_allocation_request memory = request->memory;
    if (constant->node >= 0) {
        memory.kind = NEO_KIND_NUMA_BOUND;
        memory.node = constant->node;
    }
    neo_status status = allocation_create(constant->registry->domain, &memory, &constant->memory);
    if (status != NEO_OK)
        return status;
    status = request->build(request->argument, constant->memory.data, constant->memory.bytes);
    if (status != NEO_OK)
        allocation_destroy(&constant->memory);
    else if (request->is_sealed)
        allocation_seal(&constant->memory); /* a kind that cannot be sealed stays writable */
    return status;
}

/* Tells those who wait; a failure leaves the registry, so that the next caller builds again. */
static void publish(struct constant *constant, neo_status status)
{
    struct constants *constants = constant->registry;
    pthread_mutex_lock(&constants->lock);
    constant->status = status;
    if (status == NEO_OK) {
        constants->stats.builds++;
        constants->stats.live++;
        constants->stats.live_bytes += constant->memory.held_bytes;
    } else {
        constants->stats.failures++;
        link_out(constants, constant);
    }
    pthread_cond_broadcast(&constants->built);
    pthread_mutex_unlock(&constants->lock);
}

/* Returns the one that is there, with a reference and after its build, or NULL with `fresh` now in
 * the registry. */
static struct constant *find_or_insert(struct constants *constants, struct constant *fresh)
{
    pthread_mutex_lock(&constants->lock);
    struct constant *found = find(constants, fresh);
    if (!found) {
        link_in(constants, fresh);
    } else {
        found->references++;
        constants->stats.hits++;
        constants->stats.waits += found->status == NEO_BUSY;
        while (found->status == NEO_BUSY)
            pthread_cond_wait(&constants->built, &constants->lock);
    }
    pthread_mutex_unlock(&constants->lock);
    return found;
}

static neo_status status_of(struct constant *constant)
{
    pthread_mutex_lock(&constant->registry->lock);
    neo_status status = constant->status;
    pthread_mutex_unlock(&constant->registry->lock);
    return status;
}

neo_status constants_get(struct constants *constants, const struct constant_request *request,
                         struct constant **out)
{
    *out = NULL;
    if (!request->memory.bytes || !request->build || (request->key_words && !request->key))
        return NEO_INVALID_ARGUMENT;
    struct constant *fresh = create(constants, request);
    if (!fresh)
        return NEO_OUT_OF_MEMORY;
    struct constant *constant = find_or_insert(constants, fresh);
    if (constant) {
        free(fresh);
    } else {
        constant = fresh;
        publish(constant, build(constant, request));
    }
    neo_status status = status_of(constant);
    if (status != NEO_OK) {
        constant_release(constant);
        return status;
    }
    *out = constant;
    return NEO_OK;
}

/* ---- references ---- */

void constant_release(struct constant *constant)
{
    if (!constant)
        return;
    struct constants *constants = constant->registry;
    pthread_mutex_lock(&constants->lock);
    bool is_last = --constant->references == 0;
    if (is_last && constant->status == NEO_OK) {
        link_out(constants, constant);
        constants->stats.live--;
        constants->stats.live_bytes -= constant->memory.held_bytes;
    }
    pthread_mutex_unlock(&constants->lock);
    if (!is_last)
        return;
    allocation_destroy(&constant->memory);
    free(constant);
}

struct constant *constant_retain(struct constant *constant)
{
    pthread_mutex_lock(&constant->registry->lock);
    constant->references++;
    pthread_mutex_unlock(&constant->registry->lock);
    return constant;
}

const void *constant_data(const struct constant *constant)
{
    return constant->memory.data;
}

void constant_query(const struct constant *constant, neo_allocation_info *out)
{
    allocation_query(&constant->memory, out);
}

struct constants_stats constants_stats(struct constants *constants)
{
    pthread_mutex_lock(&constants->lock);
    struct constants_stats stats = constants->stats;
    pthread_mutex_unlock(&constants->lock);
    return stats;
}
