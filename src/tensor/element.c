/* Lines of elements as f32. */
#include "src/tensor/element.h"

void line_load(const struct convert_kernel *convert, neo_data_type type, const void *data,
               neo_dim first, neo_dim step, size_t count, float *out)
{
    enum element element = element_of(type);
    neo_dim bits = (neo_dim)element_bits(element);
    if (step == 1 && first * bits % 8 == 0) {
        convert[element].load(count, (const unsigned char *)data + first * bits / 8, out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = element_read_f32(element, data, (ptrdiff_t)(first + (neo_dim)i * step));
}

void line_store(const struct convert_kernel *convert, neo_data_type type, void *data, neo_dim first,
                neo_dim step, size_t count, const float *values)
{
    enum element element = element_of(type);
    if (step == 1 && convert[element].store) {
        convert[element].store(count, values,
                               (unsigned char *)data + first * (neo_dim)element_bytes(element));
        return;
    }
    for (size_t i = 0; i < count; i++)
        element_write_f32(element, data, (ptrdiff_t)(first + (neo_dim)i * step), values[i]);
}
