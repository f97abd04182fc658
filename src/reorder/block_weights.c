/* Weights in blocks, from the formats in which they are stored: checks, their identity, packing. */
#include "neoprene/block_weights.h"

#include <stdio.h>
#include <string.h>

#include "src/core/checked.h"
#include "src/core/log.h"
#include "src/core/reserved.h"
#include "src/packed/content_hash.h"
#include "src/packed/key.h"
#include "src/primitive/engine.h"
#include "src/primitive/types.h"
#include "src/reorder/block_formats.h"
#include "src/reorder/packed_weights.h"
#include "src/tensor/block_layout.h"
#include "src/threading/float_mode.h"
#include "src/threading/partition.h"

/* ---- checks ---- */

enum { SENTENCE = 160 };

static bool is_power_of_two(neo_dim value)
{
    return value > 0 && !(value & (value - 1));
}

/* Each of these returns whether something is wrong, and writes what. */
static bool sizes_are_wrong(const neo_block_source *s, const struct block_format *format, char *why)
{
    if (s->k < 1 || s->n < 1)
        snprintf(why, SENTENCE, "k is %lld and n is %lld, which are not both positive",
                 (long long)s->k, (long long)s->n);
    else if ((size_t)s->k % format->multiple)
        snprintf(why, SENTENCE, "k is %lld, which is no multiple of %s's blocks of %zu",
                 (long long)s->k, format->name, format->multiple);
    else if (s->ndims && (s->ndims < 2 || s->ndims > NEO_MAX_NDIMS))
        snprintf(why, SENTENCE, "ndims is %d, which is not in 2 … %d", s->ndims, NEO_MAX_NDIMS);
    else
        return false;
    return true;
}

static bool group_is_wrong(const neo_block_source *s, char *why)
{
    bool is_onnx = s->format == NEO_BLOCKS_ONNX;
    if (s->group < 0 || (s->group && s->group % GEMM_BLOCKS_UNIT))
        snprintf(why, SENTENCE, "group is %lld, which is no multiple of %d", (long long)s->group,
                 GEMM_BLOCKS_UNIT);
    else if (is_onnx && !is_power_of_two(s->group))
        snprintf(why, SENTENCE, "group is %lld, which is no power of 2", (long long)s->group);
    else if (s->k_stride < 0 || s->n_stride < 0)
        snprintf(why, SENTENCE, "k_stride is %lld and n_stride is %lld, and one is negative",
                 (long long)s->k_stride, (long long)s->n_stride);
    else
        return false;
    return true;
}

static bool types_are_wrong(const neo_block_source *s, char *why)
{
    bool is_onnx = s->format == NEO_BLOCKS_ONNX;
    uint16_t weights = is_onnx ? 1 << NEO_U4 | 1 << NEO_U8 : TYPES_BYTE | TYPES_HALF_BYTE;
    uint16_t zeros = is_onnx ? weights : weights | 1 << NEO_S32;
    if (!types_have(weights, s->type))
        snprintf(why, SENTENCE, "type is %s, not %s", neo_data_type_name(s->type),
                 is_onnx ? "u4 or u8" : "s4, u4, s8 or u8");
    else if (!types_have(TYPES_FLOAT, s->scale_type))
        snprintf(why, SENTENCE, "scale_type is %s, not f32, f16 or bf16",
                 neo_data_type_name(s->scale_type));
    else if (s->zero_points && !types_have(zeros, s->zero_point_type) &&
             !(is_onnx && s->zero_point_type == s->scale_type))
        snprintf(why, SENTENCE, "zero_point_type is %s, not %s",
                 neo_data_type_name(s->zero_point_type),
                 is_onnx ? "u4, u8 or scale_type" : "s4, u4, s8, u8 or s32");
    else
        return false;
    return true;
}

static bool is_wrong(const neo_block_source *source, char *why)
{
    const struct block_format *format = block_format_of(source);
    if (!format) {
        snprintf(why, SENTENCE, "format is %d, which is none", (int)source->format);
        return true;
    }
    if (sizes_are_wrong(source, format, why))
        return true;
    return !format->group && (group_is_wrong(source, why) || types_are_wrong(source, why));
}

static struct gemm_blocks blocks_of(const neo_block_source *source)
{
    const struct block_format *format = block_format_of(source);
    neo_data_type scale = format->scale ? format->scale : source->scale_type;
    return (struct gemm_blocks){
        .weight = block_format_weight(source),
        .scale = scale == NEO_F16 ? ELEMENT_F16 : ELEMENT_F32,
        .block = block_layout_block(block_format_group(source), (size_t)source->k),
        .has_offsets = format->has_offsets(source),
    };
}

static neo_memory_desc describe(const neo_block_source *source)
{
    struct gemm_blocks blocks = blocks_of(source);
    neo_memory_desc desc = {.ndims = source->ndims ? source->ndims : 2,
                            .data_type = blocks.weight == ELEMENT_S4 ? NEO_S4 : NEO_S8};
    for (int i = 0; i < desc.ndims - 2; i++)
        desc.dims[i] = 1;
    desc.dims[desc.ndims - 2] = source->k;
    desc.dims[desc.ndims - 1] = source->n;
    block_layout_set(&desc, &blocks);
    return desc;
}

neo_status neo_block_weights_describe(neo_memory_desc *out, const neo_block_source *source)
{
    char why[SENTENCE];
    if (!out || !source)
        return log_refusal(__func__, "out or source is NULL");
    if (reserved_is_set(source->reserved))
        return log_refusal(__func__, RESERVED_IS_SET);
    if (is_wrong(source, why))
        return log_refusal(__func__, why);
    neo_memory_desc desc = describe(source);
    const char *wrong = block_layout_wrong(&desc);
    if (wrong)
        return log_refusal(__func__, wrong);
    *out = desc;
    return NEO_OK;
}

/* ---- packing ---- */

struct packing {
    const neo_block_source *source;
    const struct block_format *format;
    struct gemm_blocks blocks;
    const struct parallel *parallel;
    uint8_t *out;
};

/* Column j's part of block b. */
static struct block_group read_column(const struct packing *packing, size_t j, size_t b,
                                      int8_t *values)
{
    const neo_block_source *source = packing->source;
    size_t first = b * packing->blocks.block, k = (size_t)source->k;
    if (j >= (size_t)source->n)
        return (struct block_group){0, 0};
    packing->format->read(source, j, first, min_size(packing->blocks.block, k - first), values);
    return packing->format->group_of(source, j, first / block_format_group(source));
}

static void pack_block(const struct packing *packing, size_t panel, size_t b, uint8_t *out,
                       float *offsets)
{
    int8_t values[GEMM_BLOCKS_NR * GEMM_S4_MOST_BLOCK] = {0};
    float scales[GEMM_BLOCKS_NR];
    for (size_t j = 0; j < GEMM_BLOCKS_NR; j++) {
        struct block_group group =
            read_column(packing, panel * GEMM_BLOCKS_NR + j, b, values + j * GEMM_S4_MOST_BLOCK);
        scales[j] = group.scale;
        if (packing->blocks.has_offsets)
            offsets[j] = group.offset;
    }
    gemm_blocks_write(&packing->blocks, values, scales, out);
}

static void pack_panels(void *argument, struct span panels, int slot)
{
    const struct packing *packing = argument;
    size_t k = (size_t)packing->source->k;
    (void)slot;
    for (size_t i = panels.begin; i < panels.end; i++) {
        uint8_t *out = packing->out + i * gemm_blocks_panel_bytes(&packing->blocks, k);
        float *offsets = (float *)(void *)(out + gemm_blocks_offsets_at(&packing->blocks, k));
        for (size_t b = 0; b < gemm_blocks_count(&packing->blocks, k); b++)
            pack_block(packing, i, b, out + b * gemm_blocks_bytes(&packing->blocks),
                       offsets + b * GEMM_BLOCKS_NR);
    }
}

/* In the default mode of floating point, and with zeros behind the last panel. */
static neo_status pack_to(void *argument, void *data)
{
    struct packing *packing = argument;
    neo_memory_desc desc = describe(packing->source);
    size_t panels = div_up((size_t)packing->source->n, GEMM_BLOCKS_NR);
    size_t used = panels * gemm_blocks_panel_bytes(&packing->blocks, (size_t)packing->source->k);
    uint64_t callers = float_mode_swap(FLOAT_MODE_DEFAULT);
    packing->out = data;
    memset(packing->out + used, 0, block_layout_bytes(&desc) - used);
    parallel_for_tiles(packing->parallel, panels, parallel_threads(packing->parallel), pack_panels,
                       packing);
    (void)float_mode_swap(callers);
    return NEO_OK;
}

/* ---- identity ---- */

static neo_weights_content content_of(const struct packing *packing)
{
    const neo_block_source *source = packing->source;
    const void *parts[3] = {source->weights, source->scales, source->zero_points};
    size_t sizes[3];
    neo_weights_content contents[3];
    packing->format->sizes(source, sizes);
    for (size_t i = 0; i < count_of(parts); i++)
        contents[i] = content_hash(sizes[i] ? parts[i] : NULL, sizes[i], packing->parallel);
    return neo_weights_hash(contents, sizeof contents);
}

/* The layout, and what the source says of its bytes. */
static neo_weights_key key_of(const struct packing *packing, const neo_memory_desc *desc)
{
    const neo_block_source *s = packing->source;
    bool says_all = !packing->format->group;
    const neo_dim wide[] = {s->k, s->n, (neo_dim)block_format_group(s), says_all ? s->k_stride : 0,
                            says_all ? s->n_stride : 0};
    neo_weights_key key = {
        .content = content_of(packing),
        .layout = {desc->packed.id, desc->packed.version, desc->packed.panel,
                   (uint32_t)desc->data_type, (uint32_t)s->format,
                   says_all ? (uint32_t)s->type | (uint32_t)s->scale_type << 8 : 0,
                   says_all && s->zero_points ? (uint32_t)s->zero_point_type : 0},
        .layout_words = 7,
    };
    for (size_t i = 0; i < count_of(wide); i++) {
        key.layout[key.layout_words++] = (uint32_t)wide[i];
        key.layout[key.layout_words++] = (uint32_t)((uint64_t)wide[i] >> 32);
    }
    return key;
}

neo_status neo_block_weights_import(neo_packed_weights **out, neo_stream *stream,
                                    const neo_block_source *source)
{
    neo_memory_desc desc;
    if (out)
        *out = NULL;
    if (!out || !stream || !source)
        return log_refusal(__func__, "a pointer is NULL");
    neo_status status = neo_block_weights_describe(&desc, source);
    if (status != NEO_OK)
        return status;
    const struct block_format *format = block_format_of(source);
    if (!source->weights || (!format->group && !source->scales))
        return log_refusal(__func__, "weights or scales is NULL");
    struct packing packing = {source, format, blocks_of(source), &stream->parallel, NULL};
    neo_weights_key key = key_of(&packing, &desc);
    struct weights_request request = {.key = &key,
                                      .size = block_layout_bytes(&desc),
                                      .align = LAYOUT_ALIGNMENT,
                                      .pack = pack_to,
                                      .argument = &packing,
                                      .parallel = &stream->parallel};
    return packed_weights_create(out, stream->engine, &desc, &request);
}
