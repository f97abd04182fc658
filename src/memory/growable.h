/* The buffer of a tensor whose size changes from run to run.
 *
 * It is kept while the bytes wanted fit and are not too few; its contents do not survive a change
 * of the buffer. Not for several threads at once. */
#ifndef SRC_MEMORY_GROWABLE_H
#define SRC_MEMORY_GROWABLE_H

#include "src/memory/allocation.h"

struct growable_policy {
    unsigned least_percent; /* a free buffer is taken for another tensor only if more is used */
    unsigned shrink_factor; /* a buffer this many times too large, or more, is given up; 0: never */
    unsigned shrink_after;  /* … at the so-manieth request in a row that finds it too large */
};

#define GROWABLE_POLICY_DEFAULT ((struct growable_policy){50, 10, 1})

struct growable {
    struct memory_domain *domain;
    struct growable_policy policy;
    struct allocation memory;
    neo_allocation_request request; /* kind, alignment, owner; bytes are the caller's */
    unsigned small_in_a_row;
    uint64_t reallocations, reclaims; /* the first buffer counts; a reclaim is one of them */
};

/* request is copied, except for the owner's text, which must stay. */
void growable_init(struct growable *growable, struct memory_domain *domain,
                   const neo_allocation_request *request, struct growable_policy policy);
void growable_deinit(struct growable *growable);

/* Sets *out to memory of at least `bytes` bytes, valid until the next call; NULL for 0 bytes. When
 * a new buffer is needed it has max(bytes, preferred_bytes), where preferred_bytes is a forecast
 * that may be 0 or refused by a limit.
 * NEO_OUT_OF_MEMORY: there is no buffer; the next call may succeed. */
neo_status growable_require(struct growable *growable, size_t bytes, size_t preferred_bytes,
                            void **out);

/* Whether a free buffer of held bytes should serve a request for wanted bytes. */
bool growable_accepts(const struct growable_policy *policy, size_t held, size_t wanted);

/* Whether a buffer of held bytes is so large that it should be given up. */
bool growable_is_too_large(const struct growable_policy *policy, size_t held, size_t wanted);

/* The smallest of `count` free buffers (their sizes) that should serve a request; count: none. */
size_t growable_choose(const struct growable_policy *policy, const size_t *held, size_t count,
                       size_t wanted);

#endif
