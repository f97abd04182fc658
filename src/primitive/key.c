/* Keys of descriptions. Only what counts is written: dims[i] for i < ndims, strides of strided
 * tensors, the fields of the post-operation's own kind. */
#include "src/primitive/key.h"

#include <string.h>

struct writer {
    uint32_t *at;
};

static void put(struct writer *w, uint32_t word)
{
    *w->at++ = word;
}

static void put_dims(struct writer *w, const neo_dim *dims, int count)
{
    memcpy(w->at, dims, (size_t)count * sizeof *dims);
    w->at += 2 * count;
}

static void put_float(struct writer *w, float value)
{
    memcpy(w->at++, &value, sizeof value);
}

static void put_pointer(struct writer *w, const void *pointer)
{
    uint64_t bits = (uintptr_t)pointer;
    put(w, (uint32_t)bits);
    put(w, (uint32_t)(bits >> 32));
}

static void put_desc(struct writer *w, const neo_memory_desc *desc)
{
    put(w,
        (uint32_t)desc->ndims | (uint32_t)desc->data_type << 8 | (uint32_t)desc->format_kind << 16);
    put_dims(w, desc->dims, desc->ndims);
    if (desc->format_kind == NEO_FORMAT_STRIDED) {
        put_dims(w, &desc->offset, 1);
        put_dims(w, desc->strides, desc->ndims);
    } else if (desc->format_kind == NEO_FORMAT_PACKED) {
        put(w, desc->packed.id | (uint32_t)desc->packed.version << 16);
        put(w, desc->packed.panel | (uint32_t)desc->packed.grouped << 16);
    }
}

static void put_post_op(struct writer *w, const struct post_op *op)
{
    put(w, (uint32_t)op->kind);
    switch (op->kind) {
    case NEO_POST_OP_SUM:
        put_float(w, op->sum.scale);
        put(w, (uint32_t)op->sum.zero_point);
        put(w, (uint32_t)op->sum.type);
        break;
    case NEO_POST_OP_ELTWISE:
        put(w, (uint32_t)op->eltwise.algorithm);
        put_float(w, op->eltwise.alpha);
        put_float(w, op->eltwise.beta);
        break;
    case NEO_POST_OP_BINARY:
        put(w, (uint32_t)op->binary.algorithm);
        put_desc(w, &op->binary.src1);
        break;
    case NEO_POST_OP_PRELU:
        put(w, (uint32_t)op->prelu.mask);
        break;
    case NEO_POST_OP_UNDEF:
        break;
    }
}

static void put_attributes(struct writer *w, const neo_attributes *attributes)
{
    put(w, (uint32_t)attributes->scratchpad | (uint32_t)attributes->fpmath << 4 |
               (uint32_t)attributes->fpmath_for_int << 8 |
               (uint32_t)attributes->deterministic << 9 | (uint32_t)attributes->accumulation << 12);
    put(w, (uint32_t)attributes->quantization_count);
    for (int i = 0; i < attributes->quantization_count; i++) {
        const struct quantization *q = &attributes->quantizations[i];
        put(w, (uint32_t)q->arg);
        put(w, (uint32_t)q->mask);
        put(w, (uint32_t)q->group_ndims | (uint32_t)q->type << 8);
        put_dims(w, q->group_dims, 2);
    }
    put(w, (uint32_t)attributes->post_op_count);
    for (int i = 0; i < attributes->post_op_count; i++)
        put_post_op(w, &attributes->post_ops[i]);
}

size_t key_write(uint32_t *words, const struct problem *problem, int index)
{
    struct writer w = {words};
    put_pointer(&w, problem->operation);
    put(&w, (uint32_t)index);
    put(&w, (uint32_t)problem->prop_kind | (uint32_t)problem->convolution_algorithm << 8);
    put_dims(&w, problem->strides, 3);
    put_dims(&w, problem->dilations, 3);
    put_dims(&w, problem->padding_left, 3);
    put_dims(&w, problem->padding_right, 3);
    for (int t = 0; t < TENSOR_COUNT; t++)
        put_desc(&w, &problem->tensors[t]);
    put_attributes(&w, &problem->attributes);
    return (size_t)(w.at - words);
}
