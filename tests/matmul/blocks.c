/* Products by weights in blocks with scales, of every format from which they are imported: against
 * decoders that are written here from what the formats say. Where weights become floats, within the
 * bound that is stated; where src is quantised, the definition's bits. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/elementwise/element.h"
#include "tests/support/capture.h"
#include "tests/support/cases/typed.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/packed/weights.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

/* ---- stored weights ---- */

struct stored {
    neo_block_source source;
    uint8_t *weights, *scales, *zeros;
};

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
static void make_gguf(struct stored *s, size_t steps, size_t bytes, size_t halves, uint32_t *seed)
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
static void make_plain(struct stored *s, uint32_t *seed)
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

static void make_onnx(struct stored *s, uint32_t *seed)
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

static struct stored make(neo_block_format format, neo_dim k, neo_dim n, neo_dim group,
                          uint32_t *seed)
{
    struct stored s = {.source = {.format = format, .k = k, .n = n, .group = group}};
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

static void discard(struct stored *s)
{
    free(s->weights);
    free(s->scales);
    free(s->zeros);
}

/* ---- decoders ---- */

/* A weight is q * scale - less; c: what unsigned integers are less by when they are multiplied. */
struct decoded {
    int q, c;
    double scale, less;
};

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

static struct decoded decode_plain(const struct stored *s, size_t p, size_t j)
{
    const neo_block_source *source = &s->source;
    size_t at = source->k_stride ? p + j * (size_t)source->n_stride : p * (size_t)source->n + j;
    size_t group = (source->group ? p / (size_t)source->group : 0) * (size_t)source->n + j;
    double scale = read_float(s->scales, source->scale_type, group);
    int zero = s->zeros ? read_integer(s->zeros, source->zero_point_type, group) : 0;
    return (struct decoded){read_integer(s->weights, source->type, at), center(source->type), scale,
                            zero * scale};
}

static struct decoded decode_onnx(const struct stored *s, size_t p, size_t j)
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
    return (struct decoded){read_integer(blob, source->type, p % size), center(source->type), scale,
                            zero * scale};
}

static struct decoded decode_q4_0(const struct stored *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 32 + p / 32) * 18;
    double d = read_half(block);
    int i = (int)(p % 32), q = i < 16 ? block[2 + i] % 16 : block[2 + i - 16] / 16;
    return (struct decoded){q, 8, d, 8 * d};
}

static struct decoded decode_q8_0(const struct stored *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 32 + p / 32) * 34;
    return (struct decoded){(int8_t)block[2 + p % 32], 0, read_half(block), 0};
}

/* As ggml's dequantize_row_q4_K walks over a block: 64 values at a time, two scales each. */
static struct decoded decode_q4_k(const struct stored *s, size_t p, size_t j)
{
    const uint8_t *block = s->weights + (j * (size_t)s->source.k / 256 + p / 256) * 144;
    const uint8_t *six = block + 4, *q = block + 16 + p % 256 / 64 * 32;
    size_t is = p % 256 / 32;
    int sc = is < 4 ? six[is] & 63 : (six[is + 4] & 0xf) | (six[is - 4] >> 6) << 4;
    int m = is < 4 ? six[is + 4] & 63 : six[is + 4] >> 4 | (six[is] >> 6) << 4;
    int value = p % 64 < 32 ? q[p % 32] & 0xf : q[p % 32] >> 4;
    return (struct decoded){value, 8, read_half(block) * sc, read_half(block + 2) * m};
}

static struct decoded decode(const struct stored *s, size_t p, size_t j)
{
    static struct decoded (*const decoders[])(const struct stored *, size_t, size_t) = {
        [NEO_BLOCKS_PLAIN] = decode_plain,    [NEO_BLOCKS_ONNX] = decode_onnx,
        [NEO_BLOCKS_GGUF_Q4_0] = decode_q4_0, [NEO_BLOCKS_GGUF_Q8_0] = decode_q8_0,
        [NEO_BLOCKS_GGUF_Q4_K] = decode_q4_k,
    };
    return decoders[s->source.format](s, p, j);
}

/* ---- what products are to be ---- */

struct product {
    struct stored stored;
    struct typed src, bias, dst;
    bool has_bias; /* without one, it is of zeros */
    neo_packed_weights *packed;
};

static double src_at(const struct product *p, neo_dim m, neo_dim k)
{
    neo_dim rows = p->src.desc.dims[1];
    return typed_get(&p->src, (neo_dim[]){m / rows, m % rows, k});
}

static double dst_at(const struct product *p, neo_dim m, neo_dim n)
{
    neo_dim rows = p->dst.desc.dims[1];
    return typed_get(&p->dst, (neo_dim[]){m / rows, m % rows, n});
}

/* Steps of k that are summed as integers: a group, or a part of it. */
static size_t block_of(const neo_block_source *source)
{
    static const size_t own[] = {
        [NEO_BLOCKS_GGUF_Q4_0] = 32, [NEO_BLOCKS_GGUF_Q8_0] = 32, [NEO_BLOCKS_GGUF_Q4_K] = 32};
    size_t k = (size_t)source->k;
    size_t group = source->format > NEO_BLOCKS_ONNX ? own[source->format] : (size_t)source->group;
    if (!group || group >= k) {
        size_t units = (k + 15) / 16, parts = (units + 14) / 15;
        return (units + parts - 1) / parts * 16;
    }
    size_t block = 240;
    while (group % block)
        block -= 16;
    return block;
}

static float quantised_row(const struct product *p, neo_dim m, int *q)
{
    neo_dim k = p->stored.source.k;
    float size = 0;
    for (neo_dim i = 0; i < k; i++)
        size = fmaxf(size, fabsf((float)src_at(p, m, i)));
    float factor = size > 0 ? 127 / size : 0;
    for (neo_dim i = 0; i < k; i++)
        q[i] = (int)lrintf((float)src_at(p, m, i) * factor);
    return size / 127;
}

static float want_dynamic(const struct product *p, const int *q, float row_scale, size_t n)
{
    size_t k = (size_t)p->stored.source.k, block = block_of(&p->stored.source);
    float products = 0, shifts = 0;
    for (size_t first = 0; first < k; first += block) {
        struct decoded group = decode(&p->stored, first, n);
        int sum = 0, row = 0;
        for (size_t i = first; i < k && i < first + block; i++) {
            sum += q[i] * (decode(&p->stored, i, n).q - group.c);
            row += q[i];
        }
        products = fmaf((float)sum, (float)group.scale, products);
        shifts = fmaf((float)row, (float)(group.c * group.scale - group.less), shifts);
    }
    volatile float left = products * row_scale, right = shifts * row_scale;
    return left + right;
}

static void check_dynamic(const struct product *p)
{
    neo_dim n = p->stored.source.n, rows = p->dst.desc.dims[0] * p->dst.desc.dims[1];
    int *q = malloc((size_t)p->stored.source.k * sizeof *q);
    require(q);
    for (neo_dim m = 0; m < rows; m++) {
        float row_scale = quantised_row(p, m, q);
        for (neo_dim j = 0; j < n; j++) {
            float want = want_dynamic(p, q, row_scale, (size_t)j);
            want += (float)typed_get(&p->bias, (neo_dim[]){0, 0, j});
            if ((float)dst_at(p, m, j) == want)
                continue;
            print_error("format %d, k %lld, (%lld, %lld): %.9g, not %.9g\n",
                        (int)p->stored.source.format, (long long)p->stored.source.k, (long long)m,
                        (long long)j, dst_at(p, m, j), (double)want);
            fail();
        }
    }
    free(q);
}

/* Two roundings of a weight, its offset's and its own, and those of the sum. */
static void check_exact(const struct product *p)
{
    neo_dim k = p->stored.source.k, n = p->stored.source.n;
    neo_dim rows = p->dst.desc.dims[0] * p->dst.desc.dims[1];
    for (neo_dim m = 0; m < rows; m++)
        for (neo_dim j = 0; j < n; j++) {
            double sum = typed_get(&p->bias, (neo_dim[]){0, 0, j}), sizes = fabs(sum);
            for (neo_dim i = 0; i < k; i++) {
                struct decoded d = decode(&p->stored, (size_t)i, (size_t)j);
                double a = src_at(p, m, i), offset = fabs(d.c * d.scale - d.less);
                sum += a * (d.q * d.scale - d.less);
                sizes += fabs(a) * (fabs((d.q - d.c) * d.scale) + offset);
            }
            double bound = (double)(k + 3) * 0x1p-23 * sizes;
            if (fabs(dst_at(p, m, j) - sum) <= bound)
                continue;
            print_error("format %d, (%lld, %lld): %.9g, not %.9g\n", (int)p->stored.source.format,
                        (long long)m, (long long)j, dst_at(p, m, j), sum);
            fail();
        }
}

/* ---- running them ---- */

static void fill_typed(const struct typed *typed, uint32_t *seed)
{
    neo_dim at[3] = {0};
    do
        typed_put(typed, at,
                  typed_round(typed->desc.data_type, ((double)below(seed, 4001) - 2000) / 777));
    while (typed_next(3, typed->desc.dims, at));
}

static void prepare(struct product *p, neo_dim batch, neo_dim m, neo_data_type src, uint32_t *seed)
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

static void release(struct product *p)
{
    neo_packed_weights_destroy(p->packed);
    typed_free(&p->src);
    typed_free(&p->bias);
    typed_free(&p->dst);
    discard(&p->stored);
}

static neo_status describe(neo_primitive_desc **out, const struct product *p, neo_data_type dynamic)
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

static void execute(const struct product *p, const neo_primitive_desc *pd)
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

static void check(struct product *p)
{
    neo_primitive_desc *pd;
    require(describe(&pd, p, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    execute(p, pd);
    check_exact(p);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
    require(describe(&pd, p, NEO_S8) == NEO_OK);
    execute(p, pd);
    check_dynamic(p);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
}

/* One row, a tile's rows, some tiles, more than a band; columns and k that fill nothing. */
static void all_formats_are_multiplied(void **state)
{
    static const struct {
        neo_block_format format;
        neo_dim k, n, group;
    } cases[] = {
        {NEO_BLOCKS_PLAIN, 70, 37, 32},     {NEO_BLOCKS_PLAIN, 256, 16, 64},
        {NEO_BLOCKS_PLAIN, 300, 21, 128},   {NEO_BLOCKS_PLAIN, 301, 5, 0},
        {NEO_BLOCKS_PLAIN, 1, 1, 0},        {NEO_BLOCKS_PLAIN, 600, 18, 512},
        {NEO_BLOCKS_ONNX, 70, 37, 32},      {NEO_BLOCKS_ONNX, 288, 17, 16},
        {NEO_BLOCKS_ONNX, 160, 33, 128},    {NEO_BLOCKS_GGUF_Q4_0, 96, 33, 0},
        {NEO_BLOCKS_GGUF_Q8_0, 160, 30, 0}, {NEO_BLOCKS_GGUF_Q4_K, 512, 19, 0},
    };
    static const neo_dim rows[][2] = {{1, 1}, {1, 3}, {2, 7}, {1, 133}};
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++)
        for (size_t r = 0; r < count_of(rows) - (i % 3 > 0); r++) {
            struct product p = {
                .stored = make(cases[i].format, cases[i].k, cases[i].n, cases[i].group, &seed)};
            prepare(&p, rows[r][0], rows[r][1], types[(i + r) % count_of(types)], &seed);
            check(&p);
            release(&p);
        }
}

/* Largest integers everywhere: sums of a block are as far from zero as they come. */
static void extremes_are_exact(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int type = NEO_S8; type <= NEO_U4; type++) {
        struct product p = {.stored = make(NEO_BLOCKS_PLAIN, 960, 16, 240, &seed)};
        p.stored.source.type = (neo_data_type)type;
        memset(p.stored.weights, type == NEO_S4 ? 0x88 : type == NEO_S8 ? 0x80 : 0xff, 960 * 16);
        prepare(&p, 1, 9, NEO_F32, &seed);
        for (neo_dim i = 0; i < 960; i++)
            typed_put(&p.src, (neo_dim[]){0, 4, i}, -2);
        check(&p);
        release(&p);
    }
}

/* ---- rows that are no numbers ---- */

static void odd_rows_are_as_stated(void **state)
{
    uint32_t seed = fill_seed();
    struct product p = {.stored = make(NEO_BLOCKS_GGUF_Q4_0, 64, 20, 0, &seed)};
    neo_primitive_desc *pd;
    (void)state;
    prepare(&p, 1, 4, NEO_F32, &seed);
    float *src = p.src.data;
    for (size_t i = 0; i < 64; i++)
        src[p.src.desc.strides[1] * 0 + (neo_dim)i] = 0x1p-130f;
    typed_put(&p.src, (neo_dim[]){0, 1, 5}, INFINITY);
    typed_put(&p.src, (neo_dim[]){0, 2, 6}, (double)NAN);
    require(describe(&pd, &p, NEO_S8) == NEO_OK);
    execute(&p, pd);
    for (neo_dim j = 0; j < 20; j++) {
        assert_true(dst_at(&p, 0, j) == typed_get(&p.bias, (neo_dim[]){0, 0, j}));
        assert_true(isnan(dst_at(&p, 1, j)));
    }
    float before[20];
    for (neo_dim j = 0; j < 20; j++)
        before[j] = (float)dst_at(&p, 2, j);
    typed_put(&p.src, (neo_dim[]){0, 2, 6}, 0);
    execute(&p, pd);
    for (neo_dim j = 0; j < 20; j++)
        assert_true((float)dst_at(&p, 2, j) == before[j]);
    neo_primitive_desc_destroy(pd);
    release(&p);
}

/* ---- run-time sizes ---- */

static void rows_may_be_known_late(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (neo_dim m = 1; m < 300; m = m * 5 + 1) {
        struct product p = {.stored = make(NEO_BLOCKS_ONNX, 96, 20, 32, &seed)};
        struct product known;
        neo_primitive_desc *pd;
        prepare(&p, 1, m, NEO_F32, &seed);
        known = p;
        known.src.desc.dims[1] = known.dst.desc.dims[1] = NEO_RUNTIME_DIM;
        known.src.desc.strides[0] = known.dst.desc.strides[0] = NEO_RUNTIME_DIM;
        require(describe(&pd, &known, NEO_S8) == NEO_OK);
        execute(&p, pd);
        check_dynamic(&p);
        neo_primitive_desc_destroy(pd);
        release(&p);
    }
}

/* ---- the file ---- */

static neo_weights_statistics import_once(const neo_weights_provider *provider,
                                          const neo_block_source *source)
{
    neo_packed_weights *packed;
    require(neo_engine_set_weights_provider(engine, provider) == NEO_OK);
    require(neo_block_weights_import(&packed, stream, source) == NEO_OK);
    neo_packed_weights_destroy(packed);
    require(neo_engine_set_weights_provider(engine, NULL) == NEO_OK);
    return weights_statistics(provider);
}

/* The same bytes, of which a source says something else, are other weights. */
static void the_file_keeps_sources_apart(void **state)
{
    uint32_t seed = fill_seed();
    struct stored s = make(NEO_BLOCKS_ONNX, 64, 16, 32, &seed);
    neo_block_source sources[5];
    s.source.type = NEO_U4;
    s.source.scale_type = NEO_F16;
    s.source.zero_points = NULL;
    for (size_t i = 0; i < count_of(sources); i++)
        sources[i] = s.source;
    sources[1].format = NEO_BLOCKS_PLAIN;
    sources[2].format = NEO_BLOCKS_PLAIN, sources[2].type = NEO_S4;
    sources[3].scale_type = NEO_BF16;
    sources[4].k = 32, sources[4].n = 32;
    for (uint64_t round = 0; round < 2; round++) {
        neo_weights_provider provider = weights_open(*state, 0);
        for (size_t i = 0; i < count_of(sources); i++) {
            neo_weights_statistics statistics = import_once(&provider, &sources[i]);
            assert_int_equal(statistics.inserts, round ? 0 : i + 1);
            assert_int_equal(statistics.hits, round ? i + 1 : 0);
            assert_int_equal(statistics.fallbacks, 0);
        }
        weights_close(&provider);
    }
    discard(&s);
}

/* A product with weights that come out of the file. */
static void the_file_gives_the_same_weights(void **state)
{
    for (int round = 0; round < 2; round++) {
        uint32_t seed = fill_seed();
        neo_weights_provider provider = weights_open(*state, 0);
        struct product p = {.stored = make(NEO_BLOCKS_GGUF_Q4_K, 256, 20, 0, &seed)};
        require(neo_engine_set_weights_provider(engine, &provider) == NEO_OK);
        prepare(&p, 1, 3, NEO_F32, &seed);
        check(&p);
        assert_int_equal(weights_statistics(&provider).hits, round);
        release(&p);
        require(neo_engine_set_weights_provider(engine, NULL) == NEO_OK);
        weights_close(&provider);
    }
}

/* ---- memory that runs out ---- */

static neo_status make_all(struct product *p)
{
    neo_primitive_desc *pd = NULL;
    neo_primitive *primitive = NULL;
    neo_status status = neo_block_weights_import(&p->packed, stream, &p->stored.source);
    if (status == NEO_OK)
        status = describe(&pd, p, NEO_S8);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_packed_weights_destroy(p->packed);
    p->packed = NULL;
    return status;
}

static void every_allocation_may_fail(void **state)
{
    uint32_t seed = fill_seed();
    struct product p = {.stored = make(NEO_BLOCKS_ONNX, 64, 33, 32, &seed)};
    (void)state;
    prepare(&p, 1, 5, NEO_F32, &seed);
    neo_packed_weights_destroy(p.packed);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        require(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){0}) == NEO_OK);
        fault_arm(n);
        neo_status status = make_all(&p);
        failed = fault_disarm();
        if (!failed)
            assert_true(n > 3);
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
    }
    release(&p);
}

/* ---- what is refused ---- */

static void expect_refusal(const neo_block_source *source, const char *sentence)
{
    neo_memory_desc desc = {.ndims = -1};
    neo_packed_weights *packed = (void *)&desc;
    neo_set_verbose(1);
    capture_begin();
    neo_status described = neo_block_weights_describe(&desc, source);
    neo_status imported = neo_block_weights_import(&packed, stream, source);
    char *log = capture_end();
    neo_set_verbose(0);
    if (!strstr(log, sentence))
        print_error("not in the log: %s\n%s", sentence, log);
    assert_non_null(strstr(log, sentence));
    free(log);
    assert_int_equal(described, NEO_INVALID_ARGUMENT);
    assert_int_equal(imported, NEO_INVALID_ARGUMENT);
    assert_int_equal(desc.ndims, -1);
    assert_null(packed);
}

static void wrong_sources_are_refused(void **state)
{
    static const float scale = 1;
    const neo_block_source right = {.k = 32,
                                    .n = 2,
                                    .group = 16,
                                    .type = NEO_S4,
                                    .weights = &scale,
                                    .scales = &scale,
                                    .scale_type = NEO_F32};
    neo_block_source wrong;
    (void)state;
#define REFUSE(field, value, sentence) \
    wrong = right, wrong.field = (value), expect_refusal(&wrong, sentence)
    REFUSE(format, (neo_block_format)9, "format is 9, which is none");
    REFUSE(k, 0, "k is 0 and n is 2, which are not both positive");
    REFUSE(n, -3, "k is 32 and n is -3, which are not both positive");
    REFUSE(format, NEO_BLOCKS_GGUF_Q4_K, "k is 32, which is no multiple of q4_k's blocks of 256");
    REFUSE(ndims, 1, "ndims is 1, which is not in 2");
    REFUSE(group, 24, "group is 24, which is no multiple of 16");
    REFUSE(k_stride, -1, "k_stride is -1 and n_stride is 0, and one is negative");
    REFUSE(type, NEO_F32, "type is f32, not s4, u4, s8 or u8");
    REFUSE(scale_type, NEO_S8, "scale_type is s8, not f32, f16 or bf16");
    wrong = right, wrong.zero_points = &scale, wrong.zero_point_type = NEO_F32;
    expect_refusal(&wrong, "zero_point_type is f32, not s4, u4, s8, u8 or s32");
    wrong = right, wrong.format = NEO_BLOCKS_ONNX, wrong.type = NEO_U4, wrong.group = 48;
    expect_refusal(&wrong, "group is 48, which is no power of 2");
#undef REFUSE
    neo_packed_weights *packed;
    wrong = right, wrong.scales = NULL;
    assert_int_equal(neo_block_weights_import(&packed, stream, &wrong), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_block_weights_import(NULL, stream, &right), NEO_INVALID_ARGUMENT);
}

/* Attributes may not have scales for such weights; src of integers is not served. */
static void wrong_products_are_refused(void **state)
{
    uint32_t seed = fill_seed();
    struct product p = {.stored = make(NEO_BLOCKS_GGUF_Q4_0, 32, 16, 0, &seed)};
    neo_primitive_desc *pd;
    neo_attributes *attributes;
    (void)state;
    prepare(&p, 1, 2, NEO_F32, &seed);
    neo_matmul_desc desc = {.src = p.src.desc,
                            .weights = *neo_memory_get_desc(neo_packed_weights_memory(p.packed)),
                            .dst = p.dst.desc};
    require(neo_attributes_create(&attributes) == NEO_OK);
    assert_int_equal(neo_attributes_set_dynamic_src(attributes, NEO_U8), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_attributes_set_dynamic_src(NULL, NEO_S8), NEO_INVALID_ARGUMENT);
    require(neo_attributes_set_scales(attributes, NEO_ARG_WEIGHTS, 4, 0, NULL, NEO_F32) == NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes),
                     NEO_UNSUPPORTED);
    desc.src.data_type = NEO_S8;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_UNSUPPORTED);
    desc.src.data_type = NEO_F32;
    desc.weights.packed.version++;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL),
                     NEO_INVALID_ARGUMENT);
    neo_attributes_destroy(attributes);
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_are_multiplied), cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(odd_rows_are_as_stated),     cmocka_unit_test(rows_may_be_known_late),
        WEIGHTS_TEST(the_file_keeps_sources_apart),   WEIGHTS_TEST(the_file_gives_the_same_weights),
        cmocka_unit_test(every_allocation_may_fail),  cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(wrong_products_are_refused),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
