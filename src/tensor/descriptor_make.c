/* Memory descriptors: construction, by tags, strides and other descriptors. */
#include <string.h>

#include "src/core/log.h"
#include "src/tensor/descriptor.h"

static bool init_dims(neo_memory_desc *desc, int ndims, const neo_dim *dims, neo_data_type type)
{
    *desc = (neo_memory_desc){.ndims = ndims, .data_type = type, .format_kind = NEO_FORMAT_ANY};
    if (ndims < 1 || ndims > NEO_MAX_NDIMS || !dims)
        return false;
    memcpy(desc->dims, dims, (size_t)ndims * sizeof *dims);
    return true;
}

/* Publishes desc if it is well formed. */
static neo_status finish(neo_memory_desc *out, const neo_memory_desc *desc, const char *function)
{
    const char *wrong = desc_wrong(desc);
    if (wrong)
        return log_refusal(function, wrong);
    *out = *desc;
    return NEO_OK;
}

neo_status neo_memory_desc_init_tag(neo_memory_desc *out, int ndims, const neo_dim *dims,
                                    neo_data_type type, const char *tag)
{
    neo_memory_desc desc;
    if (!out || !tag || !init_dims(&desc, ndims, dims, type)) {
        log_check("neo_memory_desc_init_tag: a pointer is NULL, or ndims %d is not from 1 to %d",
                  ndims, NEO_MAX_NDIMS);
        return NEO_INVALID_ARGUMENT;
    }
    if (strcmp(tag, "any") != 0 && !desc_set_tag(&desc, tag)) {
        log_check("neo_memory_desc_init_tag: '%s' is no tag for %d dimensions", tag, ndims);
        return NEO_INVALID_ARGUMENT;
    }
    return finish(out, &desc, __func__);
}

neo_status neo_memory_desc_init_strides(neo_memory_desc *out, int ndims, const neo_dim *dims,
                                        neo_data_type type, const neo_dim *strides)
{
    neo_memory_desc desc;
    if (!out || !strides || !init_dims(&desc, ndims, dims, type)) {
        log_check(
            "neo_memory_desc_init_strides: a pointer is NULL, or ndims %d is not from 1 to %d",
            ndims, NEO_MAX_NDIMS);
        return NEO_INVALID_ARGUMENT;
    }
    desc.format_kind = NEO_FORMAT_STRIDED;
    memcpy(desc.strides, strides, (size_t)ndims * sizeof *strides);
    return finish(out, &desc, __func__);
}

static const char *submemory_wrong(const neo_memory_desc *parent, const neo_dim *dims,
                                   const neo_dim *offsets)
{
    if (parent->format_kind != NEO_FORMAT_STRIDED || desc_is_runtime(parent))
        return "the parent is not strided with known sizes";
    for (int i = 0; i < parent->ndims; i++)
        if (dims[i] < 0 || offsets[i] < 0 || offsets[i] > parent->dims[i] ||
            dims[i] > parent->dims[i] - offsets[i])
            return "the part does not lie inside the parent";
    return NULL;
}

neo_status neo_memory_desc_init_submemory(neo_memory_desc *out, const neo_memory_desc *parent,
                                          const neo_dim *dims, const neo_dim *offsets)
{
    const char *wrong =
        !out || !parent || !dims || !offsets ? "a pointer is NULL" : desc_wrong(parent);
    if (!wrong)
        wrong = submemory_wrong(parent, dims, offsets);
    if (wrong)
        return log_refusal(__func__, wrong);
    neo_memory_desc desc = *parent;
    bool fits = true;
    for (int i = 0; i < desc.ndims; i++) {
        neo_dim distance;
        desc.dims[i] = dims[i];
        fits = fits && !__builtin_mul_overflow(offsets[i], desc.strides[i], &distance) &&
               !__builtin_add_overflow(desc.offset, distance, &desc.offset);
    }
    if (!fits)
        return log_refusal(__func__, "the part's offset is out of range");
    return finish(out, &desc, __func__);
}

static bool is_permutation(const int *permutation, int count)
{
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        if (permutation[i] < 0 || permutation[i] >= count || seen >> permutation[i] & 1)
            return false;
        seen |= 1u << permutation[i];
    }
    return true;
}

neo_status neo_memory_desc_init_permuted(neo_memory_desc *out, const neo_memory_desc *parent,
                                         const int *permutation)
{
    const char *wrong = !out || !parent || !permutation ? "a pointer is NULL" : desc_wrong(parent);
    if (!wrong && parent->format_kind != NEO_FORMAT_STRIDED)
        wrong = "the parent is not strided";
    if (!wrong && !is_permutation(permutation, parent->ndims))
        wrong = "the permutation does not name each dimension once";
    if (wrong)
        return log_refusal(__func__, wrong);
    neo_memory_desc desc = *parent;
    for (int i = 0; i < parent->ndims; i++) {
        desc.dims[permutation[i]] = parent->dims[i];
        desc.strides[permutation[i]] = parent->strides[i];
    }
    return finish(out, &desc, __func__);
}
