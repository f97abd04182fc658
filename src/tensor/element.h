/* Elements of any data type as f32: single ones, and lines of them. */
#ifndef SRC_TENSOR_ELEMENT_H
#define SRC_TENSOR_ELEMENT_H

#include <stdbool.h>

#include "kernels/elementwise/convert.h"
#include "neoprene/types.h"

_Static_assert((int)NEO_F16 - (int)NEO_F32 == ELEMENT_F16 &&
                   (int)NEO_U4 - (int)NEO_F32 == ELEMENT_U4,
               "kernels know types in the same order");

/* A data type as kernels know it. */
static inline enum element element_of(neo_data_type type)
{
    return (enum element)((int)type - (int)NEO_F32);
}

static inline bool element_is_readable(neo_data_type type)
{
    return type >= NEO_F32 && type <= NEO_U8;
}

/* Element number index of an array. */
static inline float element_read(neo_data_type type, const void *data, neo_dim index)
{
    return element_read_f32(element_of(type), data, (ptrdiff_t)index);
}

/* Element number index of an array of elements of whole bytes. */
static inline const void *element_at(neo_data_type type, const void *data, neo_dim index)
{
    return (const unsigned char *)data + index * (neo_dim)element_bytes(element_of(type));
}

static inline void *element_to(neo_data_type type, void *data, neo_dim index)
{
    return (unsigned char *)data + index * (neo_dim)element_bytes(element_of(type));
}

/* out[i] = element number first + i * step of an array; and back. convert
 * is a table of converters by type. */
void line_load(const struct convert_kernel *convert, neo_data_type type, const void *data,
               neo_dim first, neo_dim step, size_t count, float *out);
void line_store(const struct convert_kernel *convert, neo_data_type type, void *data, neo_dim first,
                neo_dim step, size_t count, const float *values);

#endif
