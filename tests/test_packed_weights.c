/* Packed weights: one call, found by content, shared by everything that wants the same. */
#include "tests/support/test.h"

#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neoprene/packed_weights.h"
#include "src/weights/layout.h"
#include "tests/support/fault.h"
#include "tests/support/session.h"
#include "tests/support/temporary.h"
#include "tests/support/tensor.h"

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    return tensor_desc(2, (neo_dim[]){rows, columns}, tag);
}

/* M × 40 by 40 × 30, the weights as the library likes them. */
static neo_primitive_desc *describe(neo_engine *where, neo_dim m, const neo_attributes *attributes)
{
    neo_matmul_desc desc = {
        .src = matrix(m, 40, "ab"), .weights = matrix(40, 30, "any"), .dst = matrix(m, 30, "ab")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, where, &desc, attributes), NEO_OK);
    return pd;
}

static struct tensor make_weights(neo_engine *where, const char *tag, unsigned seed)
{
    neo_memory_desc desc = matrix(40, 30, tag);
    return tensor_make(where, &desc, seed);
}

static neo_packed_weights *pack(neo_engine *where, neo_stream *in, const neo_primitive_desc *pd,
                                const struct tensor *plain)
{
    neo_packed_weights *weights;
    (void)where;
    assert_int_equal(neo_weights_pack(&weights, pd, in, plain->memory), NEO_OK);
    return weights;
}

static neo_weights_statistics statistics(neo_engine *where)
{
    neo_weights_statistics s;
    assert_int_equal(neo_engine_get_weights_statistics(where, &s), NEO_OK);
    return s;
}

static const void *data_of(const neo_packed_weights *weights)
{
    return neo_memory_get_handle(neo_packed_weights_memory(weights));
}

static void multiply(const neo_primitive_desc *pd, neo_stream *in,
                     const neo_packed_weights *weights, const struct tensor *src,
                     const struct tensor *dst)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src->memory},
                           {NEO_ARG_WEIGHTS, neo_packed_weights_memory(weights)},
                           {NEO_ARG_DST, dst->memory}};
    assert_int_equal(neo_primitive_execute(primitive, in, 3, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

static void equal_weights_are_packed_once_and_shared(void **state)
{
    (void)state;
    neo_attributes *relu;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    neo_primitive_desc *one = describe(engine, 1, NULL), *many = describe(engine, 64, NULL);
    neo_primitive_desc *other = describe(engine, 64, relu);
    struct tensor plain = make_weights(engine, "ab", 1), copy = make_weights(engine, "ab", 1);
    neo_packed_weights *a = pack(engine, stream, one, &plain),
                       *b = pack(engine, stream, many, &copy);
    neo_packed_weights *c = pack(engine, stream, other, &copy);
    assert_ptr_equal(data_of(a), data_of(b));
    assert_ptr_equal(data_of(a), data_of(c));
    assert_int_equal(statistics(engine).inserts, 1);
    assert_int_equal(statistics(engine).hits, 2);
    neo_packed_weights_destroy(neo_packed_weights_retain(a)); /* one reference is left */
    neo_packed_weights *all[] = {a, b, c};
    for (size_t i = 0; i < count_of(all); i++)
        neo_packed_weights_destroy(all[i]);
    tensor_free(&plain);
    tensor_free(&copy);
    neo_primitive_desc_destroy(one);
    neo_primitive_desc_destroy(many);
    neo_primitive_desc_destroy(other);
    neo_attributes_destroy(relu);
}

/* What an operation does besides multiplying is no part of the panels: each gets its own result
 * from one copy. */
static void operations_with_other_attributes_compute_with_one_copy(void **state)
{
    (void)state;
    static const float factor = 3;
    neo_attributes *scaled;
    assert_int_equal(neo_attributes_create(&scaled), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(scaled, NEO_ELTWISE_LINEAR, factor, 1), NEO_OK);
    neo_primitive_desc *pds[] = {describe(engine, 4, NULL), describe(engine, 4, scaled)};
    neo_memory_desc src_desc = matrix(4, 40, "ab"), dst_desc = matrix(4, 30, "ab");
    struct tensor src = tensor_make(engine, &src_desc, 21), dst[2];
    struct tensor plain = make_weights(engine, "ab", 22);
    neo_packed_weights *weights[2];
    for (int i = 0; i < 2; i++) {
        weights[i] = pack(engine, stream, pds[i], &plain);
        dst[i] = tensor_make(engine, &dst_desc, 0);
        multiply(pds[i], stream, weights[i], &src, &dst[i]);
    }
    assert_ptr_equal(data_of(weights[0]), data_of(weights[1]));
    for (size_t i = 0; i < 4 * (size_t)30; i++)
        assert_true(dst[1].data[i] == factor * dst[0].data[i] + 1); /* small integers: exact */
    for (int i = 0; i < 2; i++) {
        neo_packed_weights_destroy(weights[i]);
        neo_primitive_desc_destroy(pds[i]);
        tensor_free(&dst[i]);
    }
    tensor_free(&src);
    tensor_free(&plain);
    neo_attributes_destroy(scaled);
}

static void changed_content_and_other_orders_are_other_weights(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL);
    struct tensor plain = make_weights(engine, "ab", 2), transposed = make_weights(engine, "ba", 2);
    neo_packed_weights *before = pack(engine, stream, pd, &plain);
    float first = *(const float *)data_of(before);
    plain.data[0] += 1; /* the same buffer, other content */
    neo_packed_weights *after = pack(engine, stream, pd, &plain);
    assert_ptr_not_equal(data_of(before), data_of(after));
    assert_true(*(const float *)data_of(after) == first + 1);
    assert_true(*(const float *)data_of(before) == first);
    memcpy(transposed.data, plain.data,
           sizeof(float) * 40 * 30); /* the same bytes, another tensor */
    neo_packed_weights *other = pack(engine, stream, pd, &transposed);
    assert_ptr_not_equal(data_of(other), data_of(after));
    assert_memory_not_equal(data_of(other), data_of(after), sizeof(float) * 40 * 30);
    neo_packed_weights *all[] = {before, after, other};
    for (size_t i = 0; i < count_of(all); i++)
        neo_packed_weights_destroy(all[i]);
    tensor_free(&plain);
    tensor_free(&transposed);
    neo_primitive_desc_destroy(pd);
}

static void the_source_may_be_released(void **state)
{
    (void)state;
    neo_engine *own;
    neo_stream *in;
    neo_memory_usage usage;
    assert_int_equal(neo_engine_create(&own), NEO_OK);
    assert_int_equal(neo_stream_create(&in, own, NULL), NEO_OK);
    neo_primitive_desc *pd = describe(own, 5, NULL);
    neo_memory_desc src_desc = matrix(5, 40, "ab"), dst_desc = matrix(5, 30, "ab");
    struct tensor src = tensor_make(own, &src_desc, 3), dst = tensor_make(own, &dst_desc, 0);
    struct tensor again = tensor_make(own, &dst_desc, 0), plain = make_weights(own, "ab", 4);
    assert_int_equal(neo_engine_get_memory_usage(own, NEO_KIND_ALL, &usage), NEO_OK);
    size_t with_source = usage.current;
    neo_packed_weights *weights = pack(own, in, pd, &plain);
    multiply(pd, in, weights, &src, &dst);
    memset(plain.data, 0xff, sizeof(float) * 40 * 30);
    tensor_free(&plain);
    multiply(pd, in, weights, &src, &again);
    assert_memory_equal(dst.data, again.data, sizeof(float) * 5 * 30);
    size_t packed_bytes = neo_memory_desc_size(neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    assert_int_equal(neo_engine_get_memory_usage(own, NEO_KIND_ALL, &usage), NEO_OK);
    assert_in_range(usage.current, packed_bytes,
                    with_source - sizeof(float) * 40 * 30 + 2 * packed_bytes + (1 << 22));
    neo_primitive_desc_destroy(pd);
    tensor_free(&src);
    tensor_free(&dst);
    tensor_free(&again);
    neo_stream_destroy(in);
    neo_engine_destroy(own); /* the weights keep what they need */
    assert_true(*(const float *)data_of(weights) >= -4);
    neo_packed_weights_destroy(weights);
}

static void convolutions_share_weights_between_image_sizes(void **state)
{
    (void)state;
    neo_packed_weights *weights[2];
    neo_dim dims[] = {8, 6, 3, 3};
    neo_memory_desc plain_desc = tensor_desc(4, dims, "oihw");
    struct tensor plain = tensor_make(engine, &plain_desc, 5);
    for (int i = 0; i < 2; i++) {
        neo_dim size = 7 + 4 * i;
        neo_convolution_desc desc = {
            .prop_kind = NEO_FORWARD_INFERENCE,
            .algorithm = NEO_CONVOLUTION_DIRECT,
            .src = tensor_desc(4, (neo_dim[]){1, 6, size, size}, "nhwc"),
            .weights = tensor_desc(4, dims, "any"),
            .dst = tensor_desc(4, (neo_dim[]){1, 8, size, size}, i ? "nchw" : "nhwc"),
            .strides = {1, 1},
            .padding_left = {1, 1},
            .padding_right = {1, 1},
        };
        neo_primitive_desc *pd;
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        weights[i] = pack(engine, stream, pd, &plain);
        neo_primitive_desc_destroy(pd);
    }
    assert_ptr_equal(data_of(weights[0]), data_of(weights[1]));
    neo_packed_weights_destroy(weights[0]);
    neo_packed_weights_destroy(weights[1]);
    tensor_free(&plain);
}

static void strided_sources_are_told_apart(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL);
    neo_dim dims[] = {40, 30}, gaps[] = {37, 1}, repeated[] = {0, 1};
    neo_memory_desc gap_desc, repeated_desc;
    assert_int_equal(neo_memory_desc_init_strides(&gap_desc, 2, dims, NEO_F32, gaps), NEO_OK);
    assert_int_equal(neo_memory_desc_init_strides(&repeated_desc, 2, dims, NEO_F32, repeated),
                     NEO_OK);
    struct tensor dense = make_weights(engine, "ab", 6), gapped = tensor_make(engine, &gap_desc, 6);
    struct tensor row = tensor_make(engine, &repeated_desc, 6);
    neo_packed_weights *a = pack(engine, stream, pd, &dense),
                       *b = pack(engine, stream, pd, &gapped);
    neo_packed_weights *c = pack(engine, stream, pd, &row), *known;
    assert_ptr_equal(data_of(a), data_of(b)); /* the gaps are no content */
    neo_weights_content any = {.low = 1}; /* elements that overlap have none to be compared with */
    assert_int_equal(neo_weights_pack_known(&known, pd, stream, row.memory, &any), NEO_OK);
    assert_memory_equal(data_of(c), data_of(known), 12 * sizeof(float));
    assert_memory_equal((const float *)data_of(c), (const float *)data_of(c) + 12,
                        12 * sizeof(float));
    neo_packed_weights *all[] = {a, b, c, known};
    for (size_t i = 0; i < count_of(all); i++)
        neo_packed_weights_destroy(all[i]);
    tensor_free(&dense);
    tensor_free(&gapped);
    tensor_free(&row);
    neo_primitive_desc_destroy(pd);
}

static void engines_meet_in_a_file(void **state)
{
    (void)state;
    const char *file = temporary_file("weights");
    for (int round = 0; round < 3; round++) {
        neo_engine *own;
        neo_stream *in;
        neo_weights_provider provider;
        assert_int_equal(neo_weights_file_provider_create(&provider, file, NULL), NEO_OK);
        assert_int_equal(neo_engine_create(&own), NEO_OK);
        assert_int_equal(neo_engine_set_weights_provider(own, &provider), NEO_OK);
        assert_int_equal(neo_stream_create(&in, own, NULL), NEO_OK);
        neo_primitive_desc *pd = describe(own, 3, NULL);
        struct tensor plain = make_weights(own, "ab", 8);
        neo_packed_weights *weights = pack(own, in, pd, &plain);
        neo_weights_statistics s = statistics(own);
        assert_int_equal(s.fallbacks, 0);
        assert_int_equal(s.inserts, round == 0);
        assert_int_equal(s.file_entries, 1);
        neo_packed_weights_destroy(weights);
        neo_primitive_desc_destroy(pd);
        tensor_free(&plain);
        neo_stream_destroy(in);
        neo_engine_destroy(own);
        provider.destroy(provider.context);
    }
}

/* Two sources of the same shape; `nothing` has a buffer that is all zero. */
static void a_known_content_needs_no_source(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL);
    struct tensor plain = make_weights(engine, "ab", 9), nothing = make_weights(engine, "ab", 0);
    neo_weights_content content;
    neo_packed_weights *a, *b, *c, *none;
    memset(nothing.data, 0, sizeof(float) * 40 * 30);
    assert_int_equal(neo_weights_identify(&content, stream, plain.memory), NEO_OK);
    neo_weights_content dense = neo_weights_hash(plain.data, sizeof(float) * 40 * 30);
    assert_memory_equal(&content, &dense, sizeof content);
    assert_int_equal(neo_weights_pack_known(&a, pd, stream, nothing.memory, &content), NEO_CORRUPT);
    assert_null(a); /* it was not there, and these are not the weights */
    neo_weights_content halves[] = {{content.low, content.high + 1},
                                    {content.low + 1, content.high}};
    for (size_t i = 0; i < count_of(halves); i++)
        assert_int_equal(neo_weights_pack_known(&none, pd, stream, plain.memory, &halves[i]),
                         NEO_CORRUPT);
    assert_int_equal(statistics(engine).inserts, 0);
    assert_int_equal(neo_weights_pack_known(&a, pd, stream, plain.memory, &content), NEO_OK);
    assert_int_equal(neo_weights_pack_known(&b, pd, stream, nothing.memory, &content), NEO_OK);
    assert_int_equal(neo_weights_pack(&c, pd, stream, plain.memory), NEO_OK);
    assert_ptr_equal(data_of(a), data_of(b));
    assert_ptr_equal(data_of(a), data_of(c));
    assert_int_equal(neo_weights_pack_known(&none, pd, stream, plain.memory, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_identify(&content, stream, neo_packed_weights_memory(a)),
                     NEO_INVALID_ARGUMENT);
    neo_packed_weights_destroy(a);
    neo_packed_weights_destroy(b);
    neo_packed_weights_destroy(c);
    tensor_free(&plain);
    tensor_free(&nothing);
    neo_primitive_desc_destroy(pd);
}

/* ---- packed and plain, compared ---- */

struct layout_case {
    enum layout_id id;
    bool grouped;
    const char *tag;
    int ndims;
    neo_dim dims[5];
};

static const struct layout_case layout_cases[] = {
    {LAYOUT_MATMUL_F32, false, "ab", 2, {9, 31}},
    {LAYOUT_MATMUL_F32, false, "ba", 2, {70, 26}},
    {LAYOUT_MATMUL_F32, false, "acb", 3, {3, 5, 14}},
    {LAYOUT_CONVOLUTION_F32, false, "oihw", 4, {29, 6, 3, 3}},
    {LAYOUT_CONVOLUTION_F32, false, "hwio", 4, {15, 70, 1, 2}},
    {LAYOUT_CONVOLUTION_F32, true, "goihw", 5, {3, 4, 2, 3, 5}},
    {LAYOUT_DEPTHWISE_F32, true, "goihw", 5, {21, 1, 1, 3, 3}},
    {LAYOUT_WINOGRAD_2_F32, false, "oihw", 4, {13, 5, 3, 3}},
    {LAYOUT_WINOGRAD_4_F32, false, "oihw", 4, {13, 5, 3, 3}},
    {LAYOUT_WINOGRAD_6_F32, false, "oihw", 4, {13, 5, 3, 3}},
    {LAYOUT_WINOGRAD_4_F32, false, "oihw", 4, {13, 5, 3, 1}},
    {LAYOUT_WINOGRAD_6_F32, false, "oiw", 3, {13, 5, 3}},
};

static neo_memory_desc packed_desc(const struct layout_case *c)
{
    neo_memory_desc desc = tensor_desc(c->ndims, c->dims, "any");
    layout_set(&desc, c->id, c->grouped);
    return desc;
}

/* Unpacking must give the plain weights, or say why it cannot. */
static void check_unpacked(const struct layout_case *c, const struct tensor *plain,
                           const struct tensor *packed)
{
    neo_primitive_desc *pd;
    if (layout_winograd_points(c->id)) {
        assert_int_equal(
            neo_reorder_primitive_desc_create(&pd, engine, &packed->desc, &plain->desc, NULL),
            NEO_UNSUPPORTED);
        return;
    }
    struct tensor back = tensor_reordered(engine, stream, packed, &plain->desc);
    assert_memory_equal(back.data, plain->data, neo_memory_desc_size(&plain->desc));
    tensor_free(&back);
}

static void packed_weights_are_compared_with_plain_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(layout_cases); i++) {
        const struct layout_case *c = &layout_cases[i];
        neo_memory_desc plain_desc = tensor_desc(c->ndims, c->dims, c->tag), desc = packed_desc(c);
        struct tensor plain = tensor_make(engine, &plain_desc, 11);
        struct tensor packed = tensor_reordered(engine, stream, &plain, &desc);
        float *bytes = neo_memory_get_handle(packed.memory);
        size_t last = neo_memory_desc_size(&desc) / sizeof(float) - 1, differing = 77;
        assert_int_equal(neo_weights_compare(&differing, stream, packed.memory, plain.memory),
                         NEO_OK);
        assert_int_equal(differing, 0);
        check_unpacked(c, &plain, &packed);
        bytes[0] += 1;
        bytes[last] += 1; /* padding, in most layouts */
        assert_int_equal(neo_weights_compare(&differing, stream, packed.memory, plain.memory),
                         NEO_OK);
        assert_int_equal(differing, last ? 2 : 1);
        tensor_free(&packed);
        tensor_free(&plain);
    }
}

static void check_repacked(const struct tensor *from, const neo_memory_desc *to, bool is_same)
{
    neo_primitive_desc *pd;
    neo_status status = neo_reorder_primitive_desc_create(&pd, engine, &from->desc, to, NULL);
    assert_int_equal(status, is_same ? NEO_OK : NEO_UNSUPPORTED);
    if (!is_same)
        return;
    assert_string_equal(neo_primitive_desc_kernel(pd), "memcpy");
    neo_primitive_desc_destroy(pd);
    struct tensor copy = tensor_reordered(engine, stream, from, to);
    assert_memory_equal(copy.data, from->data, neo_memory_desc_size(to));
    tensor_free(&copy);
}

/* Layouts of weights of one shape, some of them of the same number of bytes. */
static void packed_weights_are_copied_into_their_own_layout_only(void **state)
{
    (void)state;
    static const struct layout_case cases[] = {
        {LAYOUT_CONVOLUTION_F32, true, "goihw", 5, {1, 12, 9, 3, 3}},
        {LAYOUT_WINOGRAD_2_F32, true, "goihw", 5, {1, 12, 9, 3, 3}},
        {LAYOUT_WINOGRAD_4_F32, true, "goihw", 5, {1, 12, 9, 3, 3}},
        {LAYOUT_WINOGRAD_6_F32, true, "goihw", 5, {1, 12, 9, 3, 3}},
        {LAYOUT_CONVOLUTION_F32, true, "goihw", 5, {21, 1, 1, 3, 3}},
        {LAYOUT_DEPTHWISE_F32, true, "goihw", 5, {21, 1, 1, 3, 3}},
        {LAYOUT_MATMUL_F32, false, "abcde", 5, {1, 12, 9, 3, 3}},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_memory_desc plain_desc = tensor_desc(5, cases[i].dims, cases[i].tag);
        neo_memory_desc desc = packed_desc(&cases[i]);
        struct tensor plain = tensor_make(engine, &plain_desc, 12);
        struct tensor packed = tensor_reordered(engine, stream, &plain, &desc);
        for (size_t k = 0; k < count_of(cases); k++) {
            neo_memory_desc to = packed_desc(&cases[k]);
            if (!memcmp(cases[i].dims, cases[k].dims, sizeof cases[k].dims))
                check_repacked(&packed, &to, i == k);
        }
        tensor_free(&packed);
        tensor_free(&plain);
    }
}

static void only_comparable_weights_are_compared(void **state)
{
    (void)state;
    neo_memory_desc desc = packed_desc(&layout_cases[0]), same = matrix(9, 31, "ab");
    neo_memory_desc other = matrix(9, 30, "ab");
    struct tensor plain = tensor_make(engine, &same, 1), small = tensor_make(engine, &other, 1);
    struct tensor packed = tensor_reordered(engine, stream, &plain, &desc);
    size_t differing;
    assert_int_equal(neo_weights_compare(&differing, stream, packed.memory, small.memory),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_compare(&differing, stream, plain.memory, plain.memory),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_compare(&differing, stream, packed.memory, packed.memory),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_compare(NULL, stream, packed.memory, plain.memory),
                     NEO_INVALID_ARGUMENT);
    tensor_free(&packed);
    tensor_free(&plain);
    tensor_free(&small);
}

/* 0 where it says nothing: sanitizers keep what is freed. */
static size_t resident_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
#endif
}

/* What was packed needs its source no more: releasing it gives back its pages. */
static void releasing_the_source_returns_its_pages(void **state)
{
    (void)state;
    enum { SIDE = 2048 };
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    neo_matmul_desc desc = {.src = matrix(1, SIDE, "ab"),
                            .weights = matrix(SIDE, SIDE, "any"),
                            .dst = matrix(1, SIDE, "ab")};
    neo_memory_desc plain_desc = matrix(SIDE, SIDE, "ab");
    neo_primitive_desc *pd;
    neo_memory *plain;
    neo_packed_weights *weights;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_memory_create(&plain, &plain_desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    memset(neo_memory_get_handle(plain), 0, bytes);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, plain), NEO_OK);
    neo_memory_usage with, without;
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &with), NEO_OK);
    size_t before = resident_bytes();
    neo_memory_destroy(plain);
    size_t after = resident_bytes();
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &without), NEO_OK);
    assert_int_equal(with.current - without.current, bytes);
    if (before)
        assert_true(after < before && before - after >= bytes / 100 * 95);
    else
        print_message("resident pages are not known here: only the accounting is tested\n");
    neo_packed_weights_destroy(weights);
    neo_primitive_desc_destroy(pd);
}

/* ---- by accounting ---- */

static size_t current_bytes(void)
{
    neo_memory_usage usage;
    assert_int_equal(neo_engine_get_memory_usage(engine, NEO_KIND_ALL, &usage), NEO_OK);
    return usage.current;
}

/* Eight streams, batches of 1 to 64, weights packed by each for itself: one copy in memory, and a
 * bias that all of them are given is no copy at all. */
static void streams_and_batches_hold_one_copy(void **state)
{
    (void)state;
    enum { STREAMS = 8, BATCHES = 64 };
    static neo_packed_weights *held[STREAMS][BATCHES];
    struct tensor plain = make_weights(engine, "ab", 7);
    neo_stream *streams[STREAMS];
    for (int replicas = 0; replicas < 2; replicas++) {
        assert_int_equal(neo_engine_set_weights_replicas(engine, replicas), NEO_OK);
        size_t before = current_bytes(), first = 0;
        for (int s = 0; s < STREAMS; s++) {
            assert_int_equal(neo_stream_create(&streams[s], engine, NULL), NEO_OK);
            for (int b = 0; b < BATCHES; b++) {
                neo_primitive_desc *pd = describe(engine, b + 1, NULL);
                held[s][b] = pack(engine, streams[s], pd, &plain);
                neo_primitive_desc_destroy(pd);
                if (!first)
                    first = current_bytes() - before;
                if (!replicas)
                    assert_ptr_equal(data_of(held[s][b]), data_of(held[0][0]));
            }
        }
        size_t copies = (current_bytes() - before) / first;
        assert_true(first >= 40 * 30 * sizeof(float));
        assert_true(copies >= 1 && (current_bytes() - before) % first == 0);
        assert_true(copies <= (replicas && numa_available() >= 0
                                   ? (size_t)numa_num_configured_nodes()
                                   : 1)); /* the scheduler may move us from node to node */
        for (int s = 0; s < STREAMS; s++) {
            for (int b = 0; b < BATCHES; b++)
                neo_packed_weights_destroy(held[s][b]);
            neo_stream_destroy(streams[s]);
        }
        /* the provider keeps what it has, replicas go with their last user */
        assert_int_equal(current_bytes(), before + (replicas ? 0 : first));
    }
    tensor_free(&plain);
}

static void a_replica_lies_on_the_node_of_its_caller_and_computes_the_same(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL);
    struct tensor plain = make_weights(engine, "ab", 8);
    neo_memory_desc src_desc = matrix(4, 40, "ab"), dst_desc = matrix(4, 30, "ab");
    struct tensor src = tensor_make(engine, &src_desc, 9), dst[2];
    neo_memory_usage usage;
    for (int replicas = 0; replicas < 2; replicas++) {
        assert_int_equal(neo_engine_set_weights_replicas(engine, replicas), NEO_OK);
        dst[replicas] = tensor_make(engine, &dst_desc, 1);
        neo_packed_weights *weights = pack(engine, stream, pd, &plain);
        multiply(pd, stream, weights, &src, &dst[replicas]);
        neo_engine_get_memory_usage(engine, NEO_KIND_NUMA_BOUND, &usage);
        if (numa_available() >= 0)
            assert_int_equal(usage.current > 0, replicas);
        neo_packed_weights_destroy(weights);
    }
    assert_memory_equal(dst[0].data, dst[1].data, sizeof(float) * 4 * 30);
    assert_int_equal(statistics(engine).inserts, 1); /* the provider was not asked twice */
    tensor_free(&dst[0]);
    tensor_free(&dst[1]);
    tensor_free(&src);
    tensor_free(&plain);
    neo_primitive_desc_destroy(pd);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL), *reorder;
    neo_memory_desc small_desc = matrix(40, 29, "ab");
    struct tensor plain = make_weights(engine, "ab", 1),
                  small = tensor_make(engine, &small_desc, 1);
    neo_packed_weights *weights = (neo_packed_weights *)&plain,
                       *good = pack(engine, stream, pd, &plain);
    assert_int_equal(neo_weights_pack(NULL, pd, stream, plain.memory), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, NULL), NEO_INVALID_ARGUMENT);
    assert_null(weights);
    assert_int_equal(neo_weights_pack(&weights, NULL, stream, plain.memory), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, small.memory), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, neo_packed_weights_memory(good)),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(
        neo_reorder_primitive_desc_create(&reorder, engine, &small_desc, &small_desc, NULL),
        NEO_OK);
    assert_int_equal(neo_weights_pack(&weights, reorder, stream, small.memory),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_weights_provider(engine, &(neo_weights_provider){0}),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_engine_set_weights_provider(NULL, NULL), NEO_INVALID_ARGUMENT);
    neo_packed_weights_destroy(NULL);
    neo_packed_weights_destroy(good);
    neo_primitive_desc_destroy(pd);
    neo_primitive_desc_destroy(reorder);
    tensor_free(&plain);
    tensor_free(&small);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    neo_primitive_desc *pd = describe(engine, 4, NULL);
    struct tensor plain = make_weights(engine, "ab", 77);
    neo_stream *alone;
    assert_int_equal(neo_stream_create(&alone, engine, &(neo_stream_options){.max_threads = 1}),
                     NEO_OK);
    size_t n = 1;
    for (int replicas = 0; replicas < 2; replicas++) {
        neo_engine_set_weights_replicas(engine, replicas);
        n = 1;
        for (bool delivered = true; delivered; n++) {
            neo_packed_weights *weights;
            plain.data[0] = (float)(n + 1000 * (size_t)replicas); /* so that it must be packed */
            fault_arm(n);
            neo_status status = neo_weights_pack(&weights, pd, alone, plain.memory);
            delivered = fault_disarm();
            if (status == NEO_OK)
                assert_true(*(const float *)data_of(weights) == plain.data[0]);
            else
                assert_int_equal(status, NEO_OUT_OF_MEMORY);
            neo_packed_weights_destroy(weights);
        }
        assert_true(n > 3);
    }
    neo_stream_destroy(alone);
    tensor_free(&plain);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_weights_are_packed_once_and_shared, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(operations_with_other_attributes_compute_with_one_copy,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(changed_content_and_other_orders_are_other_weights,
                                        session_setup, session_teardown),
        cmocka_unit_test(the_source_may_be_released),
        cmocka_unit_test_setup_teardown(convolutions_share_weights_between_image_sizes,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(strided_sources_are_told_apart, session_setup,
                                        session_teardown),
        cmocka_unit_test(engines_meet_in_a_file),
        cmocka_unit_test_setup_teardown(a_known_content_needs_no_source, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(packed_weights_are_compared_with_plain_ones, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(packed_weights_are_copied_into_their_own_layout_only,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(only_comparable_weights_are_compared, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(streams_and_batches_hold_one_copy, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(
            a_replica_lies_on_the_node_of_its_caller_and_computes_the_same, session_setup,
            session_teardown),
        cmocka_unit_test_setup_teardown(releasing_the_source_returns_its_pages, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(wrong_calls_are_refused, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(every_failing_allocation_is_survived, session_setup,
                                        session_teardown),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("packed_weights", tests, NULL, NULL);
}
