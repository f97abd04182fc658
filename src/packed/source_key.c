/* Keys of packed weights. */
#include "src/packed/source_key.h"

#include "src/packed/content_hash.h"
#include "src/tensor/descriptor.h"

/* A dimension of more than one element, with its distance in bytes. */
struct extent {
    size_t count, stride_bytes;
};

/* The tensor as nested runs of bytes: the innermost one is contiguous. Returns how many there are.
 */
static int memory_extents(const neo_memory_desc *plain, struct extent *extents)
{
    int order[NEO_MAX_NDIMS];
    desc_memory_order(plain, order);
    size_t element = neo_data_type_bits(plain->data_type) / 8;
    int count = 0;
    extents[count++] = (struct extent){element, 1};
    for (int i = plain->ndims - 1; i >= 0; i--) {
        struct extent *inner = &extents[count - 1];
        size_t size = (size_t)plain->dims[order[i]];
        size_t stride = (size_t)plain->strides[order[i]] * element;
        if (size == 1)
            continue;
        if (stride == inner->count * inner->stride_bytes)
            inner->count *= size;
        else
            extents[count++] = (struct extent){size, stride};
    }
    return count;
}

static neo_weights_content hash_extents(const struct extent *extents, int count,
                                        const unsigned char *data);

/* The hash of the hashes of what an outer run repeats. */
static neo_weights_content hash_outer(const struct extent *extents, int count,
                                      const unsigned char *data)
{
    neo_weights_content pair[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < extents[count - 1].count; i++) {
        pair[1] = hash_extents(extents, count - 1, data + i * extents[count - 1].stride_bytes);
        pair[0] = neo_weights_hash(pair, sizeof pair);
    }
    return pair[0];
}

static neo_weights_content hash_extents(const struct extent *extents, int count,
                                        const unsigned char *data)
{
    if (count == 1)
        return neo_weights_hash(data, extents[0].count);
    if (count == 2)
        return neo_weights_hash_rows(data, extents[1].count, extents[0].count,
                                     extents[1].stride_bytes);
    return hash_outer(extents, count, data);
}

static void put_dim(neo_weights_key *key, neo_dim dim)
{
    key->layout[key->layout_words++] = (uint32_t)dim;
    key->layout[key->layout_words++] = (uint32_t)((uint64_t)dim >> 32);
}

/* Four bits a dimension: the order of the source's dimensions in memory. */
static uint64_t order_code(const neo_memory_desc *plain)
{
    int order[NEO_MAX_NDIMS];
    uint64_t code = 0;
    desc_memory_order(plain, order);
    for (int i = 0; i < plain->ndims; i++)
        code = code << 4 | (unsigned)order[i];
    return code;
}

_Static_assert(6 + 2 * NEO_MAX_NDIMS + 2 <= NEO_WEIGHTS_MAX_LAYOUT_WORDS,
               "every layout fits a key");

neo_weights_content source_content(const neo_memory_desc *plain, const void *data,
                                   const struct parallel *parallel)
{
    struct extent extents[NEO_MAX_NDIMS + 1];
    if (desc_is_empty(plain))
        return neo_weights_hash(NULL, 0);
    int count = memory_extents(plain, extents);
    if (count == 1)
        return content_hash(data, extents[0].count, parallel);
    return hash_extents(extents, count, data);
}

bool source_key(neo_weights_key *key, const neo_memory_desc *plain, const neo_memory_desc *to)
{
    if (desc_overlaps_itself(plain))
        return false;
    bool packed = to->format_kind == NEO_FORMAT_PACKED;
    uint64_t to_order = packed ? 0 : order_code(to);
    *key = (neo_weights_key){.layout = {to->packed.id, to->packed.version, to->packed.panel,
                                        to->packed.grouped, (uint32_t)to->data_type,
                                        (uint32_t)to->ndims},
                             .layout_words = 6};
    for (int i = 0; i < to->ndims; i++)
        put_dim(key, to->dims[i]);
    put_dim(key, (neo_dim)order_code(plain));
    if (!packed) { /* a plain copy: id 0, and the order in the words that panels do not need */
        key->layout[0] = key->layout[1] = 0;
        key->layout[2] = (uint32_t)to_order;
        key->layout[3] = (uint32_t)(to_order >> 32);
    }
    return true;
}
