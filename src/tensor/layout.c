/* Packed layouts of weights. */
#include "src/tensor/layout.h"

#include "src/core/checked.h"
#include "src/tensor/block_layout.h"
#include "src/tensor/depthwise_layout.h"
#include "src/tensor/typed_layout.h"
#include "src/tensor/winograd.h"

enum {
    LAYOUT_VERSION = 3,
    LAYOUT_WINOGRAD_VERSION = 3,
    LAYOUT_WIDE_VERSION = 4,
    FEW_COLUMNS = 36,
    MATRIX_UNIT = 4
};

/* After the full panels comes at most one of `middle` columns without padding, and at most one of
 * `last` columns. */
struct rest {
    size_t full, middle, last;
};

/* Few columns: panels of as many vectors as there are, two of 8 instead of 12 and 4. More columns,
 * whose panels are worth kernels of their own: whole vectors, then one to three columns; only one
 * column is not worth a panel. */
static struct rest divide(size_t n, bool few)
{
    size_t full = n / LAYOUT_PANEL, over = n % LAYOUT_PANEL;
    if (full && (few ? over >= 1 && over <= 4 : over == 4))
        return (struct rest){full - 1, 8, 4 + over};
    if (few || over < 4 || over % 4 == 0 || over == LAYOUT_PANEL - 1)
        return (struct rest){full, 0, over};
    return (struct rest){full, over / 4 * 4, over % 4};
}

static struct rest rest_of(size_t n)
{
    return divide(n, n <= FEW_COLUMNS);
}

static size_t count_panels(struct rest rest)
{
    return rest.full + (rest.middle > 0) + (rest.last > 0);
}

static struct layout_panel find_panel(struct rest rest, size_t index)
{
    if (index < rest.full)
        return layout_full_panel(index);
    size_t first = rest.full * LAYOUT_PANEL;
    if (rest.middle && index == rest.full)
        return (struct layout_panel){first, rest.middle, rest.middle};
    return (struct layout_panel){first + rest.middle, rest.last, round_up(rest.last, 4)};
}

size_t layout_panel_count(size_t n)
{
    return count_panels(rest_of(n));
}

size_t layout_full_panels(size_t n)
{
    return rest_of(n).full;
}

struct layout_panel layout_panel(size_t n, size_t index)
{
    return find_panel(rest_of(n), index);
}

size_t layout_wide_panel_count(size_t n)
{
    return count_panels(divide(n, true));
}

size_t layout_wide_full_panels(size_t n)
{
    return divide(n, true).full;
}

struct layout_panel layout_wide_panel(size_t n, size_t index)
{
    return find_panel(divide(n, true), index);
}

size_t layout_panel_offset(size_t n, size_t index)
{
    if (index == 0)
        return 0;
    size_t count = layout_panel_count(n);
    struct layout_panel panel = layout_panel(n, index < count ? index : count - 1);
    return index < count ? panel.first : panel.first + panel.width;
}

size_t layout_tail_offset(size_t n)
{
    return layout_panel_offset(n, layout_panel_count(n));
}

size_t layout_all_columns(size_t n)
{
    return layout_tail_offset(n) + layout_tail_columns(n);
}

int layout_winograd_dimensions(const neo_memory_desc *weights, bool grouped)
{
    int space = grouped + 2, count = 0;
    if (weights->ndims <= space || weights->ndims > space + 2 || (grouped && weights->dims[0] != 1))
        return 0;
    neo_dim taps = (neo_dim)layout_winograd_taps(weights);
    if (!winograd_outputs(WINOGRAD_MOST, (size_t)taps))
        return 0;
    for (int i = space; i < weights->ndims; i++) {
        if (weights->dims[i] != taps && weights->dims[i] != 1)
            return 0;
        count += weights->dims[i] == taps;
    }
    return count;
}

size_t layout_winograd_taps(const neo_memory_desc *weights)
{
    neo_dim last = weights->dims[weights->ndims - 1];
    neo_dim taps = last == 1 ? weights->dims[weights->ndims - 2] : last;
    return taps < 0 ? 0 : (size_t)taps;
}

const char *layout_winograd_refuse(enum layout_id id, const neo_memory_desc *weights, bool grouped)
{
    if (!layout_winograd_dimensions(weights, grouped))
        return "the layouts for Winograd's algorithm are for one group, and three, five or seven "
               "taps in one dimension or as many in two";
    if (!winograd_outputs(layout_winograd_points(id), layout_winograd_taps(weights)))
        return "tiles with as many taps have more points than this layout";
    return NULL;
}

/* Full panels' columns. */
static size_t panel_of(size_t id)
{
    const struct gemm_type *type = typed_layout_type((uint16_t)id);
    if (depthwise_layout_is((uint16_t)id))
        return DEPTHWISE_BLOCK;
    return LAYOUT_PANEL * (type ? typed_layout_unit(type) : 1);
}

static uint16_t version_of(size_t id)
{
    if (depthwise_layout_is((uint16_t)id))
        return DEPTHWISE_LAYOUT_VERSION;
    if (panel_of(id) != LAYOUT_PANEL)
        return LAYOUT_WIDE_VERSION;
    return layout_winograd_points((enum layout_id)id) ? LAYOUT_WINOGRAD_VERSION : LAYOUT_VERSION;
}

static bool is_grouped(const neo_memory_desc *desc)
{
    return desc->packed.grouped;
}

static size_t product(const neo_memory_desc *desc, int from, int to)
{
    size_t result = 1;
    for (int i = from; i < to; i++)
        if (!checked_mul(&result, result, (size_t)desc->dims[i]))
            return SIZE_MAX;
    return result;
}

static size_t elements(size_t a, size_t b)
{
    size_t out;
    return checked_mul(&out, a, b) ? out : SIZE_MAX;
}

/* The distance of the matrices of Winograd's points. A panel of all of them is used together, with
 * inputs that should stay in the L2 cache meanwhile; if they began at multiples of a large power of
 * two, they would need a few places of that cache for themselves. 2 KiB more and 64 of them are at
 * as many places of the 128 KiB of a way. Larger panels drive everything out anyway, and small
 * matrices are not worth the gaps. */
static size_t point_step(size_t k, size_t step)
{
    const size_t apart = 2048 / sizeof(float);
    bool fits = k * LAYOUT_PANEL <= 2 * apart, collides = step % (2 * apart) == 0;
    return fits && collides && step >= 8 * apart ? step + apart : step;
}

size_t layout_winograd_step(size_t ic, size_t oc)
{
    size_t step = elements(ic, layout_tail_offset(oc));
    return step < SIZE_MAX / 2 ? point_step(ic, step) : step;
}

/* Are there columns that come once more? */
static bool has_tail(const neo_memory_desc *desc)
{
    return desc->packed.id == LAYOUT_MATMUL_F32 || desc->packed.id == LAYOUT_CONVOLUTION_F32;
}

/* Each matrix begins where a vector may. */
static size_t matrix_step(size_t k, size_t columns)
{
    size_t step = elements(k, columns);
    return step < SIZE_MAX - MATRIX_UNIT ? round_up(step, MATRIX_UNIT) : SIZE_MAX;
}

/* Of panels of another type: steps count as f32's. */
static struct layout_shape typed_shape(const neo_memory_desc *desc, const struct gemm_type *type)
{
    int ndims = desc->ndims, first = is_grouped(desc);
    struct layout_shape shape = {.matrices = product(desc, 0, ndims - 2),
                                 .k = (size_t)desc->dims[ndims - 2],
                                 .n = (size_t)desc->dims[ndims - 1]};
    if (typed_layout_is_convolution(desc->packed.id))
        shape = (struct layout_shape){.matrices = product(desc, 0, first),
                                      .k = product(desc, first + 1, ndims),
                                      .n = (size_t)desc->dims[first]};
    shape.columns = typed_layout_columns(type, shape.n);
    shape.step = typed_layout_step(type, shape.k, shape.n) / sizeof(float);
    return shape;
}

struct layout_shape layout_shape(const neo_memory_desc *desc)
{
    struct layout_shape shape = {0};
    int first = is_grouped(desc), ndims = desc->ndims;
    const struct gemm_type *type = typed_layout_type(desc->packed.id);
    if (type)
        return typed_shape(desc, type);
    switch (desc->packed.id) {
    case LAYOUT_MATMUL_F32:
        shape.matrices = product(desc, 0, ndims - 2);
        shape.k = (size_t)desc->dims[ndims - 2];
        shape.n = (size_t)desc->dims[ndims - 1];
        shape.columns = layout_tail_offset(shape.n);
        break;
    case LAYOUT_CONVOLUTION_F32:
        shape.matrices = product(desc, 0, first);
        shape.k = product(desc, first + 1, ndims);
        shape.n = (size_t)desc->dims[first];
        shape.columns = layout_tail_offset(shape.n);
        break;
    case LAYOUT_DEPTHWISE_F32:
        shape.matrices = 1;
        shape.k = product(desc, 3, ndims);
        shape.n = (size_t)desc->dims[0];
        shape.columns = shape.n;
        break;
    case LAYOUT_WINOGRAD_2_F32:
    case LAYOUT_WINOGRAD_4_F32:
    case LAYOUT_WINOGRAD_6_F32:
        shape.matrices = layout_winograd_points(desc->packed.id);
        if (layout_winograd_dimensions(desc, first) == 2)
            shape.matrices *= shape.matrices;
        shape.k = (size_t)desc->dims[first + 1];
        shape.n = (size_t)desc->dims[first];
        shape.columns = layout_tail_offset(shape.n);
        break;
    }
    shape.step = elements(shape.k, shape.columns);
    if (layout_winograd_points(desc->packed.id))
        shape.step = layout_winograd_step(shape.k, shape.n);
    if (has_tail(desc))
        shape.step = matrix_step(shape.k, layout_all_columns(shape.n));
    return shape;
}

static bool bytes_fit(const neo_memory_desc *desc, size_t *out)
{
    struct layout_shape shape = layout_shape(desc);
    size_t bytes;
    if (!checked_mul(&bytes, shape.matrices, shape.step) ||
        !checked_mul(&bytes, bytes, sizeof(float)) || bytes > PTRDIFF_MAX)
        return false;
    *out = bytes;
    return true;
}

const char *layout_wrong(const neo_memory_desc *desc)
{
    const neo_packed_layout *packed = &desc->packed;
    const struct gemm_type *type = typed_layout_type(packed->id);
    if (block_layout_is(packed->id))
        return block_layout_wrong(desc);
    if (depthwise_layout_is(packed->id))
        return depthwise_layout_wrong(desc);
    if (!type && !layout_is_f32(packed->id))
        return "the packed layout is unknown";
    if (packed->version != version_of(packed->id) || packed->panel != panel_of(packed->id))
        return "the packed layout is of a version that this library does not have";
    if (packed->grouped > 1)
        return "the packed layout is neither with groups nor without";
    if (!type && desc->data_type != NEO_F32)
        return "the packed layout is for another data type";
    for (int i = 0; i < desc->ndims; i++)
        if (desc->dims[i] < 0)
            return "a packed tensor has a run-time size";
    size_t bytes;
    if (type && typed_layout_wrong(desc))
        return typed_layout_wrong(desc);
    if (type)
        return bytes_fit(desc, &bytes) ? NULL : "the tensor's bytes do not fit the address space";
    int spatial = desc->ndims - 2 - is_grouped(desc);
    if (packed->id == LAYOUT_MATMUL_F32 ? desc->ndims < 2 || is_grouped(desc)
                                        : spatial < 1 || spatial > 3)
        return "the packed layout does not fit the number of dimensions";
    if (packed->id == LAYOUT_DEPTHWISE_F32 &&
        (!is_grouped(desc) || desc->dims[1] != 1 || desc->dims[2] != 1))
        return "the depthwise layout is for weights of groups × 1 × 1 × space";
    const char *why = layout_winograd_points(packed->id)
                          ? layout_winograd_refuse(packed->id, desc, is_grouped(desc))
                          : NULL;
    if (why)
        return why;
    return bytes_fit(desc, &bytes) ? NULL : "the tensor's bytes do not fit the address space";
}

size_t layout_bytes(const neo_memory_desc *desc)
{
    size_t bytes = 0;
    if (block_layout_is(desc->packed.id))
        return block_layout_bytes(desc);
    if (depthwise_layout_is(desc->packed.id))
        return depthwise_layout_read(desc).bytes;
    bytes_fit(desc, &bytes);
    return bytes;
}

void layout_set(neo_memory_desc *desc, enum layout_id id, bool grouped)
{
    desc->format_kind = NEO_FORMAT_PACKED;
    desc->packed = (neo_packed_layout){.id = (uint16_t)id,
                                       .version = version_of(id),
                                       .panel = (uint16_t)panel_of(id),
                                       .grouped = grouped};
    desc->offset = 0;
}
