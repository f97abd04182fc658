/* Packed layouts of depthwise weights of any types. */
#include "src/tensor/depthwise_layout.h"

#include "src/tensor/element.h"

/* Ids follow these rows' order: it is for ever. */
static const struct form {
    enum element element;
    uint8_t group;
} forms[] = {
    {ELEMENT_F32, 1}, {ELEMENT_F16, 1}, {ELEMENT_S8, 1}, {ELEMENT_S8, 3}, {ELEMENT_S8, 4},
};

static const struct form *form_of(uint16_t id)
{
    size_t index = (size_t)id - LAYOUT_DEPTHWISE_TYPED - 1;
    return index < count_of(forms) ? &forms[index] : NULL;
}

enum layout_id depthwise_layout_of(enum element element, size_t group)
{
    size_t i = 0;
    while (i + 1 < count_of(forms) && (forms[i].element != element || forms[i].group != group))
        i++;
    return (enum layout_id)(LAYOUT_DEPTHWISE_TYPED + 1 + i);
}

bool depthwise_layout_holds(enum element element, enum element stored)
{
    bool is_float = stored <= ELEMENT_BF16;
    return element == ELEMENT_F32 ? is_float : element == stored;
}

struct depthwise_layout depthwise_layout_make(enum element element, size_t group, size_t channels,
                                              size_t rows, size_t columns)
{
    bool has_sums = element == ELEMENT_S8;
    size_t padded = max_size(channels, DEPTHWISE_BLOCK);
    struct depthwise_layout layout = {
        .element = element,
        .group = group,
        .rows = rows,
        .columns = columns,
        .channels = channels,
        .padded = padded,
        .blocks = div_up(padded, DEPTHWISE_BLOCK),
        .block_bytes =
            div_up(rows, group) * group * columns * DEPTHWISE_BLOCK * element_bytes(element),
    };
    layout.sums_at = layout.blocks * layout.block_bytes;
    layout.flags_at = layout.sums_at + (has_sums ? padded * sizeof(int32_t) : 0);
    layout.bytes = round_up(layout.flags_at + (has_sums ? layout.blocks : 0), LAYOUT_ALIGNMENT);
    return layout;
}

/* Number `first` of the dimensions, and those behind it, up to `end`. */
static bool multiply_dims(const neo_memory_desc *desc, int first, int end, size_t *out)
{
    *out = 1;
    for (int i = first; i < end; i++)
        if (!checked_mul(out, *out, (size_t)desc->dims[i]))
            return false;
    return true;
}

struct depthwise_layout depthwise_layout_read(const neo_memory_desc *desc)
{
    const struct form *form = form_of(desc->packed.id);
    int last = desc->ndims - 1, input = desc->packed.grouped + 1;
    size_t channels, rows;
    multiply_dims(desc, 0, input, &channels);
    multiply_dims(desc, input + 1, last, &rows);
    return depthwise_layout_make(form->element, form->group, channels, rows,
                                 (size_t)desc->dims[last]);
}

/* Padding is less than a block of channels, and a group of rows. */
static bool fits(const neo_memory_desc *desc)
{
    const size_t most = PTRDIFF_MAX / 64;
    int last = desc->ndims - 1, input = desc->packed.grouped + 1;
    size_t channels, rows, taps, all;
    return multiply_dims(desc, 0, input, &channels) &&
           multiply_dims(desc, input + 1, last, &rows) && channels < most && rows < most &&
           checked_mul(&taps, rows + DEPTHWISE_MOST_GROUP, (size_t)desc->dims[last] + 1) &&
           checked_mul(&all, taps, channels + 2 * DEPTHWISE_BLOCK) && all < most;
}

const char *depthwise_layout_wrong(const neo_memory_desc *desc)
{
    const struct form *form = form_of(desc->packed.id);
    int grouped = desc->packed.grouped, spatial = desc->ndims - 2 - grouped;
    if (!form)
        return "the packed layout is unknown";
    if (desc->packed.version != DEPTHWISE_LAYOUT_VERSION || desc->packed.panel != DEPTHWISE_BLOCK)
        return "the packed layout is of a version that this library does not have";
    if (grouped > 1)
        return "the packed layout is neither with groups nor without";
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] < 0)
            return "a packed tensor has a run-time size";
    if (spatial < 1 || spatial > 3)
        return "the packed layout does not fit the number of dimensions";
    if (desc->dims[grouped + 1] != 1)
        return "the depthwise layouts are for weights of one input channel";
    if (!depthwise_layout_holds(form->element, element_of(desc->data_type)))
        return "the packed layout is for another data type";
    return fits(desc) ? NULL : "the tensor's bytes do not fit the address space";
}
