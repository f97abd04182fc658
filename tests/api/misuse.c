/* Wrong calls get the right status, and leave nothing half-made. */
#include "tests/support/test.h"

#include <string.h>

#include "src/tensor/descriptor.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

#define INVALID(call) assert_int_equal(call, NEO_INVALID_ARGUMENT)
#define UNSUPPORTED(call) assert_int_equal(call, NEO_UNSUPPORTED)

/* ---- descriptors ---- */

static void descriptors_are_checked(void **state)
{
    (void)state;
    neo_memory_desc desc = {.ndims = 77};
    neo_dim dims[] = {2, 3}, negative[] = {2, -3}, huge[] = {INT64_MAX / 2, 9};
    neo_dim strides[] = {3, 1}, negative_strides[] = {3, -1};
    INVALID(neo_memory_desc_init_tag(NULL, 2, dims, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, NULL, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, NULL));
    INVALID(neo_memory_desc_init_tag(&desc, 0, dims, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, NEO_MAX_NDIMS + 1, dims, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "abc"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "aa"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, dims, NEO_F32, "nhwc"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, dims, (neo_data_type)99, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, negative, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_tag(&desc, 2, huge, NEO_F32, "ab"));
    INVALID(neo_memory_desc_init_strides(&desc, 2, dims, NEO_F32, NULL));
    INVALID(neo_memory_desc_init_strides(&desc, 2, dims, NEO_F32, negative_strides));
    assert_int_equal(desc.ndims, 77); /* left alone */
    assert_int_equal(neo_memory_desc_init_strides(&desc, 2, dims, NEO_F32, strides), NEO_OK);
    neo_memory_desc part;
    neo_dim outside[] = {1, 1};
    INVALID(neo_memory_desc_init_submemory(&part, &desc, dims, outside));
    int twice[] = {1, 1};
    INVALID(neo_memory_desc_init_permuted(&part, &desc, twice));
    static const neo_format_kind not_strided[] = {NEO_FORMAT_ANY, NEO_FORMAT_PACKED};
    for (size_t i = 0; i < count_of(not_strided); i++) {
        desc.format_kind = not_strided[i];
        desc.packed = (neo_packed_layout){.id = 1, .version = 1, .panel = 8};
        INVALID(neo_memory_desc_init_permuted(&part, &desc, (int[]){1, 0}));
        INVALID(neo_memory_desc_init_submemory(&part, &desc, dims, (neo_dim[]){0, 0}));
    }
}

static void tags_are_permutations(void **state)
{
    (void)state;
    static const struct {
        const char *name, *letters;
    } rows[] = {{"nchw", "abcd"}, {"nhwc", "acdb"},     {"ndhwc", "acdeb"}, {"hwio", "cdba"},
                {"ohwi", "acdb"}, {"goihw", "abcde"},   {"hwigo", "decab"}, {"gohwi", "abdec"},
                {"nwc", "acb"},   {"goidhw", "abcdef"}, {"wio", "cba"},     {"ba", "ba"}};
    neo_dim dims[] = {2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < count_of(rows); i++) {
        char tag[32];
        int ndims = (int)strlen(rows[i].letters);
        neo_memory_desc desc = tensor_desc(ndims, dims, rows[i].name);
        assert_string_equal(neo_memory_desc_tag(&desc, tag, sizeof tag), rows[i].letters);
        assert_int_equal(desc.strides[rows[i].letters[ndims - 1] - 'a'], 1);
    }
}

static void sizes_are_exact(void **state)
{
    (void)state;
    neo_dim dims[] = {2, 3}, none[] = {2, 0}, strides[] = {10, 2};
    neo_memory_desc desc = tensor_desc(2, dims, "ba");
    assert_int_equal(neo_memory_desc_size(&desc), 24);
    assert_int_equal(neo_memory_desc_init_strides(&desc, 2, dims, NEO_F32, strides), NEO_OK);
    assert_int_equal(neo_memory_desc_size(&desc), 4 * (10 + 4 + 1));
    assert_int_equal(neo_memory_desc_init_strides(&desc, 2, dims, NEO_U4, strides), NEO_OK);
    assert_int_equal(neo_memory_desc_size(&desc), 8);
    desc = tensor_desc(2, none, "ab");
    assert_int_equal(neo_memory_desc_size(&desc), 0);
    desc = tensor_desc(2, dims, "any");
    assert_int_equal(neo_memory_desc_size(&desc), 0);
    assert_int_equal(neo_memory_desc_size(NULL), 0);
}

/* ---- objects ---- */

static void null_pointers_are_refused(void **state)
{
    (void)state;
    neo_dim dims[] = {2, 3};
    neo_memory_desc desc = tensor_desc(2, dims, "ab"), any = tensor_desc(2, dims, "any"),
                    absent = {0};
    neo_memory *memory = (neo_memory *)&desc;
    neo_stream *other = (neo_stream *)&desc;
    neo_primitive *primitive = (neo_primitive *)&desc;
    INVALID(neo_engine_create(NULL));
    INVALID(neo_stream_create(NULL, engine, NULL));
    INVALID(neo_stream_create(&other, NULL, NULL));
    assert_null(other);
    INVALID(neo_stream_create(&other, engine, &(neo_stream_options){.max_threads = -1}));
    INVALID(neo_stream_create(&other, engine,
                              &(neo_stream_options){.threadpool = &(neo_threadpool){0}}));
    INVALID(neo_memory_create(NULL, &desc, engine, NULL));
    INVALID(neo_memory_create(&memory, &desc, NULL, NULL));
    assert_null(memory);
    INVALID(neo_memory_create(&memory, NULL, engine, NULL));
    INVALID(neo_memory_create(&memory, &any, engine, NULL));
    INVALID(neo_memory_create(&memory, &absent, engine, NULL));
    INVALID(neo_memory_set_handle(NULL, NULL));
    INVALID(neo_memory_set_desc(NULL, &desc));
    INVALID(neo_primitive_create(&primitive, NULL));
    assert_null(primitive);
    INVALID(neo_primitive_execute(NULL, stream, 0, NULL));
    INVALID(neo_attributes_create(NULL));
    INVALID(neo_attributes_append_eltwise(NULL, NEO_ELTWISE_RELU, 0, 0));
    neo_engine_destroy(NULL);
    neo_stream_destroy(NULL);
    neo_memory_destroy(NULL);
    neo_attributes_destroy(NULL);
    neo_primitive_desc_destroy(NULL);
    neo_primitive_destroy(NULL);
}

static void attributes_are_checked(void **state)
{
    (void)state;
    neo_attributes *attributes;
    neo_dim dims[] = {2, 3};
    neo_memory_desc src1 = tensor_desc(2, dims, "ab");
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    INVALID(neo_attributes_append_eltwise(attributes, (neo_eltwise)99, 0, 0));
    INVALID(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_CLIP, 2, 1));
    INVALID(neo_attributes_append_binary(attributes, (neo_binary)99, &src1));
    INVALID(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, NULL));
    INVALID(neo_attributes_append_binary(attributes, NEO_BINARY_SELECT, &src1));
    INVALID(neo_attributes_append_select(attributes, NULL, &src1));
    INVALID(neo_attributes_append_select(attributes, &src1, NULL));
    INVALID(neo_attributes_append_prelu(attributes, -1));
    INVALID(neo_attributes_append_sum(attributes, 1, 0, (neo_data_type)99));
    INVALID(neo_attributes_set_scratchpad_mode(attributes, (neo_scratchpad_mode)9));
    INVALID(neo_attributes_set_scales(attributes, NEO_ARG_SRC, -1, 0, NULL, NEO_F32));
    assert_int_equal(neo_attributes_post_op_count(attributes), 0);
    for (int i = 0; i < NEO_MAX_POST_OPS; i++)
        assert_int_equal(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_ABS, 0, 0), NEO_OK);
    INVALID(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_ABS, 0, 0));
    assert_int_equal(neo_attributes_post_op_count(attributes), NEO_MAX_POST_OPS);
    assert_int_equal(neo_attributes_post_op_kind(attributes, NEO_MAX_POST_OPS), NEO_POST_OP_UNDEF);
    neo_attributes_destroy(attributes);
}

/* What a refused argument is told apart by from the one that was expected. */
static void texts_of_descriptors_differ_where_they_do(void **state)
{
    (void)state;
    neo_memory_desc desc = tensor_matrix(3, 5, "ab");
    char text[DESC_TEXT_BYTES];
    assert_string_equal(desc_text(&desc, text, sizeof text), "f32:ab:3x5");
    desc.offset = 7;
    assert_string_equal(desc_text(&desc, text, sizeof text), "f32:ab:3x5 at 7");
    desc.strides[0] = 6;
    assert_string_equal(desc_text(&desc, text, sizeof text), "f32:*:3x5:6x1 at 7");
    desc.strides[1] = NEO_RUNTIME_DIM;
    assert_string_equal(desc_text(&desc, text, sizeof text), "f32:*:3x5:6x* at 7");
    desc.format_kind = NEO_FORMAT_ANY;
    assert_string_equal(desc_text(&desc, text, sizeof text), "f32:any:3x5");
}

/* ---- descriptions ---- */

static neo_status create_matmul(const neo_matmul_desc *desc, const neo_attributes *attributes)
{
    neo_primitive_desc *pd = (neo_primitive_desc *)(uintptr_t)desc;
    neo_status status = neo_matmul_primitive_desc_create(&pd, engine, desc, attributes);
    if (status != NEO_OK)
        assert_null(pd);
    neo_primitive_desc_destroy(pd);
    return status;
}

static void contradicting_matmuls_are_refused(void **state)
{
    (void)state;
    neo_matmul_desc good = {.src = tensor_matrix(4, 5, "ab"),
                            .weights = tensor_matrix(5, 6, "ab"),
                            .dst = tensor_matrix(4, 6, "ab")};
    assert_int_equal(create_matmul(&good, NULL), NEO_OK);
    INVALID(neo_matmul_primitive_desc_create(NULL, engine, &good, NULL));
    neo_matmul_desc bad = good;
    bad.src = tensor_matrix(3, 5, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.weights = tensor_matrix(4, 6, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.dst = tensor_matrix(4, 7, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.src.ndims = -1;
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.src.ndims = 1000;
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.dst.strides[0] = 0; /* rows on top of each other */
    INVALID(create_matmul(&bad, NULL));
    bad.dst.strides[0] = 5; /* and of a part of each other */
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.bias = tensor_matrix(4, 5, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.dst = (neo_memory_desc){0};
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.src.dims[0] = bad.dst.dims[0] = NEO_RUNTIME_DIM;
    bad.src.format_kind = NEO_FORMAT_ANY;
    INVALID(create_matmul(&bad, NULL));
}

/* What nothing multiplies, whatever it is otherwise. */
static void some_combinations_of_types_are_unsupported(void **state)
{
    (void)state;
    static const neo_data_type sides[][3] = {
        {NEO_S8, NEO_F16, NEO_F32},  {NEO_S32, NEO_S8, NEO_S32}, {NEO_S4, NEO_S8, NEO_S32},
        {NEO_F32, NEO_S32, NEO_F32}, {NEO_F32, NEO_F32, NEO_S4}, {NEO_U8, NEO_BF16, NEO_F32}};
    for (size_t i = 0; i < count_of(sides); i++) {
        neo_matmul_desc desc = {.src = tensor_matrix(4, 6, "ab"),
                                .weights = tensor_matrix(6, 6, "ab"),
                                .dst = tensor_matrix(4, 6, "ab")};
        desc.src.data_type = sides[i][0];
        desc.weights.data_type = sides[i][1];
        desc.dst.data_type = sides[i][2];
        UNSUPPORTED(create_matmul(&desc, NULL));
    }
}

static void quantize(int arg, int mask, int group, neo_data_type type, neo_status expected)
{
    neo_matmul_desc desc = {.src = tensor_matrix(4, 6, "ab"),
                            .weights = tensor_matrix(6, 5, "ab"),
                            .dst = tensor_matrix(4, 5, "ab")};
    neo_attributes *attributes;
    const neo_dim groups[] = {group, 1};
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_set_scales(attributes, arg, mask, group ? 2 : 0, groups, type),
                     NEO_OK);
    assert_int_equal(create_matmul(&desc, attributes), expected);
    neo_attributes_destroy(attributes);
}

static void scales_fit_their_tensor(void **state)
{
    (void)state;
    quantize(NEO_ARG_WEIGHTS, 3, 3, NEO_F32, NEO_OK);
    quantize(NEO_ARG_WEIGHTS, 3, 4, NEO_F32, NEO_INVALID_ARGUMENT); /* 6 is no multiple of 4 */
    quantize(NEO_ARG_WEIGHTS, 2, 3, NEO_F32, NEO_INVALID_ARGUMENT); /* not in the mask */
    quantize(NEO_ARG_WEIGHTS, 4, 0, NEO_F32, NEO_INVALID_ARGUMENT); /* no such dimension */
    quantize(NEO_ARG_BIAS, 0, 0, NEO_F32, NEO_INVALID_ARGUMENT);    /* no such tensor */
    quantize(NEO_ARG_DST, 3, 2, NEO_F32, NEO_UNSUPPORTED);
    quantize(NEO_ARG_SRC, 0, 0, NEO_S8, NEO_UNSUPPORTED);
}

static neo_status create_convolution(const neo_convolution_desc *desc)
{
    neo_primitive_desc *pd;
    neo_status status = neo_convolution_primitive_desc_create(&pd, engine, desc, NULL);
    if (status != NEO_OK)
        assert_null(pd);
    neo_primitive_desc_destroy(pd);
    return status;
}

static neo_convolution_desc good_convolution(void)
{
    return (neo_convolution_desc){
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = tensor_desc(4, (neo_dim[]){1, 4, 8, 8}, "nhwc"),
        .weights = tensor_desc(4, (neo_dim[]){6, 4, 3, 3}, "any"),
        .bias = tensor_desc(1, (neo_dim[]){6}, "a"),
        .dst = tensor_desc(4, (neo_dim[]){1, 6, 8, 8}, "nhwc"),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
}

static void contradicting_convolutions_are_refused(void **state)
{
    (void)state;
    neo_convolution_desc bad = good_convolution();
    assert_int_equal(create_convolution(&bad), NEO_OK);
    bad.prop_kind = NEO_PROP_UNDEF;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.strides[1] = 0;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.dilations[0] = -1;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.padding_left[0] = -1;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.padding_right[0] = 2;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.padding_left[0] = INT64_MAX;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.bias.dims[0] = 5;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.src.dims[1] = 5;
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.weights = tensor_desc(5, (neo_dim[]){3, 2, 1, 3, 3}, "any");
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.weights = tensor_desc(5, (neo_dim[]){0, 2, 1, 3, 3}, "any");
    INVALID(create_convolution(&bad));
    bad = good_convolution();
    bad.src.dims[1] = NEO_RUNTIME_DIM;
    UNSUPPORTED(create_convolution(&bad));
}

/* Of descriptions that have one. */
static void propagation_kinds_have_to_be_said(void **state)
{
    (void)state;
    neo_memory_desc image = tensor_desc(4, (neo_dim[]){1, 4, 3, 3}, "nhwc");
    neo_memory_desc row = tensor_desc(2, (neo_dim[]){1, 4}, "ab");
    neo_pooling_desc pooling = {.algorithm = NEO_POOLING_MAX,
                                .src = image,
                                .dst = image,
                                .kernel = {1, 1},
                                .strides = {1, 1}};
    neo_deconvolution_desc deconvolution = {
        .src = image,
        .weights = tensor_desc(4, (neo_dim[]){4, 4, 1, 1}, "any"),
        .dst = image,
        .strides = {1, 1},
    };
    neo_inner_product_desc product = {
        .src = row, .weights = tensor_desc(2, (neo_dim[]){4, 4}, "any"), .dst = row};
    neo_primitive_desc *pd;
    for (int said = 0; said < 2; said++) {
        neo_prop_kind kind = said ? NEO_FORWARD_INFERENCE : NEO_PROP_UNDEF;
        neo_status status = said ? NEO_OK : NEO_INVALID_ARGUMENT;
        pooling.prop_kind = deconvolution.prop_kind = product.prop_kind = kind;
        assert_int_equal(neo_pooling_primitive_desc_create(&pd, engine, &pooling, NULL), status);
        neo_primitive_desc_destroy(pd);
        assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &deconvolution, NULL),
                         status);
        neo_primitive_desc_destroy(pd);
        assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &product, NULL),
                         status);
        neo_primitive_desc_destroy(pd);
    }
}

/* ---- what a descriptor says about itself ---- */

static neo_memory_desc packed_matrix(neo_dim k, neo_dim n)
{
    neo_matmul_desc desc = {.src = tensor_matrix(4, k, "ab"),
                            .weights = tensor_matrix(k, n, "any"),
                            .dst = tensor_matrix(4, n, "ab")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    neo_primitive_desc_destroy(pd);
    assert_int_equal(packed.format_kind, NEO_FORMAT_PACKED);
    return packed;
}

/* Only the library knows where in a packed matrix an element is. */
static void packed_tensors_have_no_parts(void **state)
{
    (void)state;
    neo_memory_desc packed = packed_matrix(5, 6), out;
    INVALID(neo_memory_desc_init_permuted(&out, &packed, (int[]){0, 1}));
    INVALID(neo_memory_desc_init_permuted(&out, &packed, (int[]){1, 0}));
    INVALID(neo_memory_desc_init_submemory(&out, &packed, packed.dims, (neo_dim[]){0, 0}));
}

static void reasons_and_names_can_be_asked(void **state)
{
    (void)state;
    neo_matmul_desc desc = {.src = tensor_matrix(4, 5, "ab"),
                            .weights = tensor_matrix(5, 6, "any"),
                            .dst = tensor_matrix(4, 6, "ab")};
    neo_primitive_desc *pd;
    const char *algorithm = NULL, *reason = NULL;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    const neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    assert_int_equal(packed.format_kind, NEO_FORMAT_PACKED);
    assert_null(neo_primitive_desc_query(pd, NEO_ARG_BIAS));
    assert_true(neo_primitive_desc_estimate(pd) > 0);
    assert_true(strlen(neo_primitive_desc_kernel(pd)) > 0);
    neo_primitive_desc_destroy(pd);
    desc.weights = packed;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    int declined = 0;
    do
        assert_int_equal(neo_primitive_desc_declined(pd, declined++, &algorithm, &reason), NEO_OK);
    while (strcmp(algorithm, "reference") != 0);
    assert_string_equal(reason, "the weights are packed");
    assert_int_equal(neo_primitive_desc_declined(pd, 99, &algorithm, &reason), NEO_NOT_FOUND);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_checked),
        cmocka_unit_test(tags_are_permutations),
        cmocka_unit_test(sizes_are_exact),
        cmocka_unit_test(null_pointers_are_refused),
        cmocka_unit_test(attributes_are_checked),
        cmocka_unit_test(texts_of_descriptors_differ_where_they_do),
        cmocka_unit_test(contradicting_matmuls_are_refused),
        cmocka_unit_test(some_combinations_of_types_are_unsupported),
        cmocka_unit_test(scales_fit_their_tensor),
        cmocka_unit_test(contradicting_convolutions_are_refused),
        cmocka_unit_test(propagation_kinds_have_to_be_said),
        cmocka_unit_test(packed_tensors_have_no_parts),
        cmocka_unit_test(reasons_and_names_can_be_asked),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_misuse", tests, session_setup, session_teardown);
}
