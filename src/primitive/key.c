/* Keys of descriptions. Only what counts is written: dims[i] for i < ndims, strides of strided
 * tensors, the parameters of the spatial dimensions there are, the fields of the post-operation's
 * own kind. Sizes take 32 bits where all of a list fit. */
#include "src/primitive/key.h"

#include "src/tensor/descriptor.h"

#include <string.h>

struct writer {
    uint64_t *at;
};

static void put(struct writer *w, uint64_t pair)
{
    *w->at++ = pair;
}

/* Sizes that are negative (unknown ones) or beyond 32 bits are rare, and take a pair each. */
static bool is_short(uint64_t all_bits)
{
    return all_bits >> 32 == 0;
}

/* Two lists of the same length, side by side; returns false, and writes one size to a pair, if one
 * is not short. */
static inline bool put_two_lists(struct writer *w, const neo_dim *a, const neo_dim *b, int count)
{
    uint64_t all_bits = 0, *at = w->at;
    for (int i = 0; i < count; i++) {
        uint64_t first = (uint64_t)a[i], second = (uint64_t)b[i];
        *at++ = first | second << 32;
        all_bits |= first | second;
    }
    if (is_short(all_bits)) {
        w->at = at;
        return true;
    }
    for (int i = 0; i < count; i++) {
        put(w, (uint64_t)a[i]);
        put(w, (uint64_t)b[i]);
    }
    return false;
}

/* The same with one list, two sizes to a pair. */
static inline bool put_list(struct writer *w, const neo_dim *dims, int count)
{
    uint64_t all_bits = 0, *at = w->at;
    for (int i = 0; i < count; i += 2) {
        uint64_t first = (uint64_t)dims[i], second = i + 1 < count ? (uint64_t)dims[i + 1] : 0;
        *at++ = first | second << 32;
        all_bits |= first | second;
    }
    if (is_short(all_bits)) {
        w->at = at;
        return true;
    }
    for (int i = 0; i < count; i++)
        put(w, (uint64_t)dims[i]);
    return false;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- tensors ---- */

enum { IS_SHORT = 1 << 8, IS_AT_OFFSET = 1 << 9, IS_ODD = 1 << 10 };

/* ndims and flags in 16 bits, then data type and format. A type or format that does not fit is
 * wrong, but must not look like another one that is right. */
static inline uint64_t head_of(const neo_memory_desc *desc)
{
    uint32_t type = (uint32_t)desc->data_type, format = (uint32_t)desc->format_kind;
    uint64_t odd = (type | format) >> 24 ? IS_ODD : 0;
    return (uint32_t)desc->ndims | odd | (uint64_t)(type & 0xffffff) << 16 | (uint64_t)format << 40;
}

/* The first pair of a descriptor tells how the rest is to be read. */
static inline void put_desc(struct writer *w, const neo_memory_desc *desc)
{
    if (!desc || !desc->ndims) {
        put(w, 0);
        return;
    }
    uint64_t head = head_of(desc), *first = w->at++;
    bool is_short;
    if (head & IS_ODD)
        put(w, (uint32_t)desc->data_type | (uint64_t)desc->format_kind << 32);
    if (desc->format_kind == NEO_FORMAT_STRIDED) {
        is_short = put_two_lists(w, desc->dims, desc->strides, desc->ndims);
        if (desc->offset) {
            head |= IS_AT_OFFSET;
            put(w, (uint64_t)desc->offset);
        }
    } else {
        is_short = put_list(w, desc->dims, desc->ndims);
        if (desc->format_kind == NEO_FORMAT_PACKED)
            put(w, desc->packed.id | (uint64_t)desc->packed.version << 16 |
                       (uint64_t)desc->packed.panel << 32 | (uint64_t)desc->packed.grouped << 48);
    }
    *first = head | (is_short ? IS_SHORT : 0);
}

/* ---- attributes ---- */

static void put_post_op(struct writer *w, const struct post_op *op)
{
    uint64_t kind = (uint64_t)op->kind;
    switch (op->kind) {
    case NEO_POST_OP_SUM:
        put(w, kind | (uint64_t)op->sum.type << 8 | (uint64_t)float_bits(op->sum.scale) << 32);
        put(w, (uint32_t)op->sum.zero_point);
        break;
    case NEO_POST_OP_ELTWISE:
        put(w, kind | (uint64_t)op->eltwise.algorithm << 8);
        put(w, float_bits(op->eltwise.alpha) | (uint64_t)float_bits(op->eltwise.beta) << 32);
        break;
    case NEO_POST_OP_BINARY:
        put(w, kind | (uint64_t)op->binary.algorithm << 8);
        put_desc(w, &op->binary.src1);
        if (op->binary.algorithm == NEO_BINARY_SELECT)
            put_desc(w, &op->binary.condition);
        break;
    case NEO_POST_OP_PRELU:
        put(w, kind | (uint64_t)(uint32_t)op->prelu.mask << 32);
        break;
    case NEO_POST_OP_DEPTHWISE:
        put(w, kind | (uint64_t)op->depthwise.weights << 8 | (uint64_t)op->depthwise.bias << 16 |
                   (uint64_t)op->depthwise.dst << 24);
        put(w, (uint64_t)op->depthwise.kernel | (uint64_t)op->depthwise.stride << 32);
        put(w, (uint64_t)op->depthwise.padding);
        put_desc(w, &op->depthwise.between);
        break;
    case NEO_POST_OP_UNDEF:
        put(w, kind);
        break;
    }
}

static void put_attributes(struct writer *w, const neo_attributes *attributes)
{
    put(w, (uint64_t)attributes->scratchpad | (uint64_t)attributes->fpmath << 4 |
               (uint64_t)attributes->fpmath_for_int << 8 |
               (uint64_t)attributes->deterministic << 9 |
               (uint64_t)(attributes->dynamic_src != NEO_DATA_TYPE_UNDEF) << 10 |
               (uint64_t)(attributes->memory_budget != 0) << 11 |
               (uint64_t)attributes->accumulation << 12 |
               (uint64_t)attributes->quantization_count << 32 |
               (uint64_t)attributes->post_op_count << 48);
    if (attributes->memory_budget)
        put(w, attributes->memory_budget);
    for (int i = 0; i < attributes->quantization_count; i++) {
        const struct quantization *q = &attributes->quantizations[i];
        put(w, (uint32_t)q->arg | (uint64_t)(uint32_t)q->mask << 32);
        put(w, (uint64_t)q->group_ndims | (uint64_t)q->type << 8);
        put(w, (uint64_t)q->group_dims[0]);
        put(w, (uint64_t)q->group_dims[1]);
    }
    for (int i = 0; i < attributes->post_op_count; i++)
        put_post_op(w, &attributes->post_ops[i]);
}

/* ---- the whole ---- */

/* Which parameters exist follows from dst, and whether weights tell the kernel. Returns which of
 * the lists are short. */
static uint64_t put_window(struct writer *w, const struct description *d)
{
    int space = d->tensors[DST]->ndims - 2;
    space = space < 0 ? 0 : space > 3 ? 3 : space;
    const struct window *window = d->window;
    uint64_t steps = put_two_lists(w, window->strides, window->dilations, space);
    uint64_t padding = put_two_lists(w, window->left, window->right, space);
    bool weights_tell = !desc_is_absent(d->tensors[WEIGHTS]);
    for (int i = 0; !weights_tell && i < space; i++)
        put(w, (uint64_t)window->kernel[i]);
    return steps | padding << 1;
}

/* Which operation it is tells how many bytes there are. */
static void put_parameters(struct writer *w, const struct description *d)
{
    put(w, (uint32_t)d->prop_kind | (uint64_t)d->extra_count << 32);
    for (int i = 0; i < d->extra_count; i++) {
        put(w, (uint32_t)d->extras[i].arg);
        put_desc(w, &d->extras[i].desc);
    }
    memcpy(w->at, d->parameters, d->operation->parameter_bytes);
    w->at += d->operation->parameter_bytes / 8;
}

size_t key_write(uint64_t *pairs, const struct description *d, int index)
{
    struct writer w = {pairs};
    put(&w, (uintptr_t)d->operation);
    uint64_t *place = w.at++, which = (uint32_t)index;
    for (int t = 0; t < TENSOR_COUNT; t++)
        put_desc(&w, d->tensors[t]);
    put_attributes(&w, d->attributes);
    if (d->window) {
        put(&w, (uint32_t)d->prop_kind | (uint64_t)d->convolution_algorithm << 32);
        which |= put_window(&w, d) << 32;
    }
    if (d->parameters)
        put_parameters(&w, d);
    *place = which;
    return (size_t)(w.at - pairs);
}

static size_t desc_bound(const neo_memory_desc *desc)
{
    return desc ? 3 + 2 * (size_t)desc->ndims : 1;
}

size_t key_bound(const struct description *description)
{
    const neo_attributes *attributes = description->attributes;
    size_t count = 33 + PARAMETER_BYTES / 8 + 4 * (size_t)attributes->quantization_count;
    for (int t = 0; t < TENSOR_COUNT; t++)
        count += desc_bound(description->tensors[t]);
    for (int i = 0; i < description->extra_count; i++)
        count += 1 + desc_bound(&description->extras[i].desc);
    for (int i = 0; i < attributes->post_op_count; i++) {
        const struct post_op *op = &attributes->post_ops[i];
        count += 3;
        if (op->kind == NEO_POST_OP_BINARY)
            count += desc_bound(&op->binary.src1) + desc_bound(&op->binary.condition);
        else if (op->kind == NEO_POST_OP_DEPTHWISE)
            count += desc_bound(&op->depthwise.between);
    }
    return count;
}
