/* Lines of elements. What is not next to each other is moved next to each other as it is, and then
 * converted like everything else. */
#include "src/lines/line.h"

#include "src/core/checked.h"
#include "src/tensor/element.h"

struct line_type line_type(neo_data_type type, const struct cpu *cpu)
{
    enum element element = element_of(type);
    return (struct line_type){convert_find(cpu->features, element), element};
}

#define GATHER(word)                   \
    for (size_t i = 0; i < count; i++) \
    ((word *)to)[i] = ((const word *)from)[(neo_dim)i * step]
#define SCATTER(word)                  \
    for (size_t i = 0; i < count; i++) \
    ((word *)to)[(neo_dim)i * step] = ((const word *)from)[i]

static void gather(size_t bytes, const void *from, neo_dim step, size_t count, void *to)
{
    if (bytes == 4)
        GATHER(uint32_t);
    else if (bytes == 2)
        GATHER(uint16_t);
    else
        GATHER(uint8_t);
}

static void scatter(size_t bytes, const void *from, size_t count, void *to, neo_dim step)
{
    if (bytes == 4)
        SCATTER(uint32_t);
    else if (bytes == 2)
        SCATTER(uint16_t);
    else
        SCATTER(uint8_t);
}

static void repeat(float value, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value;
}

/* At most LINE_MOST elements that are not next to each other. */
static void load_apart(const struct line_type *type, const void *data, neo_dim step, size_t count,
                       float *out)
{
    uint32_t moved[LINE_MOST];
    gather(element_bytes(type->element), data, step, count, moved);
    type->kernel->load(count, moved, out);
}

void lines_load_to(const struct line_type *type, const void *data, neo_dim step, size_t count,
                   float *out)
{
    if (step == 0) {
        repeat(element_read_f32(type->element, data, 0), count, out);
    } else if (step == 1) {
        type->kernel->load(count, data, out);
    } else if (type->element == ELEMENT_F32) {
        gather(sizeof(float), data, step, count, out);
    } else {
        for (size_t i = 0; i < count; i += LINE_MOST)
            load_apart(type, line_at(type, data, (neo_dim)i * step), step,
                       min_size(LINE_MOST, count - i), out + i);
    }
}

const float *lines_load(const struct line_type *type, const void *data, neo_dim step, size_t count,
                        float *buffer)
{
    if (type->element == ELEMENT_F32 && step == 1)
        return data;
    lines_load_to(type, data, step, count, buffer);
    return buffer;
}

static void store_apart(const struct line_type *type, const float *values, size_t count, void *data,
                        neo_dim step)
{
    uint32_t moved[LINE_MOST];
    type->kernel->store(count, values, moved);
    scatter(element_bytes(type->element), moved, count, data, step);
}

void lines_store(const struct line_type *type, const float *values, size_t count, void *data,
                 neo_dim step)
{
    if (values == data)
        return;
    if (step == 1) {
        type->kernel->store(count, values, data);
    } else if (type->element == ELEMENT_F32) {
        scatter(sizeof(float), values, count, data, step);
    } else {
        for (size_t i = 0; i < count; i += LINE_MOST)
            store_apart(type, values + i, min_size(LINE_MOST, count - i),
                        line_at(type, data, (neo_dim)i * step), step);
    }
}
