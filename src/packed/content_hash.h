/* Hashes of bytes: the content of an entry's source, and the checksums in a cache file.
 *
 * Long data is hashed as a tree of two levels: XXH3 (128 bits) of each chunk of 1 MiB, then of the
 * row of these hashes. So any number of threads may hash the chunks of one array. */
#ifndef SRC_PACKED_CONTENT_HASH_H
#define SRC_PACKED_CONTENT_HASH_H

#include <stdbool.h>

#include "neoprene/weights.h"
#include "src/threading/parallel.h"

enum { CONTENT_CHUNK_BYTES = 1 << 20 };

/* neo_weights_hash() by the threads of a pool; NULL: by the caller. */
neo_weights_content content_hash(const void *data, size_t size, const struct parallel *parallel);

/* Bytes that have to be fetched: ready() is called for each chunk before it is hashed, by any
 * thread. When it returns false, nothing more is touched, and the hash is of no use. */
typedef bool content_ready_fn(void *context, size_t begin, size_t size);
struct content_source {
    const void *data;
    size_t size;
    content_ready_fn *ready; /* NULL: all is there */
    void *context;
};
neo_weights_content content_hash_from(const struct content_source *source,
                                      const struct parallel *parallel);

/* 64 bits for a record or a header, in one piece. */
uint64_t content_checksum(const void *data, size_t size, uint64_t seed);

/* For data that arrives in pieces: in order, each but the last of CONTENT_CHUNK_BYTES. */
struct content_chain;
struct content_chain *content_chain_create(void); /* NULL: no memory */
void content_chain_add(struct content_chain *chain, const void *chunk, size_t size);
neo_weights_content content_chain_finish(const struct content_chain *chain);
void content_chain_destroy(struct content_chain *chain);

#endif
