/* Memory descriptors: plain layouts of any strides, and `any`. Layouts in blocks are refused. */
#include <stdlib.h>
#include <string.h>

#include "compat/onednn/functions.h"
#include "compat/onednn/theirs.h"

const dnnl_memory_desc no_desc;

neo_memory_desc desc_of(const dnnl_memory_desc *md)
{
    return md ? md->desc : no_desc.desc;
}

void desc_settle(neo_memory_desc *desc, const char *tag)
{
    if (desc->ndims && desc->format_kind == NEO_FORMAT_ANY)
        neo_memory_desc_init_tag(desc, desc->ndims, desc->dims, desc->data_type, tag);
}

static dnnl_status hand_out(dnnl_memory_desc **out, const neo_memory_desc *desc)
{
    dnnl_memory_desc *md = malloc(sizeof *md);
    if (!md)
        return dnnl_out_of_memory;
    md->desc = *desc;
    *out = md;
    return dnnl_success;
}

dnnl_status desc_hand_out(dnnl_memory_desc **out, const dnnl_memory_desc *md)
{
    return md ? hand_out(out, &md->desc) : dnnl_out_of_memory;
}

static dnnl_status hand_out_if(neo_status status, dnnl_memory_desc **out,
                               const neo_memory_desc *desc)
{
    return status == NEO_OK ? hand_out(out, desc) : map_status(status);
}

dnnl_status desc_create_with_tag(dnnl_memory_desc **out, int ndims, const neo_dim *dims,
                                 int data_type, int tag)
{
    neo_memory_desc desc = {0};
    if (!out)
        return dnnl_invalid_arguments;
    if (ndims == 0 || tag == FORMAT_UNDEF)
        return hand_out(out, &desc);
    int type = map_data_type(data_type);
    const char *text = map_tag(tag);
    if (type < 0 || !text)
        return dnnl_unimplemented;
    return hand_out_if(neo_memory_desc_init_tag(&desc, ndims, dims, (neo_data_type)type, text), out,
                       &desc);
}

dnnl_status desc_create_with_strides(dnnl_memory_desc **out, int ndims, const neo_dim *dims,
                                     int data_type, const neo_dim *strides)
{
    neo_memory_desc desc = {0};
    if (!out)
        return dnnl_invalid_arguments;
    if (ndims == 0)
        return hand_out(out, &desc);
    int type = map_data_type(data_type);
    if (type < 0)
        return dnnl_unimplemented;
    neo_status status =
        strides
            ? neo_memory_desc_init_strides(&desc, ndims, dims, (neo_data_type)type, strides)
            : neo_memory_desc_init_tag(&desc, ndims, dims, (neo_data_type)type, map_tag(ndims + 1));
    return hand_out_if(status, out, &desc);
}

dnnl_status desc_create_with_string_tag(dnnl_memory_desc **out, int ndims, const neo_dim *dims,
                                        int data_type, uintptr_t tag)
{
    neo_memory_desc desc = {0};
    int type = map_data_type(data_type);
    if (!out || !tag || ndims < 1)
        return dnnl_invalid_arguments;
    if (type < 0 || neo_memory_desc_init_tag(&desc, ndims, dims, (neo_data_type)type,
                                             (const char *)tag) != NEO_OK)
        return dnnl_unimplemented;
    return hand_out(out, &desc);
}

dnnl_status desc_create_submemory(dnnl_memory_desc **out, const dnnl_memory_desc *parent,
                                  const neo_dim *dims, const neo_dim *offsets)
{
    neo_memory_desc desc;
    if (!out || !parent)
        return dnnl_invalid_arguments;
    return hand_out_if(neo_memory_desc_init_submemory(&desc, &parent->desc, dims, offsets), out,
                       &desc);
}

dnnl_status desc_permute_axes(dnnl_memory_desc **out, const dnnl_memory_desc *in,
                              uintptr_t permutation)
{
    neo_memory_desc desc;
    if (!out || !in)
        return dnnl_invalid_arguments;
    return hand_out_if(neo_memory_desc_init_permuted(&desc, &in->desc, (const int *)permutation),
                       out, &desc);
}

/* Strides for other dimensions of the same elements in the same order: both lists of dimensions are
 * cut into the shortest runs with equal products, and a run has to be dense. Returns 0 where one is
 * not. */
static int restride(neo_memory_desc *out, const neo_memory_desc *in)
{
    int i = 0, o = 0;
    while (i < in->ndims || o < out->ndims) {
        int in_end = i + 1, out_end = o + 1;
        neo_dim a = i < in->ndims ? in->dims[i] : 1, b = o < out->ndims ? out->dims[o] : 1;
        while (a != b) {
            if (a < b && in_end < in->ndims)
                a *= in->dims[in_end++];
            else if (b < a && out_end < out->ndims)
                b *= out->dims[out_end++];
            else
                return 0;
        }
        int last = (in_end < in->ndims ? in_end : in->ndims) - 1;
        neo_dim inner = last >= i ? in->strides[last] : 1;
        for (int d = last - 1, next = last; d >= i; d--) {
            if (in->dims[d] == 1)
                continue;
            if (in->dims[next] == 1) /* has no stride to speak of */
                inner = in->strides[d];
            else if (in->strides[d] != in->strides[next] * in->dims[next])
                return 0;
            next = d;
        }
        for (int d = (out_end < out->ndims ? out_end : out->ndims) - 1; d >= o; d--) {
            out->strides[d] = inner;
            inner *= out->dims[d];
        }
        i = in_end;
        o = out_end;
    }
    return 1;
}

/* 1: the same elements in the same places, by other indices. */
static int reshape(neo_memory_desc *out, const neo_memory_desc *in, int ndims, const neo_dim *dims)
{
    *out = *in;
    out->ndims = ndims;
    memset(out->dims, 0, sizeof out->dims);
    memset(out->strides, 0, sizeof out->strides);
    memcpy(out->dims, dims, (size_t)ndims * sizeof *dims);
    return neo_memory_desc_elements(out) == neo_memory_desc_elements(in) &&
           (out->format_kind != NEO_FORMAT_STRIDED || restride(out, in));
}

int desc_is_alike(const neo_memory_desc *a, const neo_memory_desc *b)
{
    neo_memory_desc reshaped;
    return neo_memory_desc_equal(a, b) ||
           (a->format_kind == NEO_FORMAT_STRIDED && reshape(&reshaped, a, b->ndims, b->dims) &&
            neo_memory_desc_equal(&reshaped, b));
}

dnnl_status desc_reshape(dnnl_memory_desc **out, const dnnl_memory_desc *in, int ndims,
                         const neo_dim *dims)
{
    if (!out || !in || !dims || ndims < 1 || ndims > NEO_MAX_NDIMS)
        return dnnl_invalid_arguments;
    neo_memory_desc desc;
    if (!reshape(&desc, &in->desc, ndims, dims))
        return dnnl_invalid_arguments;
    return hand_out(out, &desc);
}

EXPORT dnnl_status dnnl_memory_desc_clone(dnnl_memory_desc **out, const dnnl_memory_desc *md)
{
    return out && md ? hand_out(out, &md->desc) : dnnl_invalid_arguments;
}

EXPORT dnnl_status dnnl_memory_desc_destroy(dnnl_memory_desc *md)
{
    free(md);
    return dnnl_success;
}

/* A blob is a copy of the descriptor, for another process with the same library. Another library's
 * layout is an address in this one. */
EXPORT dnnl_status dnnl_memory_desc_get_blob(uint8_t *blob, size_t *size,
                                             const dnnl_memory_desc *md)
{
    if (!md || (!blob && !size))
        return dnnl_invalid_arguments;
    if (desc_is_theirs(md))
        return unserved("dnnl_memory_desc_get_blob: another library's layout");
    if (blob)
        memcpy(blob, md, sizeof *md);
    else
        *size = sizeof *md;
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_desc_create_with_blob(dnnl_memory_desc **out, const uint8_t *blob)
{
    neo_memory_desc desc;
    if (!out || !blob)
        return dnnl_invalid_arguments;
    memcpy(&desc, blob, sizeof desc);
    return hand_out(out, &desc);
}

static const int format_kinds[] = {
    [NEO_FORMAT_UNDEF] = FORMAT_UNDEF,
    [NEO_FORMAT_ANY] = FORMAT_ANY,
    [NEO_FORMAT_STRIDED] = FORMAT_BLOCKED,
};

EXPORT dnnl_status dnnl_memory_desc_query(const dnnl_memory_desc *md, int what, void *result)
{
    static const neo_dim zeros[NEO_MAX_NDIMS];
    if (!md || !result)
        return dnnl_invalid_arguments;
    if (desc_is_theirs(md) && what != QUERY_NUM_HANDLES)
        return theirs()->dnnl_memory_desc_query(theirs_of_desc(md), what, result);
    const neo_memory_desc *desc = &md->desc;
    if ((what == QUERY_STRIDES || (what >= QUERY_INNER_BLOCKS && what <= QUERY_INNER_BLOCK_DIMS)) &&
        desc->format_kind != NEO_FORMAT_STRIDED)
        return dnnl_invalid_arguments;
    switch (what) {
    case QUERY_NDIMS:
        *(int *)result = desc->ndims;
        break;
    case QUERY_DATA_TYPE:
        *(int *)result = map_data_type_back(desc->data_type);
        break;
    case QUERY_FORMAT_KIND:
        *(int *)result = format_kinds[desc->format_kind];
        break;
    case QUERY_INNER_BLOCKS:
        *(int *)result = 0;
        break;
    case QUERY_NUM_HANDLES:
        *(int *)result = 1;
        break;
    case QUERY_OFFSET:
        *(neo_dim *)result = desc->offset;
        break;
    case QUERY_DIMS:
    case QUERY_PADDED_DIMS:
        *(const neo_dim **)result = desc->dims;
        break;
    case QUERY_STRIDES:
        *(const neo_dim **)result = desc->strides;
        break;
    case QUERY_PADDED_OFFSETS:
    case QUERY_INNER_BLOCK_SIZES:
    case QUERY_INNER_BLOCK_DIMS:
        *(const neo_dim **)result = zeros;
        break;
    default:
        return dnnl_unimplemented;
    }
    return dnnl_success;
}

EXPORT dnnl_status dnnl_memory_desc_query_v2(const dnnl_memory_desc *md, int what, int index,
                                             void *result)
{
    return index == 0 ? dnnl_memory_desc_query(md, what, result) : dnnl_invalid_arguments;
}

EXPORT int dnnl_memory_desc_equal(const dnnl_memory_desc *a, const dnnl_memory_desc *b)
{
    if (!a || !b || a->desc.ndims == 0 || b->desc.ndims == 0)
        return a == b || (a && b && a->desc.ndims == b->desc.ndims);
    if (desc_is_theirs(a) || desc_is_theirs(b))
        return theirs_of_desc(a) == theirs_of_desc(b);
    return neo_memory_desc_equal(&a->desc, &b->desc);
}

EXPORT size_t dnnl_memory_desc_get_size(const dnnl_memory_desc *md)
{
    if (desc_is_theirs(md))
        return theirs()->dnnl_memory_desc_get_size(theirs_of_desc(md));
    return md ? neo_memory_desc_size(&md->desc) : 0;
}

EXPORT size_t dnnl_memory_desc_get_size_v2(const dnnl_memory_desc *md, int index)
{
    return index == 0 ? dnnl_memory_desc_get_size(md) : 0;
}

EXPORT size_t dnnl_data_type_size(int data_type)
{
    int type = map_data_type(data_type);
    return type < 0 ? 0 : (neo_data_type_bits((neo_data_type)type) + 7) / 8;
}
