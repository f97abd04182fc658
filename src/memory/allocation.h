/* Obtains, counts and releases memory of every kind. */
#ifndef SRC_MEMORY_ALLOCATION_H
#define SRC_MEMORY_ALLOCATION_H

#include "neoprene/allocation.h"
#include "src/core/lock.h"
#include "src/memory/limits.h"
#include "src/memory/tracker.h"

/* What an engine knows about its memory. Two domains share nothing. */
struct memory_domain {
    struct limits limits;
    struct tracker tracker;
    struct lock user_lock;
    neo_allocator user; /* functions are NULL when there is none */
    int poison;         /* byte that fills memory nobody asked to be zero; -1: none */
};

/* user may be NULL. The environment sets, each if there: NEOPRENE_MEMORY_HISTORY how many events
 * are kept (4096), NEOPRENE_MEMORY_POISON a byte that fresh memory is filled with,
 * NEOPRENE_MEMORY_LIMIT and NEOPRENE_MEMORY_OBJECT_LIMIT the limits in bytes (K, M and G are
 * known). NEO_INVALID_ARGUMENT: the allocator lacks a function. */
neo_status memory_domain_init(struct memory_domain *domain, const neo_allocator *user);

/* From now on heap memory comes from this allocator, or from the C library if it is NULL. What was
 * allocated before goes back to where it came from. */
neo_status memory_domain_set_user(struct memory_domain *domain, const neo_allocator *user);

/* A copy; its functions are NULL when there is none. */
neo_allocator memory_domain_user(struct memory_domain *domain);

/* Warns about what is still live. A zeroed or half-made domain is fine. */
void memory_domain_deinit(struct memory_domain *domain);

/* One allocation; may be moved in memory. data is NULL when there is none. */
struct allocation {
    void *data;
    size_t bytes, held_bytes, alignment; /* see neo_allocation_info */
    neo_allocation_kind kind, requested;
    neo_page_use pages;
    size_t page_bytes;
    int node, fd; /* -1: none */
    bool locked;
    void *base; /* the mapping that data lies in; NULL when the kind has none */
    size_t mapped_bytes;
    struct memory_domain *domain;
    neo_allocator user; /* of kind user: where it came from */
};

/* *out is empty on failure. */
neo_status allocation_create(struct memory_domain *domain, const neo_allocation_request *request,
                             struct allocation *out);

/* Empties *allocation; an empty one is fine. */
neo_status allocation_destroy(struct allocation *allocation);
neo_status allocation_seal(struct allocation *allocation);
void allocation_query(const struct allocation *allocation, neo_allocation_info *out);

#endif
