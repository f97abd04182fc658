/* What the library asks of memory descriptors beyond the public functions. */
#ifndef SRC_TENSOR_DESCRIPTOR_H
#define SRC_TENSOR_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "neoprene/memory.h"

/* Holds every tag and every text desc_text() writes. */
enum { DESC_TEXT_BYTES = 320 };

/* The dimensions of a strided descriptor from the outermost in memory to the innermost. */
void desc_memory_order(const neo_memory_desc *desc, int *order);

/* NULL if desc is well formed (any kind but UNDEF), else a sentence that says what is wrong. */
const char *desc_wrong(const neo_memory_desc *desc);

static inline bool desc_is_absent(const neo_memory_desc *desc)
{
    return !desc || desc->ndims == 0;
}

/* One of so many dimensions or strides is NEO_RUNTIME_DIM. */
static inline bool desc_has_runtime(const neo_dim *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] == NEO_RUNTIME_DIM)
            return true;
    return false;
}

/* A dimension or stride is. */
static inline bool desc_is_runtime(const neo_memory_desc *desc)
{
    return desc_has_runtime(desc->dims, desc->ndims) ||
           (desc->format_kind == NEO_FORMAT_STRIDED &&
            desc_has_runtime(desc->strides, desc->ndims));
}

/* Elements from the first one to the one at a position; the descriptor is strided. */
neo_dim desc_offset(const neo_memory_desc *desc, const neo_dim *position);

/* Sizes contain a 0. */
static inline bool desc_is_empty(const neo_memory_desc *desc)
{
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] == 0)
            return true;
    return false;
}

/* Two elements may share a place: a stride of 0 with a size over 1, or overlapping strides. */
bool desc_overlaps_itself(const neo_memory_desc *desc);

/* Each makes an `any` descriptor strided and dense: in the order of tag, unless that is no tag for
 * its ndims (false); row-major; or in the order of another strided one with the same ndims. */
bool desc_set_tag(neo_memory_desc *desc, const char *tag);
void desc_set_plain(neo_memory_desc *desc);
void desc_set_order_of(neo_memory_desc *desc, const neo_memory_desc *other);

/* actual fits where the description said expected: the same, with sizes for NEO_RUNTIME_DIM. */
bool desc_matches(const neo_memory_desc *expected, const neo_memory_desc *actual);

/* A descriptor in canonical words, so that comparing is quick: two descriptors that are not `any`
 * are equal if and only if their images are. The lowest byte of the first word is half the number
 * of words; some of its bits are 0, for whoever keeps images. */
enum { DESC_IMAGE_WORDS = 2 + 2 * NEO_MAX_NDIMS, DESC_IMAGE_FREE = 26, DESC_IMAGE_FREE_BITS = 6 };
void desc_image(const neo_memory_desc *desc, uint64_t image[DESC_IMAGE_WORDS]);

/* Than two words. */
static inline bool desc_image_is_longer(const uint64_t *image)
{
    return (image[0] & 0xff) > 1;
}

static inline bool desc_image_equal(const uint64_t *a, const uint64_t *b)
{
    uint64_t differences = (a[0] ^ b[0]) | (a[1] ^ b[1]);
    for (uint64_t pairs = (a[0] & 0xff) - 1; pairs; pairs--) {
        a += 2, b += 2;
        differences |= (a[0] ^ b[0]) | (a[1] ^ b[1]);
    }
    return differences == 0;
}

/* "f32:acdb:2x3x4x5" and so on, "f32:*:2x3:5x1 at 7" with strides and an offset, for sentences and
 * log lines; returns out. */
char *desc_text(const neo_memory_desc *desc, char *out, size_t size);

/* "2x3x*": sizes only; returns out. */
char *desc_dims_text(const neo_memory_desc *desc, char *out, size_t size);

#endif
