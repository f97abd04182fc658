/* Weights that a primitive uses: found or packed, and pinned. */
#ifndef SRC_PACKED_PROVIDER_H
#define SRC_PACKED_PROVIDER_H

#include "neoprene/weights.h"
#include "src/threading/parallel.h"

/* Writes the packed form into data: every byte of it, and none beyond. */
typedef neo_status weights_pack_fn(void *argument, void *data);

/* What is wanted. */
struct weights_request {
    const neo_weights_key *key;
    size_t size, align;
    weights_pack_fn *pack;
    void *argument;
    const struct parallel *parallel; /* whose threads providers may hash with; NULL: the caller */
};

/* Packed weights in use; a plain value. */
struct weights_use {
    neo_weights_provider provider; /* the one that has them */
    uint64_t offset;
    const void *data;
};

/* Finds the weights or packs them. When provider fails to serve, also because what it has is not
 * of the wanted size and alignment, they are packed into fallback (a memory provider; NULL: none).
 *
 * @return NEO_OK, what pack() returned, or why neither provider could serve. */
neo_status weights_acquire(struct weights_use *use, const neo_weights_provider *provider,
                           const neo_weights_provider *fallback,
                           const struct weights_request *request);

/* The same use once more, to be released on its own. */
neo_status weights_retain(const struct weights_use *use);

/* Ends a use; nothing happens for one that is all zero. */
void weights_release(struct weights_use *use);

#endif
