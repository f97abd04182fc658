/* Tensors of any data type. */
#include "tests/support/cases/typed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/elementwise/element.h"
#include "src/tensor/descriptor.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/tensor.h"

static enum element element_of(neo_data_type type)
{
    return (enum element)(type - NEO_F32);
}

struct typed typed_make(neo_engine *engine, const neo_memory_desc *desc)
{
    struct typed typed = {.desc = *desc};
    size_t bytes = neo_memory_desc_size(desc);
    guard_init(&typed.guard, bytes ? bytes : 1);
    typed.data = guard_end(&typed.guard,
                           desc->format_kind == NEO_FORMAT_PACKED ? (bytes + 63) / 64 * 64 : bytes);
    memset(typed.data, 0, bytes);
    require(neo_memory_create(&typed.memory, desc, engine, typed.data) == NEO_OK);
    return typed;
}

struct typed typed_make_tag(neo_engine *engine, neo_data_type type, int ndims, const neo_dim *dims,
                            const char *tag)
{
    neo_memory_desc desc = tensor_desc(ndims, dims, tag);
    desc.data_type = type;
    return typed_make(engine, &desc);
}

void typed_free(struct typed *typed)
{
    neo_memory_destroy(typed->memory);
    guard_deinit(&typed->guard);
}

/* Sizes of 1 repeat. */
static ptrdiff_t place_of(const neo_memory_desc *desc, const neo_dim *position)
{
    neo_dim at = desc->offset;
    for (int i = 0; i < desc->ndims; i++)
        at += desc->dims[i] == 1 ? 0 : position[i] * desc->strides[i];
    return (ptrdiff_t)at;
}

double typed_get(const struct typed *typed, const neo_dim *position)
{
    ptrdiff_t at = place_of(&typed->desc, position);
    enum element element = element_of(typed->desc.data_type);
    double value = element_is_integer(element) ? element_read_s32(element, typed->data, at)
                                               : (double)element_read_f32(element, typed->data, at);
    return typed->scale != 0 ? value * typed->scale : value;
}

static void put_half(uint8_t *bytes, ptrdiff_t at, int value)
{
    int shift = at % 2 ? 4 : 0;
    bytes[at / 2] = (uint8_t)((bytes[at / 2] & ~(15 << shift)) | (value & 15) << shift);
}

void typed_put(const struct typed *typed, const neo_dim *position, double value)
{
    ptrdiff_t at = place_of(&typed->desc, position);
    enum element element = element_of(typed->desc.data_type);
    if (element_bits(element) == 4)
        put_half(typed->data, at, (int)value);
    else if (element == ELEMENT_S32)
        ((int32_t *)typed->data)[at] = (int32_t)value;
    else
        element_write_f32(element, typed->data, at, (float)value);
}

static void limits(neo_data_type type, int *low, int *high)
{
    static const struct {
        neo_data_type type;
        int low, high;
    } all[] = {
        {NEO_S8, INT8_MIN, INT8_MAX}, {NEO_U8, 0, UINT8_MAX}, {NEO_S4, -8, 7}, {NEO_U4, 0, 15}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].type == type) {
            *low = *low < all[i].low ? all[i].low : *low;
            *high = *high > all[i].high ? all[i].high : *high;
        }
}

void typed_fill(const struct typed *typed, int low, int high, uint32_t *seed)
{
    neo_dim position[NEO_MAX_NDIMS] = {0};
    limits(typed->desc.data_type, &low, &high);
    if (neo_memory_desc_elements(&typed->desc) == 0)
        return;
    do
        typed_put(typed, position, low + (int)(fill_next(seed) % (uint32_t)(high - low + 1)));
    while (typed_next(typed->desc.ndims, typed->desc.dims, position));
}

/* By the steps between neighbours of the format. */
static double round_float(double value, int lowest, int fraction_bits, double most)
{
    int exponent;
    if (value == 0 || isnan(value) || isinf(value))
        return value;
    frexp(value, &exponent);
    int step = (exponent - 1 < lowest ? lowest : exponent - 1) - fraction_bits;
    double rounded = ldexp(nearbyint(ldexp(value, -step)), step);
    return fabs(rounded) > most ? copysign((double)INFINITY, value) : rounded;
}

double typed_round(neo_data_type type, double value)
{
    switch (type) {
    case NEO_F16:
        return round_float(value, -14, 10, 65504);
    case NEO_BF16:
        return round_float(value, -126, 7, 0x1.fep127);
    case NEO_S32:
        return fmin(fmax(nearbyint(value), INT32_MIN), INT32_MAX);
    case NEO_S8:
        return fmin(fmax(nearbyint(value), INT8_MIN), INT8_MAX);
    case NEO_U8:
        return fmin(fmax(nearbyint(value), 0), UINT8_MAX);
    case NEO_S4:
        return fmin(fmax(nearbyint(value), -8), 7);
    case NEO_U4:
        return fmin(fmax(nearbyint(value), 0), 15);
    default:
        return (double)(float)value;
    }
}

int typed_next(int ndims, const neo_dim *dims, neo_dim *position)
{
    for (int i = ndims - 1; i >= 0; i--) {
        if (++position[i] < dims[i])
            return 1;
        position[i] = 0;
    }
    return 0;
}

enum { MARKER = 0x7b };

void typed_mark(const struct typed *typed)
{
    memset(typed->data, MARKER, neo_memory_desc_size(&typed->desc));
}

void typed_check_gaps(const struct typed *typed)
{
    const neo_memory_desc *desc = &typed->desc;
    size_t bytes = neo_memory_desc_size(desc), wide = element_bytes(element_of(desc->data_type));
    const unsigned char *data = typed->data;
    unsigned char *touched = calloc(bytes + 1, 1);
    neo_dim position[NEO_MAX_NDIMS] = {0};
    require(touched != NULL);
    bool is_empty = neo_memory_desc_elements(desc) == 0;
    do
        if (!is_empty)
            memset(touched + (size_t)place_of(desc, position) * wide, 1, wide);
    while (typed_next(desc->ndims, desc->dims, position));
    for (size_t i = 0; i < bytes; i++)
        require(touched[i] || data[i] == MARKER);
    free(touched);
}

neo_memory_desc typed_desc(int ndims, const neo_dim *dims, neo_data_type type, const char *tag)
{
    neo_memory_desc desc;
    require(neo_memory_desc_init_tag(&desc, ndims, dims, type, tag) == NEO_OK);
    return desc;
}

neo_memory_desc typed_gaps(int ndims, const neo_dim *dims, neo_data_type type, const char *tag,
                           neo_dim gap)
{
    neo_dim larger[NEO_MAX_NDIMS], begin[NEO_MAX_NDIMS];
    for (int i = 0; i < ndims; i++) {
        larger[i] = dims[i] + gap;
        begin[i] = gap / 2;
    }
    neo_memory_desc whole = typed_desc(ndims, larger, type, tag), part;
    require(neo_memory_desc_init_submemory(&part, &whole, dims, begin) == NEO_OK);
    return part;
}

double typed_slack(neo_data_type type, double value, double error)
{
    switch (type) {
    case NEO_F32:
        return error + fabs(value) * 0x1p-23;
    case NEO_F16:
        return error + fabs(value) * 0x1p-10 + 0x1p-24;
    case NEO_BF16:
        return error + fabs(value) * 0x1p-7;
    default: /* on the other side of a half */
        return fabs(fabs(value - floor(value)) - 0.5) <= error + fabs(value) * 0x1p-23 ? 1 : 0;
    }
}

void typed_run(neo_stream *stream, const neo_primitive_desc *pd, int count,
               const neo_exec_arg *args)
{
    neo_primitive *primitive;
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    require(neo_primitive_execute(primitive, stream, count, args) == NEO_OK);
    neo_primitive_destroy(primitive);
}

void typed_reorder(neo_engine *engine, neo_stream *stream, const struct typed *from,
                   const struct typed *to)
{
    neo_primitive_desc *pd;
    require(neo_reorder_primitive_desc_create(&pd, engine, &from->desc, &to->desc, NULL) == NEO_OK);
    typed_run(stream, pd, 2,
              (neo_exec_arg[]){{NEO_ARG_SRC, from->memory}, {NEO_ARG_DST, to->memory}});
    neo_primitive_desc_destroy(pd);
}
