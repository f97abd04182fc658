/* Hashes of bytes by XXH3.
 *
 * The hash is compiled into this file alone and has no symbols, so it cannot clash with a user's
 * own libxxhash of another version. */
#include "src/packed/content_hash.h"

#include <stdatomic.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/core/checked.h"

/* The second level of the tree. */
struct content_chain {
    XXH3_state_t state;
};

static neo_weights_content content_of(XXH128_hash_t hash)
{
    return (neo_weights_content){.low = hash.low64, .high = hash.high64};
}

static void chain_add_hash(struct content_chain *chain, XXH128_hash_t hash)
{
    XXH128_canonical_t bytes; /* the same on every machine */
    XXH128_canonicalFromHash(&bytes, hash);
    XXH3_128bits_update(&chain->state, bytes.digest, sizeof bytes.digest);
}

static void chain_add_chunks(struct content_chain *chain, const unsigned char *data, size_t size)
{
    for (size_t done = 0; done < size; done += CONTENT_CHUNK_BYTES)
        content_chain_add(chain, data + done, min_size(size - done, CONTENT_CHUNK_BYTES));
}

struct content_chain *content_chain_create(void)
{
    struct content_chain *chain = aligned_alloc(64, round_up(sizeof *chain, 64));
    if (chain)
        XXH3_128bits_reset(&chain->state);
    return chain;
}

void content_chain_add(struct content_chain *chain, const void *chunk, size_t size)
{
    chain_add_hash(chain, XXH3_128bits(chunk, size));
}

neo_weights_content content_chain_finish(const struct content_chain *chain)
{
    return content_of(XXH3_128bits_digest(&chain->state));
}

void content_chain_destroy(struct content_chain *chain)
{
    free(chain);
}

uint64_t content_checksum(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}

neo_weights_content neo_weights_hash(const void *data, size_t size)
{
    struct content_chain chain;
    XXH3_128bits_reset(&chain.state);
    chain_add_chunks(&chain, data, size);
    return content_chain_finish(&chain);
}

/* Some chunks, hashed by any number of threads before they are chained in order. */
enum { BATCH_CHUNKS = 64 }; /* their hashes are on the stack */

struct batch {
    const struct content_source *source;
    size_t begin, size; /* in the source */
    atomic_bool failed;
    XXH128_hash_t hashes[BATCH_CHUNKS];
};

static void hash_chunk(struct batch *batch, size_t i)
{
    const struct content_source *source = batch->source;
    size_t begin = batch->begin + i * CONTENT_CHUNK_BYTES;
    size_t size = min_size(source->size - begin, CONTENT_CHUNK_BYTES);
    if (source->ready && !source->ready(source->context, begin, size))
        atomic_store(&batch->failed, true);
    else
        batch->hashes[i] = XXH3_128bits((const unsigned char *)source->data + begin, size);
}

static void hash_chunks(void *argument, struct span chunks, int slot)
{
    (void)slot;
    struct batch *batch = argument;
    for (size_t i = chunks.begin; i < chunks.end && !atomic_load(&batch->failed); i++)
        hash_chunk(batch, i);
}

neo_weights_content content_hash_from(const struct content_source *source,
                                      const struct parallel *parallel)
{
    static const struct parallel caller;
    int threads = parallel && source->size > CONTENT_CHUNK_BYTES ? parallel_threads(parallel) : 1;
    const size_t most = (size_t)BATCH_CHUNKS * CONTENT_CHUNK_BYTES;
    struct content_chain chain;
    struct batch batch = {.source = source};
    XXH3_128bits_reset(&chain.state);
    for (; batch.begin < source->size && !atomic_load(&batch.failed); batch.begin += most) {
        batch.size = min_size(source->size - batch.begin, most);
        size_t chunks = div_up(batch.size, CONTENT_CHUNK_BYTES);
        parallel_for_tiles(parallel ? parallel : &caller, chunks, threads, hash_chunks, &batch);
        for (size_t i = 0; i < chunks && !atomic_load(&batch.failed); i++)
            chain_add_hash(&chain, batch.hashes[i]);
    }
    return content_chain_finish(&chain);
}

neo_weights_content content_hash(const void *data, size_t size, const struct parallel *parallel)
{
    return content_hash_from(&(struct content_source){.data = data, .size = size}, parallel);
}

/* Rows do not end where chunks do: the chunk at hand is hashed piece by piece. */
struct row_hasher {
    struct content_chain chain;
    XXH3_state_t chunk;
    size_t filled;
};

static void row_hasher_end_chunk(struct row_hasher *hasher)
{
    chain_add_hash(&hasher->chain, XXH3_128bits_digest(&hasher->chunk));
    XXH3_128bits_reset(&hasher->chunk);
    hasher->filled = 0;
}

static void row_hasher_add(struct row_hasher *hasher, const unsigned char *row, size_t size)
{
    while (size) {
        size_t piece = min_size(size, CONTENT_CHUNK_BYTES - hasher->filled);
        XXH3_128bits_update(&hasher->chunk, row, piece);
        hasher->filled += piece;
        row += piece;
        size -= piece;
        if (hasher->filled == CONTENT_CHUNK_BYTES)
            row_hasher_end_chunk(hasher);
    }
}

neo_weights_content neo_weights_hash_rows(const void *data, size_t rows, size_t row_bytes,
                                          size_t stride_bytes)
{
    if (row_bytes == stride_bytes)
        return neo_weights_hash(data, rows * row_bytes);
    struct row_hasher hasher = {.filled = 0};
    XXH3_128bits_reset(&hasher.chain.state);
    XXH3_128bits_reset(&hasher.chunk);
    for (size_t i = 0; i < rows; i++)
        row_hasher_add(&hasher, (const unsigned char *)data + i * stride_bytes, row_bytes);
    if (hasher.filled)
        row_hasher_end_chunk(&hasher);
    return content_chain_finish(&hasher.chain);
}
