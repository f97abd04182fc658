/* Packed layouts for what is multiplied as another type than f32. */
#include "src/tensor/typed_layout.h"

#include "src/core/checked.h"
#include "src/tensor/element.h"

enum layout_id typed_layout_of(enum layout_id operation, const struct gemm_type *type)
{
    return (enum layout_id)((ptrdiff_t)operation + (type - gemm_types));
}

/* Can a tensor of this type be given back from the panels? bf16 holds bytes exactly, and f32
 * rounded, as the fpmath mode permits that has such panels. */
static bool holds(const struct gemm_type *type, enum element element)
{
    bool is_byte = element >= ELEMENT_S8; /* or less */
    if (type->element == ELEMENT_S8)
        return is_byte;
    return type->element == element ||
           (type->element == ELEMENT_BF16 && (is_byte || element == ELEMENT_F32));
}

const char *typed_layout_wrong(const neo_memory_desc *desc)
{
    const struct gemm_type *type = typed_layout_type(desc->packed.id);
    bool is_convolution = typed_layout_is_convolution(desc->packed.id);
    int spatial = desc->ndims - 2 - desc->packed.grouped;
    if (is_convolution ? spatial < 1 || spatial > 3 : spatial < 0 || desc->packed.grouped)
        return "the packed layout does not fit the number of dimensions";
    bool is_half = neo_data_type_bits(desc->data_type) < 8; /* of a byte: taps are whole ones */
    if (!holds(type, element_of(desc->data_type)) || (is_convolution && is_half))
        return "the packed layout is for another data type";
    return NULL;
}

size_t typed_layout_columns(const struct gemm_type *type, size_t n)
{
    return round_up(n, type->vector);
}

size_t typed_layout_sums_at(const struct gemm_type *type, size_t k, size_t n)
{
    size_t bytes = 0, columns = typed_layout_columns(type, n);
    bool fits = checked_round_up(&bytes, k, 16) && checked_mul(&bytes, bytes, sizeof(float)) &&
                checked_mul(&bytes, bytes, columns);
    return fits && bytes < SIZE_MAX / 4 ? gemm_panel_bytes(type, columns, k) : SIZE_MAX;
}

size_t typed_layout_step(const struct gemm_type *type, size_t k, size_t n)
{
    size_t bytes = typed_layout_sums_at(type, k, n);
    if (bytes == SIZE_MAX)
        return bytes;
    size_t sums = type->sum == ELEMENT_S32 ? typed_layout_columns(type, n) * sizeof(int32_t) : 0;
    return round_up(bytes + sums, LAYOUT_ALIGNMENT);
}
