/* A decoder layer with weights of four bits, in f32 and in bf16, and a cache of keys and values
 * that grows by a row for each token: decoder [TOKENS]
 *
 * All primitives are made before the first token. A step only tells memories how long they are now;
 * it makes neither primitives nor memories, which the program checks. The results are compared with
 * the same layer in plain loops of double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neoprene/neoprene.h"

enum { WIDTH = 128, HEADS = 4, HEAD = WIDTH / HEADS, WIDE = 256, GROUP = 32, MOST_TOKENS = 512 };

static void check(neo_status status, const char *what)
{
    if (status == NEO_OK)
        return;
    fprintf(stderr, "decoder: %s: %s\n", what, neo_status_text(status));
    exit(1);
}

static void *allocate(size_t count, size_t bytes)
{
    void *data = calloc(count, bytes);
    if (!data)
        check(NEO_OUT_OF_MEMORY, "a buffer");
    return data;
}

static double random_value(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 23) - 1;
}

/* ---- weights ---- */

/* k × n weights of s4, two in a byte, and a scale for each GROUP steps of k. */
struct linear {
    neo_dim k, n;
    unsigned char *values;
    float *scales;
    neo_packed_weights *packed;
    neo_primitive *primitive;
};

static double weight(const struct linear *l, neo_dim p, neo_dim j)
{
    neo_dim at = p * l->n + j;
    int half = l->values[at / 2] >> (at % 2 * 4) & 15;
    return (half < 8 ? half : half - 16) * (double)l->scales[p / GROUP * l->n + j];
}

struct decoder {
    neo_engine *engine;
    neo_stream *stream;
    neo_data_type type;      /* of rows and of the cache: f32 or bf16 */
    neo_data_type quantised; /* what rows may become: NEO_S8, or nothing */
    neo_shape_predictor *predictor;

    struct linear q, k, v, out, gate, up, down;
    neo_primitive *normalize, *scores, *softmax, *mix;

    neo_memory *x, *normal, *query, *key_row, *value_row, *mixed_row, *wide, *gated;
    neo_memory *query_heads, *mixed_heads, *keys, *values, *score_rows;
    unsigned char *key_cache, *value_cache; /* capacity rows of WIDTH */
    neo_dim length, capacity;
};

/* ---- making ---- */

static neo_memory_desc strided(const struct decoder *d, int ndims, const neo_dim *dims,
                               const neo_dim *strides)
{
    neo_memory_desc desc;
    check(neo_memory_desc_init_strides(&desc, ndims, dims, d->type, strides), "a descriptor");
    return desc;
}

static neo_memory_desc row_of(const struct decoder *d, neo_dim columns)
{
    return strided(d, 2, (neo_dim[]){1, columns}, (neo_dim[]){columns, 1});
}

/* Rows of one token, head by head; keys as columns and values as rows of the tokens so far. */
static neo_memory_desc heads_desc(const struct decoder *d)
{
    return strided(d, 3, (neo_dim[]){HEADS, 1, HEAD}, (neo_dim[]){HEAD, WIDTH, 1});
}

static neo_memory_desc keys_desc(const struct decoder *d, neo_dim length)
{
    return strided(d, 3, (neo_dim[]){HEADS, HEAD, length}, (neo_dim[]){HEAD, 1, WIDTH});
}

static neo_memory_desc values_desc(const struct decoder *d, neo_dim length)
{
    return strided(d, 3, (neo_dim[]){HEADS, length, HEAD}, (neo_dim[]){HEAD, WIDTH, 1});
}

static neo_memory_desc scores_desc(const struct decoder *d, neo_dim length)
{
    return strided(d, 3, (neo_dim[]){HEADS, 1, length}, (neo_dim[]){MOST_TOKENS, MOST_TOKENS, 1});
}

static neo_memory *memory_of(const struct decoder *d, neo_memory_desc desc, void *handle)
{
    neo_memory *memory;
    check(neo_memory_create(&memory, &desc, d->engine, handle), "a memory");
    return memory;
}

static neo_primitive *primitive_of(neo_primitive_desc *pd)
{
    neo_primitive *primitive;
    check(neo_primitive_create(&primitive, pd), "a primitive");
    neo_primitive_desc_destroy(pd);
    return primitive;
}

/* attributes: post-operations, or NULL; they are destroyed. */
static struct linear make_linear(struct decoder *d, neo_dim k, neo_dim n,
                                 neo_attributes *attributes)
{
    struct linear l = {.k = k,
                       .n = n,
                       .values = allocate((size_t)(k * n / 2), 1),
                       .scales = allocate((size_t)(k / GROUP * n), sizeof(float))};
    for (neo_dim i = 0; i < k * n / 2; i++)
        l.values[i] = (unsigned char)(random_value() * 127 + 128);
    for (neo_dim i = 0; i < k / GROUP * n; i++)
        l.scales[i] = (float)((random_value() + 2) / 16 / sqrt((double)k));
    const neo_block_source source = {.format = NEO_BLOCKS_PLAIN,
                                     .k = k,
                                     .n = n,
                                     .group = GROUP,
                                     .type = NEO_S4,
                                     .weights = l.values,
                                     .scales = l.scales,
                                     .scale_type = NEO_F32};
    check(neo_block_weights_import(&l.packed, d->stream, &source), "weights");
    if (!attributes)
        check(neo_attributes_create(&attributes), "attributes");
    check(neo_attributes_set_dynamic_src(attributes, d->quantised), "attributes");
    const neo_matmul_desc desc = {.src = row_of(d, k),
                                  .weights =
                                      *neo_memory_get_desc(neo_packed_weights_memory(l.packed)),
                                  .dst = row_of(d, n)};
    neo_primitive_desc *pd;
    check(neo_matmul_primitive_desc_create(&pd, d->engine, &desc, attributes), "a product");
    neo_attributes_destroy(attributes);
    l.primitive = primitive_of(pd);
    return l;
}

static neo_attributes *with_sum(void)
{
    neo_attributes *attributes;
    check(neo_attributes_create(&attributes), "attributes");
    check(neo_attributes_append_sum(attributes, 1, 0, NEO_DATA_TYPE_UNDEF), "a sum");
    return attributes;
}

static neo_attributes *with_eltwise(neo_eltwise algorithm, float alpha)
{
    neo_attributes *attributes;
    check(neo_attributes_create(&attributes), "attributes");
    check(neo_attributes_append_eltwise(attributes, algorithm, alpha, 0), "a function");
    return attributes;
}

static neo_attributes *with_product(const struct decoder *d, neo_dim columns)
{
    neo_attributes *attributes;
    neo_memory_desc desc = row_of(d, columns);
    check(neo_attributes_create(&attributes), "attributes");
    check(neo_attributes_append_binary(attributes, NEO_BINARY_MUL, &desc), "a product");
    return attributes;
}

static void make_linears(struct decoder *d)
{
    d->q = make_linear(d, WIDTH, WIDTH, NULL);
    d->k = make_linear(d, WIDTH, WIDTH, NULL);
    d->v = make_linear(d, WIDTH, WIDTH, NULL);
    d->out = make_linear(d, WIDTH, WIDTH, with_sum());
    d->gate = make_linear(d, WIDTH, WIDE, with_eltwise(NEO_ELTWISE_SWISH, 1));
    d->up = make_linear(d, WIDTH, WIDE, with_product(d, WIDE));
    d->down = make_linear(d, WIDE, WIDTH, with_sum());
}

/* How many tokens there are is said by the memories, at each execution. */
static void make_attention(struct decoder *d)
{
    neo_primitive_desc *pd;
    neo_memory_desc rows = scores_desc(d, NEO_RUNTIME_DIM);
    neo_attributes *scaled = with_eltwise(NEO_ELTWISE_LINEAR, 1 / sqrtf(HEAD));
    const neo_matmul_desc scores = {
        .src = heads_desc(d), .weights = keys_desc(d, NEO_RUNTIME_DIM), .dst = rows};
    const neo_matmul_desc mix = {
        .src = rows, .weights = values_desc(d, NEO_RUNTIME_DIM), .dst = heads_desc(d)};
    check(neo_matmul_primitive_desc_create(&pd, d->engine, &scores, scaled), "scores");
    d->scores = primitive_of(pd);
    neo_attributes_destroy(scaled);
    check(neo_softmax_primitive_desc_create(&pd, d->engine, NEO_FORWARD_INFERENCE,
                                            NEO_SOFTMAX_ACCURATE, &rows, &rows, 2, NULL),
          "softmax");
    d->softmax = primitive_of(pd);
    check(neo_matmul_primitive_desc_create(&pd, d->engine, &mix, NULL), "a mixture");
    d->mix = primitive_of(pd);
}

static void make_normalization(struct decoder *d)
{
    neo_primitive_desc *pd;
    const neo_memory_desc row = row_of(d, WIDTH);
    check(neo_layer_normalization_primitive_desc_create(&pd, d->engine, NEO_FORWARD_INFERENCE, &row,
                                                        &row, NULL, NEO_F32, 1e-5f,
                                                        NEO_NORMALIZATION_RMS, NULL),
          "normalisation");
    d->normalize = primitive_of(pd);
}

static void make_memories(struct decoder *d)
{
    d->x = memory_of(d, row_of(d, WIDTH), NEO_MEMORY_ALLOCATE);
    d->normal = memory_of(d, row_of(d, WIDTH), NEO_MEMORY_ALLOCATE);
    d->query = memory_of(d, row_of(d, WIDTH), NEO_MEMORY_ALLOCATE);
    d->mixed_row = memory_of(d, row_of(d, WIDTH), NEO_MEMORY_ALLOCATE);
    d->wide = memory_of(d, row_of(d, WIDE), NEO_MEMORY_ALLOCATE);
    d->gated = memory_of(d, row_of(d, WIDE), NEO_MEMORY_ALLOCATE);
    d->query_heads = memory_of(d, heads_desc(d), neo_memory_get_handle(d->query));
    d->mixed_heads = memory_of(d, heads_desc(d), neo_memory_get_handle(d->mixed_row));
    d->score_rows = memory_of(d, scores_desc(d, MOST_TOKENS), NEO_MEMORY_ALLOCATE);
    d->key_row = memory_of(d, row_of(d, WIDTH), NULL); /* their places move */
    d->value_row = memory_of(d, row_of(d, WIDTH), NULL);
    d->keys = memory_of(d, keys_desc(d, 1), NULL);
    d->values = memory_of(d, values_desc(d, 1), NULL);
}

static void make(struct decoder *d, neo_data_type type, neo_data_type quantised)
{
    *d = (struct decoder){.type = type, .quantised = quantised};
    check(neo_engine_create(&d->engine), "an engine");
    check(neo_stream_create(&d->stream, d->engine, NULL), "a stream");
    check(neo_shape_predictor_create(&d->predictor, NULL), "a predictor");
    make_linears(d);
    make_attention(d);
    make_normalization(d);
    make_memories(d);
}

/* ---- one step ---- */

static void execute(const struct decoder *d, neo_primitive *primitive, const neo_exec_arg *args,
                    int count)
{
    check(neo_primitive_execute(primitive, d->stream, count, args), "an execution");
}

static void run_linear(const struct decoder *d, const struct linear *l, neo_memory *src,
                       neo_memory *dst, neo_memory *factor)
{
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src},
                                 {NEO_ARG_WEIGHTS, neo_packed_weights_memory(l->packed)},
                                 {NEO_ARG_DST, dst},
                                 {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1, factor}};
    execute(d, l->primitive, args, factor ? 4 : 3);
}

static void run_product(const struct decoder *d, neo_primitive *primitive, neo_memory *src,
                        neo_memory *weights, neo_memory *dst)
{
    const neo_exec_arg args[] = {
        {NEO_ARG_SRC, src}, {NEO_ARG_WEIGHTS, weights}, {NEO_ARG_DST, dst}};
    execute(d, primitive, args, 3);
}

static void run_in_place(const struct decoder *d, neo_primitive *primitive, neo_memory *src,
                         neo_memory *dst)
{
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src}, {NEO_ARG_DST, dst}};
    execute(d, primitive, args, 2);
}

static size_t row_bytes(const struct decoder *d)
{
    return WIDTH * neo_data_type_bits(d->type) / 8;
}

static unsigned char *grown(const struct decoder *d, unsigned char *cache)
{
    unsigned char *larger = realloc(cache, (size_t)d->capacity * row_bytes(d));
    if (!larger)
        check(NEO_OUT_OF_MEMORY, "the cache");
    return larger;
}

/* Room for one more row: as much as the predictor says of something that grows. */
static void make_room(struct decoder *d)
{
    neo_shape predicted;
    const neo_shape_query query = {.id = "cache",
                                   .flags = NEO_SHAPE_GROWS |
                                            (d->length < d->capacity ? NEO_SHAPE_REUSED : 0),
                                   .shape = {2, {d->length + 1, WIDTH}},
                                   .bits = neo_data_type_bits(d->type),
                                   .iterations = 16,
                                   .grow_dim = 0};
    int knows = neo_shape_predictor_predict(d->predictor, &query, &predicted);
    if (d->length < d->capacity)
        return;
    d->capacity = knows ? predicted.dims[0] : d->length + 1;
    d->key_cache = grown(d, d->key_cache);
    d->value_cache = grown(d, d->value_cache);
}

static void describe(neo_memory *memory, neo_memory_desc desc, void *handle)
{
    check(neo_memory_set_desc(memory, &desc), "a new length");
    if (handle)
        check(neo_memory_set_handle(memory, handle), "a new place");
}

static void add_token(struct decoder *d)
{
    make_room(d);
    size_t row = (size_t)d->length++ * row_bytes(d);
    check(neo_memory_set_handle(d->key_row, d->key_cache + row), "a key's place");
    check(neo_memory_set_handle(d->value_row, d->value_cache + row), "a value's place");
    describe(d->keys, keys_desc(d, d->length), d->key_cache);
    describe(d->values, values_desc(d, d->length), d->value_cache);
    describe(d->score_rows, scores_desc(d, d->length), NULL);
}

static void step(struct decoder *d)
{
    add_token(d);
    run_in_place(d, d->normalize, d->x, d->normal);
    run_linear(d, &d->q, d->normal, d->query, NULL);
    run_linear(d, &d->k, d->normal, d->key_row, NULL);
    run_linear(d, &d->v, d->normal, d->value_row, NULL);
    run_product(d, d->scores, d->query_heads, d->keys, d->score_rows);
    run_in_place(d, d->softmax, d->score_rows, d->score_rows);
    run_product(d, d->mix, d->score_rows, d->values, d->mixed_heads);
    run_linear(d, &d->out, d->mixed_row, d->x, NULL);
    run_in_place(d, d->normalize, d->x, d->normal);
    run_linear(d, &d->gate, d->normal, d->gated, NULL);
    run_linear(d, &d->up, d->normal, d->wide, d->gated);
    run_linear(d, &d->down, d->wide, d->x, NULL);
}

/* ---- the same in double ---- */

struct plain {
    double x[WIDTH], keys[MOST_TOKENS][WIDTH], values[MOST_TOKENS][WIDTH];
};

static void plain_linear(const struct linear *l, const double *src, double *dst)
{
    for (neo_dim j = 0; j < l->n; j++) {
        dst[j] = 0;
        for (neo_dim p = 0; p < l->k; p++)
            dst[j] += src[p] * weight(l, p, j);
    }
}

static void plain_normalize(const double *x, double *out)
{
    double squares = 0;
    for (int i = 0; i < WIDTH; i++)
        squares += x[i] * x[i] / WIDTH;
    for (int i = 0; i < WIDTH; i++)
        out[i] = x[i] / sqrt(squares + 1e-5);
}

static void plain_attention(const struct plain *p, neo_dim length, const double *query, int head,
                            double *out)
{
    double powers[MOST_TOKENS], sum = 0;
    for (neo_dim t = 0; t < length; t++) {
        double score = 0;
        for (int i = head * HEAD; i < (head + 1) * HEAD; i++)
            score += query[i] * p->keys[t][i];
        sum += powers[t] = exp(score / sqrt((double)HEAD));
    }
    for (int i = head * HEAD; i < (head + 1) * HEAD; i++) {
        out[i] = 0;
        for (neo_dim t = 0; t < length; t++)
            out[i] += powers[t] / sum * p->values[t][i];
    }
}

static void plain_step(struct plain *p, const struct decoder *d)
{
    double normal[WIDTH], query[WIDTH] = {0}, mixed[WIDTH], out[WIDTH] = {0};
    double gate[WIDE] = {0}, wide[WIDE] = {0};
    neo_dim length = d->length;
    plain_normalize(p->x, normal);
    plain_linear(&d->q, normal, query);
    plain_linear(&d->k, normal, p->keys[length - 1]);
    plain_linear(&d->v, normal, p->values[length - 1]);
    for (int head = 0; head < HEADS; head++)
        plain_attention(p, length, query, head, mixed);
    plain_linear(&d->out, mixed, out);
    for (int i = 0; i < WIDTH; i++)
        p->x[i] += out[i];
    plain_normalize(p->x, normal);
    plain_linear(&d->gate, normal, gate);
    plain_linear(&d->up, normal, wide);
    for (int i = 0; i < WIDE; i++)
        wide[i] *= gate[i] / (1 + exp(-gate[i]));
    plain_linear(&d->down, wide, out);
    for (int i = 0; i < WIDTH; i++)
        p->x[i] += out[i];
}

/* ---- the program ---- */

/* bf16 is the upper half of an f32; what is cut off here are zeros. */
static void put(const struct decoder *d, neo_dim i, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (d->type == NEO_F32)
        ((uint32_t *)neo_memory_get_handle(d->x))[i] = bits;
    else
        ((uint16_t *)neo_memory_get_handle(d->x))[i] = (uint16_t)(bits >> 16);
}

static double get(const struct decoder *d, neo_dim i)
{
    uint32_t bits = d->type == NEO_F32
                        ? ((const uint32_t *)neo_memory_get_handle(d->x))[i]
                        : (uint32_t)((const uint16_t *)neo_memory_get_handle(d->x))[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The next token's row, for both: of seven bits, which both types have. */
static void next_token(const struct decoder *d, struct plain *p)
{
    for (int i = 0; i < WIDTH; i++) {
        p->x[i] = nearbyint(random_value() * 64) / 64;
        put(d, i, (float)p->x[i]);
    }
}

static double larger(double a, double b)
{
    return a > b || a != a ? a : b; /* a NaN is the largest */
}

static double difference(const struct decoder *d, const struct plain *p)
{
    double most = 0, size = 0;
    for (int i = 0; i < WIDTH; i++) {
        most = larger(fabs(get(d, i) - p->x[i]), most);
        size = larger(fabs(p->x[i]), size);
    }
    return most / size;
}

static uint64_t requests(const struct decoder *d)
{
    neo_cache_statistics statistics;
    check(neo_engine_get_cache_statistics(d->engine, &statistics), "statistics");
    return statistics.hits + statistics.misses;
}

static void destroy(struct decoder *d)
{
    struct linear *linears[] = {&d->q, &d->k, &d->v, &d->out, &d->gate, &d->up, &d->down};
    neo_primitive *primitives[] = {d->normalize, d->scores, d->softmax, d->mix};
    neo_memory *memories[] = {d->x,    d->normal, d->query,       d->key_row,     d->value_row,
                              d->keys, d->values, d->query_heads, d->mixed_heads, d->mixed_row,
                              d->wide, d->gated,  d->score_rows};
    for (size_t i = 0; i < sizeof linears / sizeof *linears; i++) {
        neo_primitive_destroy(linears[i]->primitive);
        neo_packed_weights_destroy(linears[i]->packed);
        free(linears[i]->values);
        free(linears[i]->scales);
    }
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        neo_primitive_destroy(primitives[i]);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        neo_memory_destroy(memories[i]);
    free(d->key_cache);
    free(d->value_cache);
    neo_shape_predictor_destroy(d->predictor);
    neo_stream_destroy(d->stream);
    neo_engine_destroy(d->engine);
}

/* Returns whether results are within the bound, relative to the largest one. */
static int decode(neo_data_type type, neo_data_type quantised, const char *name, neo_dim tokens,
                  double bound)
{
    struct decoder d;
    struct plain *p = allocate(1, sizeof *p);
    double worst = 0;
    make(&d, type, quantised);
    uint64_t before = requests(&d);
    for (neo_dim t = 0; t < tokens; t++) {
        next_token(&d, p);
        step(&d);
        plain_step(p, &d);
        worst = larger(difference(&d, p), worst);
    }
    uint64_t made = requests(&d) - before;
    printf("%s: %lld tokens, cache of %lld rows, %llu primitives made in steps, off by %.2g\n",
           name, (long long)tokens, (long long)d.capacity, (unsigned long long)made, worst);
    destroy(&d);
    free(p);
    return worst <= bound && made == 0;
}

int main(int argc, char **argv)
{
    long tokens = argc > 1 ? strtol(argv[1], NULL, 10) : 40;
    if (tokens < 1 || tokens > MOST_TOKENS) {
        fprintf(stderr, "decoder: TOKENS is 1 to %d\n", MOST_TOKENS);
        return 1;
    }
    const neo_data_type never = NEO_DATA_TYPE_UNDEF;
    int exact = decode(NEO_F32, never, "weights as floats", tokens, 1e-5);
    int quantised = decode(NEO_F32, NEO_S8, "rows as integers", tokens, 2e-2);
    int halves = decode(NEO_BF16, never, "rows and cache of bf16", tokens, 4e-2);
    return exact && quantised && halves ? 0 : 1;
}
