/* Tensors for operation tests. */
#include "tests/support/tensor.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { MARKER = 0x7b };

neo_memory_desc tensor_desc(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, ndims, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

neo_memory_desc tensor_part(int ndims, const neo_dim *dims, const char *tag, neo_dim gap)
{
    neo_dim larger[NEO_MAX_NDIMS], begin[NEO_MAX_NDIMS];
    for (int i = 0; i < ndims; i++) {
        larger[i] = dims[i] + 2 * gap;
        begin[i] = gap;
    }
    neo_memory_desc whole = tensor_desc(ndims, larger, tag), part;
    assert_int_equal(neo_memory_desc_init_submemory(&part, &whole, dims, begin), NEO_OK);
    return part;
}

neo_memory_desc tensor_repeated(const neo_memory_desc *desc, unsigned mask)
{
    neo_memory_desc repeated = *desc;
    for (int i = 0; i < desc->ndims; i++)
        if (mask >> i & 1 && desc->format_kind == NEO_FORMAT_STRIDED)
            repeated.strides[i] = 0;
    return repeated;
}

neo_memory_desc tensor_matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    return tensor_desc(2, (neo_dim[]){rows, columns}, tag);
}

void tensor_for_each(int ndims, const neo_dim *dims,
                     void (*visit)(void *context, const neo_dim *position), void *context)
{
    neo_dim position[NEO_MAX_NDIMS] = {0};
    for (int i = 0; i < ndims; i++)
        if (dims[i] == 0)
            return;
    for (;;) {
        visit(context, position);
        int i = ndims - 1;
        while (i >= 0 && ++position[i] == dims[i])
            position[i--] = 0;
        if (i < 0)
            return;
    }
}

static size_t offset_at(const neo_memory_desc *desc, const neo_dim *position)
{
    neo_dim offset = desc->offset;
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] != 1)
            offset += position[i] * desc->strides[i];
    return (size_t)offset;
}

float *tensor_at(const struct tensor *tensor, const neo_dim *position)
{
    return tensor->data + offset_at(&tensor->desc, position);
}

neo_dim tensor_step(const struct tensor *tensor, int dimension)
{
    return tensor->desc.dims[dimension] == 1 ? 0 : tensor->desc.strides[dimension];
}

struct line tensor_line(const struct tensor *tensor, const neo_dim *position, int dimension)
{
    return (struct line){tensor_at(tensor, position), tensor_step(tensor, dimension)};
}

float line_dot(float sum, struct line a, struct line b, neo_dim count)
{
    for (neo_dim i = 0; i < count; i++)
        sum += a.at[i * a.step] * b.at[i * b.step];
    return sum;
}

struct filling {
    struct tensor *tensor;
    uint32_t state;
};

static void fill_element(void *context, const neo_dim *position)
{
    struct filling *filling = context;
    filling->state = filling->state * 1664525u + 1013904223u;
    *tensor_at(filling->tensor, position) = (float)((int)(filling->state >> 16) % 9 - 4);
}

struct tensor tensor_make(neo_engine *engine, const neo_memory_desc *desc, unsigned seed)
{
    struct tensor tensor = {.desc = *desc};
    size_t bytes = neo_memory_desc_size(desc);
    guard_init(&tensor.guard, bytes + 1);
    tensor.data = guard_end(&tensor.guard, bytes);
    memset(tensor.data, MARKER, bytes);
    assert_int_equal(neo_memory_create(&tensor.memory, desc, engine, tensor.data), NEO_OK);
    struct filling filling = {&tensor, seed};
    if (seed && desc->format_kind == NEO_FORMAT_STRIDED)
        tensor_for_each(desc->ndims, desc->dims, fill_element, &filling);
    return tensor;
}

void tensor_free(struct tensor *tensor)
{
    neo_memory_destroy(tensor->memory);
    if (tensor->guard.map)
        guard_deinit(&tensor->guard);
    *tensor = (struct tensor){0};
}

struct touching {
    const neo_memory_desc *desc;
    unsigned char *touched;
};

static void touch_element(void *context, const neo_dim *position)
{
    struct touching *touching = context;
    memset(touching->touched + offset_at(touching->desc, position) * sizeof(float), 1,
           sizeof(float));
}

void tensor_check_gaps(const struct tensor *tensor)
{
    size_t bytes = neo_memory_desc_size(&tensor->desc);
    unsigned char *touched = calloc(bytes + 1, 1);
    assert_non_null(touched);
    struct touching touching = {&tensor->desc, touched};
    tensor_for_each(tensor->desc.ndims, tensor->desc.dims, touch_element, &touching);
    for (size_t i = 0; i < bytes; i++)
        if (!touched[i])
            assert_int_equal(((unsigned char *)tensor->data)[i], MARKER);
    free(touched);
}

struct tensor tensor_reordered(neo_engine *engine, neo_stream *stream, const struct tensor *plain,
                               const neo_memory_desc *desc)
{
    struct tensor tensor = tensor_make(engine, desc, 0);
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &plain->desc, desc, NULL),
                     NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, plain->memory}, {NEO_ARG_DST, tensor.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_OK);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return tensor;
}
