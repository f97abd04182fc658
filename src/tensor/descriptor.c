/* Memory descriptors: questions, comparison, sizes, texts. */
#include "src/tensor/descriptor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/data_type.h"
#include "src/tensor/layout.h"

/* ---- questions ---- */

static bool has_valid_ndims(const neo_memory_desc *desc)
{
    return desc->ndims >= 0 && desc->ndims <= NEO_MAX_NDIMS;
}

neo_dim desc_offset(const neo_memory_desc *desc, const neo_dim *position)
{
    neo_dim offset = 0;
    for (int i = 0; i < desc->ndims; i++)
        offset += position[i] * desc->strides[i];
    return offset;
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
static bool bytes_of(size_t elements, neo_data_type type, size_t *out)
{
    size_t bits;
    if (!checked_mul(&bits, elements, data_type_bits(type)) || div_up(bits, 8) > PTRDIFF_MAX)
        return false;
    *out = div_up(bits, 8);
    return true;
}

static bool strided_bytes(const neo_memory_desc *desc, size_t *out)
{
    size_t extent;
    return strided_extent(desc, &extent) && bytes_of(extent, desc->data_type, out);
}

static const char *const does_not_fit = "the tensor's bytes do not fit the address space";

/* No layout is smaller than a dense one. */
static const char *any_wrong(const neo_memory_desc *desc)
{
    size_t elements = 1, bytes;
    if (desc_is_runtime(desc) || desc_is_empty(desc))
        return NULL;
    for (int i = 0; i < desc->ndims; i++)
        if (!checked_mul(&elements, elements, (size_t)desc->dims[i]))
            return does_not_fit;
    return bytes_of(elements, desc->data_type, &bytes) ? NULL : does_not_fit;
}

const char *desc_wrong(const neo_memory_desc *desc)
{
    if (desc->ndims < 1 || desc->ndims > NEO_MAX_NDIMS)
        return "the number of dimensions is not from 1 to 12";
    if (!data_type_bits(desc->data_type))
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
        return "the offset is negative, or NEO_RUNTIME_DIM, which sizes and strides alone may be";
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

enum { IMAGE_ORDER = 8 }; /* dimensions that fit into it */

/* Where strides are those of a dense tensor, the order of dimensions from the outermost one, each
 * as its number plus one in four bits; dimensions of one element are left out. */
static bool dense_order(const neo_memory_desc *desc, uint64_t *order)
{
    int dims[NEO_MAX_NDIMS];
    int count = sorted_dims(desc, dims);
    neo_dim stride = 1;
    *order = 0;
    if (count > IMAGE_ORDER || desc_is_runtime(desc) || desc_is_empty(desc))
        return false;
    for (int i = count - 1; i >= 0; i--) {
        if (desc->strides[dims[i]] != stride)
            return false;
        stride *= desc->dims[dims[i]];
        *order = *order << 4 | (uint64_t)(dims[i] + 1);
    }
    return true;
}

/* How many bits of a word each of the values takes, and the number that says so. */
static size_t image_bits(uint64_t all, size_t count, uint64_t *number)
{
    static const size_t sizes[] = {16, 32, 64};
    size_t whole = count ? 64 / count : 64; /* of a single word */
    *number = count_of(sizes);
    if (whole == 64 || all >> whole == 0)
        return whole;
    for (*number = 0; sizes[*number] < 64 && all >> sizes[*number];)
        ++*number;
    return sizes[*number];
}

/* Sizes and strides share a word, or words of four, two or one, as far as the largest of them
 * allows. Strides that do not matter are 0; dense ones are told by the order of dimensions.
 *
 * The first word: half the number of words in 8 bits, ndims in 4, format and size of values in 2
 * each, the type in 8, a bit that there is an extra word, one that strides are dense, six that are
 * 0 (DESC_IMAGE_FREE), and from bit 32 the order of dense ones or a small layout. */
void desc_image(const neo_memory_desc *desc, uint64_t image[DESC_IMAGE_WORDS])
{
    bool strided = desc->format_kind == NEO_FORMAT_STRIDED;
    uint64_t values[2 * NEO_MAX_NDIMS], all = 0, extra = (uint64_t)desc->offset;
    uint64_t layout = strided ? 0 : small_layout(&desc->packed), order = 0, number;
    bool dense = strided && dense_order(desc, &order);
    size_t value_count = 0;
    uint64_t count = 1;
    for (int i = 0; i < desc->ndims; i++)
        values[value_count++] = (uint64_t)desc->dims[i];
    for (int i = 0; strided && !dense && i < desc->ndims; i++)
        values[value_count++] = desc->dims[i] == 1 ? 0 : (uint64_t)desc->strides[i];
    for (size_t i = 0; i < value_count; i++)
        all |= values[i]; /* cppcheck-suppress uninitvar ; the first value_count are set */
    if (!strided)
        memcpy(&extra, &desc->packed, sizeof extra);
    if (layout)
        extra = 0;
    if (extra)
        image[count++] = extra;
    size_t bits = image_bits(all, value_count, &number);
    for (size_t i = 0; i < value_count; i++) {
        size_t at = i % (64 / bits) * bits;
        image[count] = at ? image[count] | values[i] << at : values[i];
        if (at + 2 * bits > 64 || i + 1 == value_count)
            count++;
    }
    if (count % 2)
        image[count++] = 0;
    image[0] = count / 2 | (uint64_t)desc->ndims << 8 | (uint64_t)desc->format_kind << 12 |
               number << 14 | (uint64_t)desc->data_type << 16 | (uint64_t)(extra != 0) << 24 |
               (dense ? UINT64_C(1) << 25 : 0) | (layout | order) << 32;
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
    if (desc_is_absent(desc) || desc_wrong(desc) || desc_has_runtime(desc->dims, desc->ndims))
        return 0;
    size_t elements = 1;
    for (int i = 0; i < desc->ndims; i++)
        if (!checked_mul(&elements, elements, (size_t)desc->dims[i]))
            return 0;
    return elements;
}

/* ---- texts ---- */

/* Does it have the strides that its order of dimensions makes? */
static bool is_dense(const neo_memory_desc *desc)
{
    neo_memory_desc dense = *desc;
    desc_set_order_of(&dense, desc);
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
        bool dense = !desc_is_runtime(desc) && is_dense(desc);
        snprintf(out, size, "%s", dense ? letters : "*");
    }
    return out;
}

/* "2x3x*" */
static char *values_text(const neo_dim *values, int count, char *out, size_t size)
{
    size_t used = 0;
    if (size)
        *out = 0;
    for (int i = 0; i < count && used < size; i++) {
        const char *by = i ? "x" : "";
        int wrote = values[i] == NEO_RUNTIME_DIM
                        ? snprintf(out + used, size - used, "%s*", by)
                        : snprintf(out + used, size - used, "%s%" PRId64, by, values[i]);
        used += (size_t)wrote;
    }
    return out;
}

char *desc_dims_text(const neo_memory_desc *desc, char *out, size_t size)
{
    return values_text(desc->dims, desc->ndims, out, size);
}

/* Two descriptors that differ have different texts, if these are not too long: where no tag says
 * what the strides are they are written, and so is an offset. */
char *desc_text(const neo_memory_desc *desc, char *out, size_t size)
{
    char tag[32], dims[128], strides[128] = "", offset[32] = "";
    if (desc_is_absent(desc)) {
        snprintf(out, size, "undef");
        return out;
    }
    neo_memory_desc_tag(desc, tag, sizeof tag);
    if (!strcmp(tag, "*")) {
        strides[0] = ':';
        values_text(desc->strides, desc->ndims, strides + 1, sizeof strides - 1);
    }
    if (desc->format_kind == NEO_FORMAT_STRIDED && desc->offset)
        snprintf(offset, sizeof offset, " at %" PRId64, desc->offset);
    snprintf(out, size, "%s:%s:%s%s%s", neo_data_type_name(desc->data_type), tag,
             desc_dims_text(desc, dims, sizeof dims), strides, offset);
    return out;
}
