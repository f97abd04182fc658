/* Memory descriptors: construction, comparison, sizes, texts. */
#include "src/memory/descriptor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/memory/tag.h"
#include "src/weights/layout.h"

/* ---- questions ---- */

bool desc_is_absent(const neo_memory_desc *desc)
{
    return !desc || desc->ndims == 0;
}

static bool has_valid_ndims(const neo_memory_desc *desc)
{
    return desc->ndims >= 0 && desc->ndims <= NEO_MAX_NDIMS;
}

static bool has_runtime(const neo_dim *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] == NEO_RUNTIME_DIM)
            return true;
    return false;
}

bool desc_is_runtime(const neo_memory_desc *desc)
{
    return has_runtime(desc->dims, desc->ndims) ||
           (desc->format_kind == NEO_FORMAT_STRIDED && has_runtime(desc->strides, desc->ndims));
}

neo_dim desc_offset(const neo_memory_desc *desc, const neo_dim *position)
{
    neo_dim offset = 0;
    for (int i = 0; i < desc->ndims; i++)
        offset += position[i] * desc->strides[i];
    return offset;
}

bool desc_is_empty(const neo_memory_desc *desc)
{
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] == 0)
            return true;
    return false;
}

/* The elements from the first to the last, or false when that does not fit. Sizes are all >= 1. */
static bool strided_extent(const neo_memory_desc *desc, size_t *out)
{
    size_t last = (size_t)desc->offset;
    for (int i = 0; i < desc->ndims; i++) {
        size_t reach;
        if (!checked_mul(&reach, (size_t)(desc->dims[i] - 1), (size_t)desc->strides[i]) ||
            !checked_add(&last, last, reach))
            return false;
    }
    return checked_add(out, last, 1);
}

/* False when the bytes do not fit size_t (or, so that byte offsets fit too, PTRDIFF_MAX). */
static bool strided_bytes(const neo_memory_desc *desc, size_t *out)
{
    size_t extent, bits, bytes;
    if (!strided_extent(desc, &extent) ||
        !checked_mul(&bits, extent, neo_data_type_bits(desc->data_type)))
        return false;
    bytes = div_up(bits, 8);
    if (bytes > PTRDIFF_MAX)
        return false;
    *out = bytes;
    return true;
}

static const char *const does_not_fit = "the tensor's bytes do not fit the address space";

/* No layout is smaller than a dense one. */
static const char *any_wrong(const neo_memory_desc *desc)
{
    neo_memory_desc dense = *desc;
    size_t bytes;
    if (desc_is_runtime(desc) || desc_is_empty(desc))
        return NULL;
    dense.offset = 0;
    desc_set_plain(&dense);
    return strided_bytes(&dense, &bytes) ? NULL : does_not_fit;
}

const char *desc_wrong(const neo_memory_desc *desc)
{
    if (desc->ndims < 1 || desc->ndims > NEO_MAX_NDIMS)
        return "the number of dimensions is not from 1 to 12";
    if (!neo_data_type_bits(desc->data_type))
        return "the data type is unknown";
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] < 0 && desc->dims[i] != NEO_RUNTIME_DIM)
            return "a size is negative";
    if (desc->format_kind == NEO_FORMAT_ANY)
        return any_wrong(desc);
    if (desc->format_kind == NEO_FORMAT_PACKED)
        return layout_wrong(desc);
    if (desc->format_kind != NEO_FORMAT_STRIDED)
        return "the format kind is unknown";
    if (desc->offset < 0)
        return "the offset is negative";
    for (int i = 0; i < desc->ndims; i++)
        if (desc->strides[i] < 0 && desc->strides[i] != NEO_RUNTIME_DIM)
            return "a stride is negative";
    size_t bytes;
    if (!desc_is_runtime(desc) && !desc_is_empty(desc) && !strided_bytes(desc, &bytes))
        return does_not_fit;
    return NULL;
}

/* Dimensions of more than one element, the one with the largest stride first. Returns their number.
 */
static int sorted_dims(const neo_memory_desc *desc, int *order)
{
    int count = 0;
    for (int i = 0; i < desc->ndims; i++) {
        if (desc->dims[i] == 1)
            continue;
        int at = count++;
        for (; at > 0 && desc->strides[order[at - 1]] < desc->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

bool desc_overlaps_itself(const neo_memory_desc *desc)
{
    if (desc->format_kind != NEO_FORMAT_STRIDED || desc_is_runtime(desc) || desc_is_empty(desc))
        return false;
    int order[NEO_MAX_NDIMS];
    int count = sorted_dims(desc, order);
    neo_dim reach = 1; /* elements that the inner dimensions span */
    for (int i = count - 1; i >= 0; i--) {
        if (desc->strides[order[i]] < reach)
            return true;
        reach += (desc->dims[order[i]] - 1) * desc->strides[order[i]];
    }
    return false;
}

bool desc_matches(const neo_memory_desc *expected, const neo_memory_desc *actual)
{
    if (!desc_is_runtime(expected))
        return neo_memory_desc_equal(expected, actual);
    if (actual->ndims != expected->ndims || actual->data_type != expected->data_type ||
        actual->format_kind != NEO_FORMAT_STRIDED || desc_is_runtime(actual))
        return false;
    for (int i = 0; i < expected->ndims; i++) {
        if (expected->dims[i] != NEO_RUNTIME_DIM && expected->dims[i] != actual->dims[i])
            return false;
        if (expected->strides[i] != NEO_RUNTIME_DIM && expected->strides[i] != actual->strides[i] &&
            actual->dims[i] != 1)
            return false;
    }
    return expected->offset == actual->offset;
}

/* ---- construction ---- */

/* Dimension a is outside of b in memory. Run-time strides are the largest. Where strides are equal,
 * a size of 1 is inside: a dense tensor gives it the stride of what is just outside of it (nhwc
 * with one channel: c has the stride of w). */
static bool is_outside(const neo_memory_desc *desc, int a, int b)
{
    uint64_t stride_a = (uint64_t)desc->strides[a], stride_b = (uint64_t)desc->strides[b];
    return stride_a == stride_b ? desc->dims[a] != 1 && desc->dims[b] == 1 : stride_a > stride_b;
}

/* Dimensions from the outermost to the innermost, undecided ones in their own order. */
void desc_memory_order(const neo_memory_desc *desc, int *order)
{
    for (int i = 0; i < desc->ndims; i++) {
        int at = i;
        for (; at > 0 && is_outside(desc, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Outer strides follow from inner ones; a run-time size makes all strides outside of it run-time.
 */
static void set_dense_strides(neo_memory_desc *desc, const int *order)
{
    neo_dim stride = 1;
    for (int i = desc->ndims - 1; i >= 0; i--) {
        neo_dim size = desc->dims[order[i]];
        desc->strides[order[i]] = stride;
        if (stride == NEO_RUNTIME_DIM || size == NEO_RUNTIME_DIM)
            stride = NEO_RUNTIME_DIM;
        else if (size > 1 && __builtin_mul_overflow(stride, size, &stride))
            stride = INT64_MAX; /* desc_wrong() finds that this does not fit */
    }
}

void desc_set_tag(neo_memory_desc *desc, const char *tag)
{
    int order[NEO_MAX_NDIMS];
    tag_order(tag, desc->ndims, order);
    desc->format_kind = NEO_FORMAT_STRIDED;
    set_dense_strides(desc, order);
}

void desc_set_plain(neo_memory_desc *desc)
{
    int order[NEO_MAX_NDIMS];
    for (int i = 0; i < desc->ndims; i++)
        order[i] = i;
    desc->format_kind = NEO_FORMAT_STRIDED;
    set_dense_strides(desc, order);
}

void desc_set_order_of(neo_memory_desc *desc, const neo_memory_desc *other)
{
    int order[NEO_MAX_NDIMS];
    desc_memory_order(other, order);
    desc->format_kind = NEO_FORMAT_STRIDED;
    set_dense_strides(desc, order);
}

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
    int order[NEO_MAX_NDIMS];
    bool is_any = !strcmp(tag, "any");
    if (!is_any && !tag_order(tag, ndims, order)) {
        log_check("neo_memory_desc_init_tag: '%s' is no tag for %d dimensions", tag, ndims);
        return NEO_INVALID_ARGUMENT;
    }
    if (!is_any) {
        desc.format_kind = NEO_FORMAT_STRIDED;
        set_dense_strides(&desc, order);
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

neo_status neo_memory_desc_init_permuted(neo_memory_desc *out, const neo_memory_desc *parent,
                                         const int *permutation)
{
    const char *wrong = !out || !parent || !permutation ? "a pointer is NULL" : desc_wrong(parent);
    if (!wrong && parent->format_kind != NEO_FORMAT_STRIDED)
        wrong = "the parent is not strided";
    unsigned seen = 0;
    neo_memory_desc desc = {0};
    for (int i = 0; !wrong && i < parent->ndims; i++) {
        int to = permutation[i];
        if (to < 0 || to >= parent->ndims || seen >> to & 1) {
            wrong = "the permutation does not name each dimension once";
            break;
        }
        desc = i ? desc : *parent;
        seen |= 1u << to;
        desc.dims[to] = parent->dims[i];
        desc.strides[to] = parent->strides[i];
    }
    if (wrong)
        return log_refusal(__func__, wrong);
    return finish(out, &desc, __func__);
}

/* ---- comparison and sizes ---- */

_Static_assert(sizeof(neo_packed_layout) == sizeof(uint64_t), "it is one word of an image");

int neo_memory_desc_equal(const neo_memory_desc *a, const neo_memory_desc *b)
{
    if (!a || !b || !has_valid_ndims(a) || a->ndims != b->ndims || a->data_type != b->data_type ||
        a->format_kind != b->format_kind)
        return 0;
    bool strided = a->format_kind == NEO_FORMAT_STRIDED;
    if (strided && a->offset != b->offset)
        return 0;
    if (a->format_kind == NEO_FORMAT_PACKED &&
        memcmp(&a->packed, &b->packed, sizeof a->packed) != 0)
        return 0;
    for (int i = 0; i < a->ndims; i++)
        if (a->dims[i] != b->dims[i] ||
            (strided && a->dims[i] != 1 && a->strides[i] != b->strides[i]))
            return 0;
    return 1;
}

/* A packed layout in 32 bits; 0 if it does not fit. */
static uint64_t small_layout(const neo_packed_layout *packed)
{
    unsigned all = packed->id | packed->version | packed->panel | packed->grouped;
    if (all > UINT8_MAX)
        return 0;
    return packed->id | (uint64_t)packed->version << 8 | (uint64_t)packed->panel << 16 |
           (uint64_t)packed->grouped << 24;
}

/* Sizes and strides share words as far as the largest of them allows, four, two or one a word.
 * Strides that do not matter are 0.
 *
 * The first word: half the number of words in 8 bits, ndims in 4, format and size of values in 2
 * each, the type in 8, a bit that there is an extra word, and from bit 32 a small layout. */
void desc_image(const neo_memory_desc *desc, uint64_t image[DESC_IMAGE_WORDS])
{
    bool strided = desc->format_kind == NEO_FORMAT_STRIDED;
    uint64_t values[2 * NEO_MAX_NDIMS], all = 0, extra = (uint64_t)desc->offset;
    uint64_t layout = strided ? 0 : small_layout(&desc->packed);
    size_t value_count = 0;
    uint64_t count = 1;
    for (int i = 0; i < desc->ndims; i++)
        values[value_count++] = (uint64_t)desc->dims[i];
    for (int i = 0; strided && i < desc->ndims; i++)
        values[value_count++] = desc->dims[i] == 1 ? 0 : (uint64_t)desc->strides[i];
    for (size_t i = 0; i < value_count; i++)
        all |= values[i]; /* cppcheck-suppress uninitvar ; the first value_count are set */
    if (!strided)
        memcpy(&extra, &desc->packed, sizeof extra);
    if (layout)
        extra = 0;
    if (extra)
        image[count++] = extra;
    size_t bits = all >> 32 ? 64 : all >> 16 ? 32 : 16;
    for (size_t i = 0; i < value_count; i++) {
        size_t at = i * bits % 64;
        image[count] = at ? image[count] | values[i] << at : values[i];
        if (at + bits == 64 || i + 1 == value_count)
            count++;
    }
    if (count % 2)
        image[count++] = 0;
    image[0] = count / 2 | (uint64_t)desc->ndims << 8 | (uint64_t)desc->format_kind << 12 |
               (uint64_t)(bits / 32) << 14 | (uint64_t)desc->data_type << 16 |
               (uint64_t)(extra != 0) << 24 | layout << 32;
}

size_t neo_memory_desc_size(const neo_memory_desc *desc)
{
    if (desc_is_absent(desc) || desc_wrong(desc) || desc_is_runtime(desc) || desc_is_empty(desc))
        return 0;
    if (desc->format_kind == NEO_FORMAT_PACKED)
        return layout_bytes(desc);
    size_t bytes = 0;
    if (desc->format_kind == NEO_FORMAT_STRIDED)
        strided_bytes(desc, &bytes);
    return bytes;
}

size_t neo_memory_desc_elements(const neo_memory_desc *desc)
{
    if (desc_is_absent(desc) || desc_wrong(desc) || has_runtime(desc->dims, desc->ndims))
        return 0;
    size_t elements = 1;
    for (int i = 0; i < desc->ndims; i++)
        if (!checked_mul(&elements, elements, (size_t)desc->dims[i]))
            return 0;
    return elements;
}

/* ---- texts ---- */

static bool is_dense_in(const neo_memory_desc *desc, const int *order)
{
    neo_memory_desc dense = *desc;
    set_dense_strides(&dense, order);
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] != 1 && dense.strides[i] != desc->strides[i])
            return false;
    return true;
}

char *neo_memory_desc_tag(const neo_memory_desc *desc, char *out, size_t size)
{
    if (desc_is_absent(desc) || !has_valid_ndims(desc)) {
        snprintf(out, size, "undef");
    } else if (desc->format_kind == NEO_FORMAT_ANY) {
        snprintf(out, size, "any");
    } else if (desc->format_kind == NEO_FORMAT_PACKED) {
        snprintf(out, size, "packed:%uv%u", desc->packed.id, desc->packed.version);
    } else {
        int order[NEO_MAX_NDIMS];
        char letters[NEO_MAX_NDIMS + 1] = {0};
        desc_memory_order(desc, order);
        for (int i = 0; i < desc->ndims; i++)
            letters[i] = (char)('a' + order[i]);
        bool dense = !desc_is_runtime(desc) && is_dense_in(desc, order);
        snprintf(out, size, "%s", dense ? letters : "*");
    }
    return out;
}

char *desc_dims_text(const neo_memory_desc *desc, char *out, size_t size)
{
    size_t used = 0;
    if (size)
        *out = 0;
    for (int i = 0; i < desc->ndims && used < size; i++) {
        const char *by = i ? "x" : "";
        int wrote = desc->dims[i] == NEO_RUNTIME_DIM
                        ? snprintf(out + used, size - used, "%s*", by)
                        : snprintf(out + used, size - used, "%s%" PRId64, by, desc->dims[i]);
        used += (size_t)wrote;
    }
    return out;
}

char *desc_text(const neo_memory_desc *desc, char *out, size_t size)
{
    char tag[32], dims[128];
    if (desc_is_absent(desc))
        snprintf(out, size, "undef");
    else
        snprintf(out, size, "%s:%s:%s", neo_data_type_name(desc->data_type),
                 neo_memory_desc_tag(desc, tag, sizeof tag),
                 desc_dims_text(desc, dims, sizeof dims));
    return out;
}
