/* Lines of elements of any type and step as f32 in a buffer of the L1, and back. */
#ifndef SRC_LINES_LINE_H
#define SRC_LINES_LINE_H

#include <stdbool.h>

#include "kernels/elementwise/convert.h"
#include "neoprene/types.h"

/* The most elements of a line that is converted at once: a few such buffers fit the L1. */
enum { LINE_MOST = 1024 };

/* How one tensor's elements are read and written. */
struct line_type {
    const struct convert_kernel *kernel;
    enum element element;
};

struct line_type line_type(neo_data_type type, const struct cpu *cpu);

/* Element number index of an array of the type. */
static inline void *line_at(const struct line_type *type, const void *data, neo_dim index)
{
    return (unsigned char *)(uintptr_t)data + index * (neo_dim)element_bytes(type->element);
}

/* Elements data[i * step], i < count, as f32: where they are, if they are f32 next to each other,
 * else in buffer. count is at most LINE_MOST, unless elements are f32 or next to each other. */
const float *lines_load(const struct line_type *type, const void *data, neo_dim step, size_t count,
                        float *buffer);

/* The same, always into out, which is not where they are; of any count. */
void lines_load_to(const struct line_type *type, const void *data, neo_dim step, size_t count,
                   float *out);

/* data[i * step] = values[i] for i < count, of any count; nothing is left to do if values is data
 * itself. */
void lines_store(const struct line_type *type, const float *values, size_t count, void *data,
                 neo_dim step);

/* Where a line's results are made: in dst, if its elements are f32 next to each other and nothing
 * wants to read what it held before, else in buffer. */
static inline float *lines_place(const struct line_type *type, bool reads_dst, void *dst,
                                 neo_dim step, float *buffer)
{
    return type->element == ELEMENT_F32 && step == 1 && !reads_dst ? dst : buffer;
}

#endif
