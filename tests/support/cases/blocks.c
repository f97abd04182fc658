/* Weights in blocks, and products by them. */
#include "tests/support/cases/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/elementwise/element.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"
#include "tests/support/test.h"

/* ---- stored weights ---- */

static size_t below(uint32_t *seed, size_t limit)
{
    return (fill_next(seed) >> 8) % limit;
}

static uint8_t *random_bytes(size_t count, uint32_t *seed)
{
    uint8_t *bytes = malloc(count + 1);
    require(bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(fill_next(seed) >> 20);
    return bytes;
}

static float random_scale(uint32_t *seed)
{
    return ((float)below(seed, 2000) + 1) / 65536 * (below(seed, 4) ? 1 : -1);
}

static void put_f16(uint8_t *bytes, float value)
{
    uint16_t half = f16_of_f32(value);
    bytes[0] = (uint8_t)half;
    bytes[1] = (uint8_t)(half >> 8);
}

/* Blocks of so many steps and bytes, which begin with so many numbers of f16. */
static void make_gguf(struct block_weights *s, size_t steps, size_t bytes, size_t halves,
                      uint32_t *seed)
{
    size_t blocks = (size_t)(s->source.n * s->source.k) / steps;
    s->weights = random_bytes(blocks * bytes, seed);
    for (size_t i = 0; i < blocks; i++)
        for (size_t h = 0; h < halves; h++)
            put_f16(s->weights + i * bytes + 2 * h, random_scale(seed));
}

static size_t groups_of(const neo_block_source *source)
{
    return source->group ? (size_t)((source->k + source->group - 1) / source->group) : 1;
}

static uint8_t *random_scales(neo_data_type type, size_t count, uint32_t *seed)
{
    size_t bytes = neo_data_type_bits(type) / 8;
    uint8_t *scales = malloc(count * bytes);
    require(scales);
    for (size_t i = 0; i < count; i++)
        element_write_f32((enum element)((int)type - (int)NEO_F32), scales, (ptrdiff_t)i,
                          random_scale(seed));
    return scales;
}

/* With strides or without, with zero points or without. */
static void make_plain(struct block_weights *s, uint32_t *seed)
{
    static const neo_data_type types[] = {NEO_S4, NEO_U4, NEO_S8, NEO_U8};
    static const neo_data_type scales[] = {NEO_F32, NEO_F16, NEO_BF16};
    static const neo_data_type zeros[] = {NEO_S4, NEO_U4, NEO_S8, NEO_U8};
    neo_block_source *source = &s->source;
    size_t groups = groups_of(source) * (size_t)source->n;
    source->type = types[below(seed, 4)];
    source->scale_type = scales[below(seed, 3)];
    source->zero_point_type = zeros[below(seed, 4)];
    if (below(seed, 2))
        source->k_stride = 1, source->n_stride = source->k + (neo_dim)below(seed, 3);
    s->weights = random_bytes((size_t)((source->k + 2) * source->n), seed);
    s->scales = random_scales(source->scale_type, groups, seed);
    if (below(seed, 2))
        s->zeros = random_bytes(groups, seed);
}

static void make_onnx(struct block_weights *s, uint32_t *seed)
{
    neo_block_source *source = &s->source;
    size_t groups = groups_of(source), n = (size_t)source->n;
    source->type = below(seed, 2) ? NEO_U4 : NEO_U8;
    source->scale_type = below(seed, 2) ? NEO_F32 : NEO_F16;
    source->zero_point_type = below(seed, 3) ? source->type : source->scale_type;
    s->weights = random_bytes(n * groups * (size_t)source->group, seed);
    s->scales = random_scales(source->scale_type, n * groups, seed);
    if (below(seed, 3))
        s->zeros = source->zero_point_type == source->scale_type
                       ? random_scales(source->scale_type, n * groups, seed)
                       : random_bytes(n * (groups + 1), seed);
}

struct block_weights block_weights_make(neo_block_format format, neo_dim k, neo_dim n,
                                        neo_dim group, uint32_t *seed)
{
    struct block_weights s = {.source = {.format = format, .k = k, .n = n, .group = group}};
    switch (format) {
    case NEO_BLOCKS_PLAIN:
        make_plain(&s, seed);
        break;
    case NEO_BLOCKS_ONNX:
        make_onnx(&s, seed);
        break;
    case NEO_BLOCKS_GGUF_Q4_0:
        make_gguf(&s, 32, 18, 1, seed);
        break;
    case NEO_BLOCKS_GGUF_Q8_0:
        make_gguf(&s, 32, 34, 1, seed);
        break;
    case NEO_BLOCKS_GGUF_Q4_K:
        make_gguf(&s, 256, 144, 2, seed);
        break;
    }
    s.source.weights = s.weights;
    s.source.scales = s.scales;
    s.source.zero_points = s.zeros;
    return s;
}

void block_weights_free(struct block_weights *s)
{
    free(s->weights);
    free(s->scales);
    free(s->zeros);
}

/* ---- decoders ---- */

static int read_integer(const uint8_t *bytes, neo_data_type type, size_t i)
{
    int half = bytes[i / 2] >> (i % 2 ? 4 : 0) & 15;
    switch (type) {
    case NEO_U4:
        return half;
    case NEO_S4:
        return half > 7 ? half - 16 : half;
    case NEO_U8:
        return bytes[i];
    default:
        return bytes[i] > 127 ? bytes[i] - 256 : bytes[i];
    }
}

static double read_float(const uint8_t *bytes, neo_data_type type, size_t i)
{
    return (double)element_read_f32((enum element)((int)type - (int)NEO_F32), bytes, (ptrdiff_t)i);
}

static double read_half(const uint8_t *bytes)
{
    return (double)f32_of_f16((uint16_t)(bytes[0] | bytes[1] << 8));
}

static int center(neo_data_type type)
{
    return type == NEO_U4 ? 8 : type == NEO_U8 ? 128 : 0;
}

static struct decoded_weight decode_plain(const struct block_weights *s, size_t p, size_t j)
{
    const neo_block_source *source = &s->source;
    size_t at = source->k_stride ? p + j * (size_t)source->n_stride : p * (size_t)source->n + j;
    size_t group = (source->group ? p / (size_t)source->group : 0) * (size_t)source->n + j;
    double scale = read_float(s->scales, source->scale_type, group);
    int zero = s->zeros ? read_integer(s->zeros, source->zero_point_type, group) : 0;
    return (struct decoded_weight){read_integer(s->weights, source->type, at), center(source->type),
                                   scale, zero * scale};
}

static struct decoded_weight decode_onnx(const struct block_weights *s, size_t p, size_t j)
{
    const neo_block_source *source = &s->source;
    size_t bits = source->type == NEO_U4 ? 4 : 8, size = (size_t)source->group;
    size_t groups = groups_of(source), g = p / size;
    const uint8_t *blob = s->weights + (j * groups + g) * size * bits / 8;
    size_t row = source->zero_point_type == NEO_U4 ? (groups + 1) / 2 * 2 : groups;
    double scale = read_float(s->scales, source->scale_type, j * groups + g);
    double zero = center(source->type);
    if (s->zeros && source->zero_point_type == source->scale_type)
        zero = read_float(s->zeros, source->scale_type, j * groups + g);
    else if (s->zeros)
        zero = read_integer(s->zeros, source->zero_point_type, j * row + g);
    return (struct decoded_weight){read_integer(blob, source->type, p % size), center(source->type),
                                   scale, zero * scale};
}

static struct decoded_weight decode_q4_0(const struct block_weights *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 32 + p / 32) * 18;
    double d = read_half(block);
    int i = (int)(p % 32), q = i < 16 ? block[2 + i] % 16 : block[2 + i - 16] / 16;
    return (struct decoded_weight){q, 8, d, 8 * d};
}

static struct decoded_weight decode_q8_0(const struct block_weights *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 32 + p / 32) * 34;
    return (struct decoded_weight){(int8_t)block[2 + p % 32], 0, read_half(block), 0};
}

/* As ggml's dequantize_row_q4_K walks over a block: 64 values at a time, two scales each. */
static struct decoded_weight decode_q4_k(const struct block_weights *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 256 + p / 256) * 144;
    const uint8_t *six = block + 4, *q = block + 16 + p % 256 / 64 * 32;
    size_t is = p % 256 / 32;
    int sc = is < 4 ? six[is] & 63 : (six[is + 4] & 0xf) | (six[is - 4] >> 6) << 4;
    int m = is < 4 ? six[is + 4] & 63 : six[is + 4] >> 4 | (six[is] >> 6) << 4;
    int value = p % 64 < 32 ? q[p % 32] & 0xf : q[p % 32] >> 4;
    return (struct decoded_weight){value, 8, read_half(block) * sc, read_half(block + 2) * m};
}

struct decoded_weight block_weights_decode(const struct block_weights *s, size_t p, size_t j)
{
    static struct decoded_weight (*const decoders[])(const struct block_weights *, size_t,
                                                     size_t) = {
        [NEO_BLOCKS_PLAIN] = decode_plain,    [NEO_BLOCKS_ONNX] = decode_onnx,
        [NEO_BLOCKS_GGUF_Q4_0] = decode_q4_0, [NEO_BLOCKS_GGUF_Q8_0] = decode_q8_0,
        [NEO_BLOCKS_GGUF_Q4_K] = decode_q4_k,
    };
    return decoders[s->source.format](s, p, j);
}

/* ---- products ---- */

static void fill_typed(const struct typed *typed, uint32_t *seed)
{
    neo_dim at[3] = {0};
    do
        typed_put(typed, at,
                  typed_round(typed->desc.data_type, ((double)below(seed, 4001) - 2000) / 777));
    while (typed_next(3, typed->desc.dims, at));
}

void block_product_make(struct block_product *p, neo_dim batch, neo_dim m, neo_data_type src,
                        uint32_t *seed)
{
    neo_block_source *source = &p->stored.source;
    source->ndims = 3;
    p->src = typed_make_tag(engine, src, 3, (neo_dim[]){batch, m, source->k},
                            below(seed, 2) ? "abc" : "bac");
    p->dst = typed_make_tag(engine, NEO_F32, 3, (neo_dim[]){batch, m, source->n}, "abc");
    p->bias = typed_make_tag(engine, NEO_F32, 3, (neo_dim[]){1, 1, source->n}, "abc");
    fill_typed(&p->src, seed);
    p->has_bias = below(seed, 2);
    if (p->has_bias)
        fill_typed(&p->bias, seed);
    require(neo_block_weights_import(&p->packed, stream, source) == NEO_OK);
}

void block_product_free(struct block_product *p)
{
    neo_packed_weights_destroy(p->packed);
    typed_free(&p->src);
    typed_free(&p->bias);
    typed_free(&p->dst);
    block_weights_free(&p->stored);
}

neo_status block_product_describe(neo_primitive_desc **out, const struct block_product *p,
                                  neo_data_type dynamic)
{
    neo_attributes *attributes;
    neo_matmul_desc desc = {.src = p->src.desc,
                            .weights = *neo_memory_get_desc(neo_packed_weights_memory(p->packed)),
                            .bias = p->has_bias ? p->bias.desc : (neo_memory_desc){0},
                            .dst = p->dst.desc};
    neo_status status = neo_attributes_create(&attributes);
    if (status != NEO_OK)
        return status;
    require(neo_attributes_set_dynamic_src(attributes, dynamic) == NEO_OK);
    status = neo_matmul_primitive_desc_create(out, engine, &desc, attributes);
    neo_attributes_destroy(attributes);
    return status;
}

void block_product_execute(const struct block_product *p, const neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    neo_exec_arg args[] = {{NEO_ARG_SRC, p->src.memory},
                           {NEO_ARG_WEIGHTS, neo_packed_weights_memory(p->packed)},
                           {NEO_ARG_DST, p->dst.memory},
                           {NEO_ARG_BIAS, p->bias.memory}};
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    require(neo_primitive_execute(primitive, stream, p->has_bias ? 4 : 3, args) == NEO_OK);
    neo_primitive_destroy(primitive);
}
