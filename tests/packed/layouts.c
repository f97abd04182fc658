/* Packed weights compared with plain ones, unpacked, and copied; given ones. */
#include "tests/support/test.h"

#include <string.h>

#include "neoprene/packed_weights.h"
#include "src/packed/source_key.h"
#include "src/tensor/block_layout.h"
#include "tests/support/cases/layout_case.h"
#include "tests/support/session.h"

/* ---- packed and plain, compared ---- */

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
    {LAYOUT_DEPTHWISE_TYPED + 1, true, "goihw", 5, {21, 1, 1, 3, 3}},
};

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
        neo_memory_desc plain_desc = tensor_desc(c->ndims, c->dims, c->tag),
                        desc = layout_case_desc(c);
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
    assert_string_equal(neo_primitive_desc_kernel(pd), "memmove");
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
        {LAYOUT_DEPTHWISE_TYPED + 1, true, "goihw", 5, {21, 1, 1, 3, 3}},
        {LAYOUT_MATMUL_F32, false, "abcde", 5, {1, 12, 9, 3, 3}},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_memory_desc plain_desc = tensor_desc(5, cases[i].dims, cases[i].tag);
        neo_memory_desc desc = layout_case_desc(&cases[i]);
        struct tensor plain = tensor_make(engine, &plain_desc, 12);
        struct tensor packed = tensor_reordered(engine, stream, &plain, &desc);
        for (size_t k = 0; k < count_of(cases); k++) {
            neo_memory_desc to = layout_case_desc(&cases[k]);
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
    neo_memory_desc desc = layout_case_desc(&layout_cases[0]), same = tensor_matrix(9, 31, "ab");
    neo_memory_desc other = tensor_matrix(9, 30, "ab");
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

/* ---- given ---- */

/* Packed ones too, of which a product would rather have plain ones. */
static void given_weights_stay_as_they_are(void **state)
{
    (void)state;
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_DIRECT,
        .src = tensor_desc(4, (neo_dim[]){1, 19, 5, 5}, "nchw"),
        .weights = tensor_desc(4, (neo_dim[]){3, 19, 1, 1}, "any"),
        .dst = tensor_desc(4, (neo_dim[]){1, 3, 5, 5}, "nchw"),
        .strides = {1, 1},
    };
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    while (strcmp(neo_primitive_desc_algorithm(pd), "gemm") != 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    const neo_memory_desc given[] = {*neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS),
                                     tensor_desc(4, desc.weights.dims, "oihw"),
                                     tensor_desc(4, desc.weights.dims, "hwio")};
    neo_primitive_desc_destroy(pd);
    assert_int_equal(given[0].format_kind, NEO_FORMAT_PACKED);
    for (size_t i = 0; i < count_of(given); i++) {
        desc.weights = given[i];
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        do
            assert_true(
                neo_memory_desc_equal(neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), &given[i]));
        while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
    }
}

/* ---- identities that files have ---- */

/* What follows from a layout's id is in users' files: it never changes, whatever layouts come. */
static void keys_of_files_stay(void **state)
{
    static const struct {
        uint32_t id, words[14];
    } want[] = {
        {LAYOUT_MATMUL_F32, {1, 3, 12, 0, NEO_F32, 2, 5, 0, 7, 0, 1, 0}},
        {LAYOUT_MATMUL_TYPED + GEMM_S8_DOT, {65, 3, 12, 0, NEO_S8, 2, 5, 0, 7, 0, 1, 0}},
        {LAYOUT_MATMUL_TYPED + GEMM_BF16_MMLA, {69, 3, 12, 0, NEO_BF16, 2, 5, 0, 7, 0, 1, 0}},
        {LAYOUT_MATMUL_TYPED + GEMM_F16, {70, 4, 24, 0, NEO_F16, 2, 5, 0, 7, 0, 1, 0}},
    };
    (void)state;
    for (size_t i = 0; i < count_of(want); i++) {
        neo_memory_desc plain, packed;
        neo_weights_key key;
        assert_int_equal(neo_memory_desc_init_tag(&plain, 2, (neo_dim[]){5, 7},
                                                  (neo_data_type)want[i].words[4], "ab"),
                         NEO_OK);
        packed = plain;
        layout_set(&packed, (enum layout_id)want[i].id, false);
        assert_null(layout_wrong(&packed));
        assert_true(source_key(&key, &plain, &packed));
        assert_int_equal(key.layout_words, 12);
        assert_memory_equal(key.layout, want[i].words, 12 * sizeof *key.layout);
    }
}

/* Blocks of s4 and of s8: the bytes that an importer wrote are where a later one looks. */
static void layouts_of_blocks_stay(void **state)
{
    const struct gemm_blocks blocks[] = {{ELEMENT_S4, ELEMENT_F32, 32, 0},
                                         {ELEMENT_S4, ELEMENT_F16, 128, 0},
                                         {ELEMENT_S8, ELEMENT_F16, 32, 1}};
    static const uint16_t ids[] = {130, 152, 178};
    static const size_t bytes[] = {2 * 3 * (256 + 64), 2 * (1024 + 32), 2 * 3 * (512 + 32 + 64)};
    (void)state;
    for (size_t i = 0; i < count_of(blocks); i++) {
        struct gemm_blocks again;
        neo_memory_desc desc = {.ndims = 2,
                                .data_type = blocks[i].weight == ELEMENT_S4 ? NEO_S4 : NEO_S8,
                                .dims = {70, 17}};
        block_layout_set(&desc, &blocks[i]);
        assert_int_equal(desc.packed.id, ids[i]);
        assert_int_equal(desc.packed.version, 1);
        assert_null(layout_wrong(&desc));
        assert_int_equal(neo_memory_desc_size(&desc), round_up(bytes[i], 64));
        assert_true(block_layout_read(&again, &desc));
        assert_int_equal(again.block, blocks[i].block);
        assert_int_equal(again.scale, blocks[i].scale);
        assert_int_equal(again.has_offsets, blocks[i].has_offsets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packed_weights_are_compared_with_plain_ones, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(packed_weights_are_copied_into_their_own_layout_only,
                                        session_setup, session_teardown),
        cmocka_unit_test_setup_teardown(only_comparable_weights_are_compared, session_setup,
                                        session_teardown),
        cmocka_unit_test_setup_teardown(given_weights_stay_as_they_are, session_setup,
                                        session_teardown),
        cmocka_unit_test(keys_of_files_stay),
        cmocka_unit_test(layouts_of_blocks_stay),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("packed_layouts", tests, NULL, NULL);
}
