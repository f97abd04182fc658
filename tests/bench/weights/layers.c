/* The benchmark of packed weights: layers, as primitives and as plain weights. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/weights/weights.h"

size_t shape_bytes(const struct shape *shape)
{
    neo_memory_desc plain = shape_plain_weights(shape);
    return neo_memory_desc_size(&plain);
}

size_t network_bytes(const struct network *network)
{
    size_t bytes = 0;
    for (size_t i = 0; i < network->count; i++)
        bytes += shape_bytes(&network->shapes[i]) * (size_t)network->shapes[i].count;
    return bytes;
}

neo_primitive_desc *describe(neo_engine *engine, const struct shape *shape)
{
    neo_primitive_desc *pd;
    if (shape->is_matmul) {
        neo_matmul_desc desc = shape_matmul(shape);
        check_ok(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL));
        return pd;
    }
    neo_convolution_desc desc = shape_convolution(shape);
    desc.algorithm = NEO_CONVOLUTION_DIRECT;
    check_ok(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL));
    return pd;
}

neo_memory *memory_of(neo_engine *engine, const neo_memory_desc *desc)
{
    neo_memory *memory;
    check_ok(neo_memory_create(&memory, desc, engine, NEO_MEMORY_ALLOCATE));
    memset(neo_memory_get_handle(memory), 0, neo_memory_desc_size(desc));
    return memory;
}

/* ---- plain weights ---- */

struct source make_source(const struct network *network)
{
    struct source source = {.room = 64 << 20};
    for (size_t i = 0; i < network->count; i++)
        if (2 * shape_bytes(&network->shapes[i]) > source.room)
            source.room = 2 * shape_bytes(&network->shapes[i]);
    source.data = malloc(source.room);
    check(source.data, "no memory");
    uint32_t x = 1;
    for (size_t i = 0; i < source.room / sizeof(float); i++) {
        x = x * 1664525 + 1013904223;
        source.data[i] = (float)(int32_t)x * 0x1p-31f;
    }
    return source;
}

float *next_tensor(struct source *source, size_t bytes, uint32_t number)
{
    if (source->next + bytes > source->room)
        source->next = 0;
    float *data = source->data + source->next / sizeof(float);
    source->next += (bytes + 63) / 64 * 64;
    data[0] = (float)number;
    data[1] = (float)bytes;
    return data;
}
