/* Packed weights: one call, found by content, shared by everything that wants the same. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/packed_weights.h"
#include "tests/support/fault.h"
#include "tests/support/packed/packed.h"
#include "tests/support/session.h"
#include "tests/support/temporary.h"
#include "tests/support/tensor.h"

static void equal_weights_are_packed_once_and_shared(void **state)
{
    (void)state;
    neo_attributes *relu;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    neo_primitive_desc *one = packed_describe(engine, 1, NULL),
                       *many = packed_describe(engine, 64, NULL);
    neo_primitive_desc *other = packed_describe(engine, 64, relu);
    struct tensor plain = packed_source(engine, "ab", 1), copy = packed_source(engine, "ab", 1);
    neo_packed_weights *a = packed_make(stream, one, &plain), *b = packed_make(stream, many, &copy);
    neo_packed_weights *c = packed_make(stream, other, &copy);
    assert_ptr_equal(packed_data(a), packed_data(b));
    assert_ptr_equal(packed_data(a), packed_data(c));
    assert_int_equal(packed_statistics(engine).inserts, 1);
    assert_int_equal(packed_statistics(engine).hits, 2);
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
    neo_primitive_desc *pds[] = {packed_describe(engine, 4, NULL),
                                 packed_describe(engine, 4, scaled)};
    neo_memory_desc src_desc = tensor_matrix(4, 40, "ab"), dst_desc = tensor_matrix(4, 30, "ab");
    struct tensor src = tensor_make(engine, &src_desc, 21), dst[2];
    struct tensor plain = packed_source(engine, "ab", 22);
    neo_packed_weights *weights[2];
    for (int i = 0; i < 2; i++) {
        weights[i] = packed_make(stream, pds[i], &plain);
        dst[i] = tensor_make(engine, &dst_desc, 0);
        packed_multiply(pds[i], stream, weights[i], &src, &dst[i]);
    }
    assert_ptr_equal(packed_data(weights[0]), packed_data(weights[1]));
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
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL);
    struct tensor plain = packed_source(engine, "ab", 2),
                  transposed = packed_source(engine, "ba", 2);
    neo_packed_weights *before = packed_make(stream, pd, &plain);
    float first = *(const float *)packed_data(before);
    plain.data[0] += 1; /* the same buffer, other content */
    neo_packed_weights *after = packed_make(stream, pd, &plain);
    assert_ptr_not_equal(packed_data(before), packed_data(after));
    assert_true(*(const float *)packed_data(after) == first + 1);
    assert_true(*(const float *)packed_data(before) == first);
    memcpy(transposed.data, plain.data,
           sizeof(float) * 40 * 30); /* the same bytes, another tensor */
    neo_packed_weights *other = packed_make(stream, pd, &transposed);
    assert_ptr_not_equal(packed_data(other), packed_data(after));
    assert_memory_not_equal(packed_data(other), packed_data(after), sizeof(float) * 40 * 30);
    neo_packed_weights *all[] = {before, after, other};
    for (size_t i = 0; i < count_of(all); i++)
        neo_packed_weights_destroy(all[i]);
    tensor_free(&plain);
    tensor_free(&transposed);
    neo_primitive_desc_destroy(pd);
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
        weights[i] = packed_make(stream, pd, &plain);
        neo_primitive_desc_destroy(pd);
    }
    assert_ptr_equal(packed_data(weights[0]), packed_data(weights[1]));
    neo_packed_weights_destroy(weights[0]);
    neo_packed_weights_destroy(weights[1]);
    tensor_free(&plain);
}

static void strided_sources_are_told_apart(void **state)
{
    (void)state;
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL);
    neo_dim dims[] = {40, 30}, gaps[] = {37, 1}, repeated[] = {0, 1};
    neo_memory_desc gap_desc, repeated_desc;
    assert_int_equal(neo_memory_desc_init_strides(&gap_desc, 2, dims, NEO_F32, gaps), NEO_OK);
    assert_int_equal(neo_memory_desc_init_strides(&repeated_desc, 2, dims, NEO_F32, repeated),
                     NEO_OK);
    struct tensor dense = packed_source(engine, "ab", 6),
                  gapped = tensor_make(engine, &gap_desc, 6);
    struct tensor row = tensor_make(engine, &repeated_desc, 6);
    neo_packed_weights *a = packed_make(stream, pd, &dense), *b = packed_make(stream, pd, &gapped);
    neo_packed_weights *c = packed_make(stream, pd, &row), *known;
    assert_ptr_equal(packed_data(a), packed_data(b)); /* the gaps are no content */
    neo_weights_content any = {.low = 1}; /* elements that overlap have none to be compared with */
    assert_int_equal(neo_weights_pack_known(&known, pd, stream, row.memory, &any), NEO_OK);
    assert_memory_equal(packed_data(c), packed_data(known), 12 * sizeof(float));
    assert_memory_equal((const float *)packed_data(c), (const float *)packed_data(c) + 12,
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
        neo_primitive_desc *pd = packed_describe(own, 3, NULL);
        struct tensor plain = packed_source(own, "ab", 8);
        neo_packed_weights *weights = packed_make(in, pd, &plain);
        neo_weights_statistics s = packed_statistics(own);
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
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL);
    struct tensor plain = packed_source(engine, "ab", 9), nothing = packed_source(engine, "ab", 0);
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
    assert_int_equal(packed_statistics(engine).inserts, 0);
    assert_int_equal(neo_weights_pack_known(&a, pd, stream, plain.memory, &content), NEO_OK);
    assert_int_equal(neo_weights_pack_known(&b, pd, stream, nothing.memory, &content), NEO_OK);
    assert_int_equal(neo_weights_pack(&c, pd, stream, plain.memory), NEO_OK);
    assert_ptr_equal(packed_data(a), packed_data(b));
    assert_ptr_equal(packed_data(a), packed_data(c));
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

/* Of part of a matrix, whose elements are of any type; guarded, so that nothing else is read. */
static void check_content_of_part(neo_data_type type)
{
    neo_memory_desc whole, part;
    neo_memory *memory;
    neo_weights_content content;
    const neo_dim sizes[] = {8, 4}, rows[] = {4, 4}, from[] = {4, 0};
    assert_int_equal(neo_memory_desc_init_tag(&whole, 2, sizes, type, "ab"), NEO_OK);
    assert_int_equal(neo_memory_desc_init_submemory(&part, &whole, rows, from), NEO_OK);
    struct guard guard;
    size_t bytes = neo_memory_desc_size(&whole);
    guard_init(&guard, bytes);
    unsigned char *data = guard_end(&guard, bytes);
    memset(data, 1, bytes / 2);
    memset(data + bytes / 2, 2, bytes / 2);
    assert_int_equal(neo_memory_create(&memory, &part, engine, data), NEO_OK);
    neo_status status = neo_weights_identify(&content, stream, memory);
    if (neo_data_type_bits(type) < 8) {
        assert_int_equal(status, NEO_UNSUPPORTED);
    } else {
        neo_weights_content dense = neo_weights_hash(data + bytes / 2, bytes / 2);
        assert_int_equal(status, NEO_OK);
        assert_memory_equal(&content, &dense, sizeof content);
    }
    neo_memory_destroy(memory);
    guard_deinit(&guard);
}

static void contents_are_of_elements_of_any_type(void **state)
{
    (void)state;
    for (neo_data_type type = NEO_F32; neo_data_type_bits(type); type++)
        check_content_of_part(type);
}

/* ---- by accounting ---- */

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL), *reorder;
    neo_memory_desc small_desc = tensor_matrix(40, 29, "ab");
    struct tensor plain = packed_source(engine, "ab", 1),
                  small = tensor_make(engine, &small_desc, 1);
    neo_packed_weights *weights = (neo_packed_weights *)&plain,
                       *good = packed_make(stream, pd, &plain);
    assert_int_equal(neo_weights_pack(NULL, pd, stream, plain.memory), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, NULL), NEO_INVALID_ARGUMENT);
    assert_null(weights);
    assert_int_equal(neo_weights_pack(&weights, NULL, stream, plain.memory), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, small.memory), NEO_INVALID_ARGUMENT);
    neo_memory_desc halves = plain.desc;
    neo_memory *typed;
    halves.data_type = NEO_BF16;
    assert_int_equal(neo_memory_create(&typed, &halves, engine, plain.data), NEO_OK);
    assert_int_equal(neo_weights_pack(&weights, pd, stream, typed), NEO_INVALID_ARGUMENT);
    neo_memory_destroy(typed);
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
    neo_primitive_desc *pd = packed_describe(engine, 4, NULL);
    struct tensor plain = packed_source(engine, "ab", 77);
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
                assert_true(*(const float *)packed_data(weights) == plain.data[0]);
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
        cmocka_unit_test_setup_teardown(convolutions_share_weights_between_image_sizes,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(strided_sources_are_told_apart, session_setup,
                                        session_teardown),
        cmocka_unit_test(engines_meet_in_a_file),
        cmocka_unit_test_setup_teardown(a_known_content_needs_no_source, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(contents_are_of_elements_of_any_type, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(wrong_calls_are_refused, session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(every_failing_allocation_is_survived, session_setup,
                                        session_teardown),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("packed_weights", tests, NULL, NULL);
}
