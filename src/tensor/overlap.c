/* Common bytes of two tensors.
 *
 * Element (i, j, …) of a begins stride_i * i + stride_j * j + … bits after a's first one, and has
 * some bits more; so has b's. A bit is common if
 *
 *   sum over all dimensions of a of stride * index - the same of b  =  distance from a to b
 *
 * with each index within its size, and those of the bits of an element with a stride of 1. Terms
 * are taken from the largest stride to the smallest: what the rest can still make up for leaves two
 * or three indices of each, since strides mostly are larger than all that is inside of them. */
#include "src/tensor/overlap.h"

#include <stdint.h>

#include "src/tensor/descriptor.h"

enum { MOST_TERMS = 2 * (NEO_MAX_NDIMS + 1), MOST_STEPS = 10000 };

struct term {
    int64_t stride, low, high; /* the index is from low to high */
    int64_t least, most;       /* what it and those after it can make */
};

struct terms {
    struct term list[MOST_TERMS];
    int count, steps;
};

/* Sorted by stride; terms of one stride are one. */
static void add_term(struct terms *terms, int64_t stride, int64_t low, int64_t high)
{
    int at = 0;
    if (!stride || low == high)
        return;
    while (at < terms->count && terms->list[at].stride > stride)
        at++;
    if (at < terms->count && terms->list[at].stride == stride) {
        terms->list[at].low += low;
        terms->list[at].high += high;
        return;
    }
    for (int i = terms->count++; i > at; i--)
        terms->list[i] = terms->list[i - 1];
    terms->list[at] = (struct term){.stride = stride, .low = low, .high = high};
}

/* sign: 1 for a, -1 for b. */
static void add_dimension(struct terms *terms, int sign, int64_t stride, int64_t size)
{
    add_term(terms, stride, sign < 0 ? 1 - size : 0, sign < 0 ? 0 : size - 1);
}

static void add_tensor(struct terms *terms, int sign, const neo_memory_desc *desc)
{
    int64_t bits = (int64_t)neo_data_type_bits(desc->data_type);
    if (desc->format_kind != NEO_FORMAT_STRIDED) {
        add_dimension(terms, sign, 1, (int64_t)neo_memory_desc_size(desc) * 8);
        return;
    }
    for (int i = 0; i < desc->ndims; i++)
        add_dimension(terms, sign, desc->strides[i] * bits, desc->dims[i]);
    add_dimension(terms, sign, 1, bits);
}

static void find_bounds(struct terms *terms)
{
    int64_t least = 0, most = 0;
    for (int i = terms->count - 1; i >= 0; i--) {
        struct term *term = &terms->list[i];
        term->least = least += term->stride * term->low;
        term->most = most += term->stride * term->high;
    }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Can terms from number first on make this sum? */
static bool can_make(struct terms *terms, int first, int64_t sum)
{
    if (first == terms->count)
        return sum == 0;
    const struct term *term = &terms->list[first];
    if (sum < term->least || sum > term->most || ++terms->steps > MOST_STEPS)
        return false;
    int64_t rest_least = term->least - term->stride * term->low;
    int64_t rest_most = term->most - term->stride * term->high;
    int64_t low = -floor_div(rest_most - sum, term->stride);
    int64_t high = floor_div(sum - rest_least, term->stride);
    low = low < term->low ? term->low : low;
    high = high > term->high ? term->high : high;
    for (int64_t index = low; index <= high; index++)
        if (can_make(terms, first + 1, sum - index * term->stride))
            return true;
    return false;
}

static int64_t first_bit(const neo_memory_desc *desc)
{
    return desc->format_kind == NEO_FORMAT_STRIDED
               ? desc->offset * (int64_t)neo_data_type_bits(desc->data_type)
               : 0;
}

/* No buffer is as large as what is left out, and bits can be counted. */
static bool is_possible(const neo_memory_desc *desc)
{
    return !desc_is_empty(desc) && neo_memory_desc_size(desc) >> 56 == 0;
}

bool desc_share_bytes(const neo_memory_desc *a, const void *a_buffer, const neo_memory_desc *b,
                      const void *b_buffer)
{
    if (!is_possible(a) || !is_possible(b))
        return false;
    struct terms terms = {.count = 0, .steps = 0};
    add_tensor(&terms, 1, a);
    add_tensor(&terms, -1, b);
    find_bounds(&terms);
    int64_t bytes = (int64_t)((uintptr_t)b_buffer - (uintptr_t)a_buffer);
    return can_make(&terms, 0, bytes * 8 + first_bit(b) - first_bit(a));
}
