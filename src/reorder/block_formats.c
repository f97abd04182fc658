/* The formats of weights in blocks. */
#include "src/reorder/block_formats.h"

#include "src/core/checked.h"
#include "src/tensor/element.h"

/* What unsigned integers have more than those of the layout. */
static int32_t surplus(neo_data_type type)
{
    return type == NEO_U4 ? 8 : type == NEO_U8 ? 128 : 0;
}

static bool never(const neo_block_source *source)
{
    (void)source;
    return false;
}

static bool always(const neo_block_source *source)
{
    (void)source;
    return true;
}

static size_t bytes_of(neo_data_type type, size_t elements)
{
    return div_up(elements * neo_data_type_bits(type), 8);
}

/* (c - zero_point) * scale, rounded once. */
static struct block_group shifted(float scale, int32_t c, double zero_point)
{
    return (struct block_group){scale, (float)((c - zero_point) * (double)scale)};
}

/* ---- plain ---- */

static bool plain_has_offsets(const neo_block_source *source)
{
    return source->zero_points || surplus(source->type);
}

static neo_dim plain_at(const neo_block_source *source, size_t p, size_t j)
{
    bool is_dense = !source->k_stride && !source->n_stride;
    return (neo_dim)p * (is_dense ? source->n : source->k_stride) +
           (neo_dim)j * (is_dense ? 1 : source->n_stride);
}

static void plain_read(const neo_block_source *source, size_t j, size_t first, size_t count,
                       int8_t *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (int8_t)(element_read_s32(element_of(source->type), source->weights,
                                              plain_at(source, first + i, j)) -
                             surplus(source->type));
}

static struct block_group plain_group(const neo_block_source *source, size_t j, size_t g)
{
    neo_dim at = (neo_dim)g * source->n + (neo_dim)j;
    float scale = element_read(source->scale_type, source->scales, at);
    int32_t zero = source->zero_points ? element_read_s32(element_of(source->zero_point_type),
                                                          source->zero_points, at)
                                       : 0;
    return shifted(scale, surplus(source->type), zero);
}

static void plain_sizes(const neo_block_source *source, size_t sizes[3])
{
    size_t groups = block_format_groups(source) * (size_t)source->n;
    neo_dim last = plain_at(source, (size_t)source->k - 1, (size_t)source->n - 1);
    sizes[0] = bytes_of(source->type, (size_t)last + 1);
    sizes[1] = bytes_of(source->scale_type, groups);
    sizes[2] = source->zero_points ? bytes_of(source->zero_point_type, groups) : 0;
}

/* ---- ONNX's MatMulNBits ---- */

static bool onnx_has_offsets(const neo_block_source *source)
{
    return source->zero_points != NULL;
}

static void onnx_read(const neo_block_source *source, size_t j, size_t first, size_t count,
                      int8_t *values)
{
    size_t row = block_format_groups(source) * block_format_group(source);
    for (size_t i = 0; i < count; i++)
        values[i] = (int8_t)(element_read_s32(element_of(source->type), source->weights,
                                              (ptrdiff_t)(j * row + first + i)) -
                             surplus(source->type));
}

/* From a column's zero points to the next one's: u4 begins with a byte. */
static size_t onnx_zero_points(const neo_block_source *source)
{
    size_t groups = block_format_groups(source);
    return source->zero_point_type == NEO_U4 ? round_up(groups, 2) : groups;
}

static struct block_group onnx_group(const neo_block_source *source, size_t j, size_t g)
{
    size_t groups = block_format_groups(source);
    float scale = element_read(source->scale_type, source->scales, (neo_dim)(j * groups + g));
    if (!source->zero_points)
        return (struct block_group){scale, 0};
    double zero = (double)element_read(source->zero_point_type, source->zero_points,
                                       (neo_dim)(j * onnx_zero_points(source) + g));
    return shifted(scale, surplus(source->type), zero);
}

static void onnx_sizes(const neo_block_source *source, size_t sizes[3])
{
    size_t groups = block_format_groups(source), n = (size_t)source->n;
    sizes[0] = bytes_of(source->type, n * groups * block_format_group(source));
    sizes[1] = bytes_of(source->scale_type, n * groups);
    sizes[2] =
        source->zero_points ? bytes_of(source->zero_point_type, n * onnx_zero_points(source)) : 0;
}

/* ---- GGUF ---- */

enum { Q_STEPS = 32, Q4_0_BYTES = 18, Q8_0_BYTES = 34, Q4_K_STEPS = 256, Q4_K_BYTES = 144 };

static float read_f16(const uint8_t *bytes)
{
    return f32_of_f16((uint16_t)(bytes[0] | bytes[1] << 8));
}

/* The block with step p of column j. */
static const uint8_t *gguf_block(const neo_block_source *source, size_t steps, size_t bytes,
                                 size_t j, size_t p)
{
    size_t row = (size_t)source->k / steps;
    return (const uint8_t *)source->weights + (j * row + p / steps) * bytes;
}

static void q4_0_read(const neo_block_source *source, size_t j, size_t first, size_t count,
                      int8_t *values)
{
    for (size_t i = 0; i < count; i++) {
        size_t p = (first + i) % Q_STEPS;
        uint8_t byte = gguf_block(source, Q_STEPS, Q4_0_BYTES, j, first + i)[2 + p % 16];
        values[i] = (int8_t)((p < 16 ? byte & 15 : byte >> 4) - 8);
    }
}

static struct block_group q4_0_group(const neo_block_source *source, size_t j, size_t g)
{
    const uint8_t *block = gguf_block(source, Q_STEPS, Q4_0_BYTES, j, g * Q_STEPS);
    return (struct block_group){read_f16(block), 0};
}

static void q8_0_read(const neo_block_source *source, size_t j, size_t first, size_t count,
                      int8_t *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (int8_t)gguf_block(source, Q_STEPS, Q8_0_BYTES, j,
                                       first + i)[2 + (first + i) % Q_STEPS];
}

static struct block_group q8_0_group(const neo_block_source *source, size_t j, size_t g)
{
    const uint8_t *block = gguf_block(source, Q_STEPS, Q8_0_BYTES, j, g * Q_STEPS);
    return (struct block_group){read_f16(block), 0};
}

/* Two sub-blocks of 32 steps share 32 bytes: the even one has the low halves. */
static void q4_k_read(const neo_block_source *source, size_t j, size_t first, size_t count,
                      int8_t *values)
{
    for (size_t i = 0; i < count; i++) {
        size_t p = (first + i) % Q4_K_STEPS, sub = p / Q_STEPS;
        const uint8_t *block = gguf_block(source, Q4_K_STEPS, Q4_K_BYTES, j, first + i);
        uint8_t byte = block[16 + sub / 2 * Q_STEPS + p % Q_STEPS];
        values[i] = (int8_t)((sub % 2 ? byte >> 4 : byte & 15) - 8);
    }
}

/* Six bits of a scale and of a minimum: bytes 0 … 3 and 4 … 7 have those of the first four
 * sub-blocks; bytes 8 … 11 the low halves of the others', whose two high bits are on top of the
 * first four's. */
static void q4_k_bits(const uint8_t *bytes, size_t sub, int *scale, int *minimum)
{
    if (sub < 4) {
        *scale = bytes[sub] & 63;
        *minimum = bytes[sub + 4] & 63;
    } else {
        *scale = (bytes[sub + 4] & 15) | bytes[sub - 4] >> 6 << 4;
        *minimum = bytes[sub + 4] >> 4 | bytes[sub] >> 6 << 4;
    }
}

static struct block_group q4_k_group(const neo_block_source *source, size_t j, size_t g)
{
    const uint8_t *block = gguf_block(source, Q4_K_STEPS, Q4_K_BYTES, j, g * Q_STEPS);
    int scale, minimum;
    q4_k_bits(block + 4, g % (Q4_K_STEPS / Q_STEPS), &scale, &minimum);
    double factor = (double)read_f16(block) * scale;
    return (struct block_group){(float)factor,
                                (float)(8 * factor - (double)read_f16(block + 2) * minimum)};
}

static void q4_0_sizes(const neo_block_source *source, size_t sizes[3])
{
    sizes[0] = (size_t)source->n * (size_t)source->k / Q_STEPS * Q4_0_BYTES;
    sizes[1] = sizes[2] = 0;
}

static void q8_0_sizes(const neo_block_source *source, size_t sizes[3])
{
    sizes[0] = (size_t)source->n * (size_t)source->k / Q_STEPS * Q8_0_BYTES;
    sizes[1] = sizes[2] = 0;
}

static void q4_k_sizes(const neo_block_source *source, size_t sizes[3])
{
    sizes[0] = (size_t)source->n * (size_t)source->k / Q4_K_STEPS * Q4_K_BYTES;
    sizes[1] = sizes[2] = 0;
}

/* ---- the table ---- */

static const struct block_format formats[] = {
    [NEO_BLOCKS_PLAIN] = {"plain", 0, 1, NEO_DATA_TYPE_UNDEF, plain_has_offsets, plain_read,
                          plain_group, plain_sizes},
    [NEO_BLOCKS_ONNX] = {"onnx", 0, 1, NEO_DATA_TYPE_UNDEF, onnx_has_offsets, onnx_read, onnx_group,
                         onnx_sizes},
    [NEO_BLOCKS_GGUF_Q4_0] = {"q4_0", Q_STEPS, Q_STEPS, NEO_F16, never, q4_0_read, q4_0_group,
                              q4_0_sizes},
    [NEO_BLOCKS_GGUF_Q8_0] = {"q8_0", Q_STEPS, Q_STEPS, NEO_F16, never, q8_0_read, q8_0_group,
                              q8_0_sizes},
    [NEO_BLOCKS_GGUF_Q4_K] = {"q4_k", Q_STEPS, Q4_K_STEPS, NEO_F32, always, q4_k_read, q4_k_group,
                              q4_k_sizes},
};

const struct block_format *block_format_of(const neo_block_source *source)
{
    return (unsigned)source->format < count_of(formats) ? &formats[source->format] : NULL;
}

enum element block_format_weight(const neo_block_source *source)
{
    bool says_type = source->format <= NEO_BLOCKS_ONNX;
    bool is_byte =
        says_type ? neo_data_type_bits(source->type) == 8 : source->format == NEO_BLOCKS_GGUF_Q8_0;
    return is_byte ? ELEMENT_S8 : ELEMENT_S4;
}

size_t block_format_group(const neo_block_source *source)
{
    size_t own = formats[source->format].group;
    return own ? own : (size_t)(source->group ? source->group : source->k);
}
