/* Wrong calls get the right status, and leave nothing half-made. */
#include "tests/support/test.h"

#include <string.h>

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

/* ---- descriptions ---- */

static neo_memory_desc matrix(neo_dim rows, neo_dim columns, const char *tag)
{
    return tensor_desc(2, (neo_dim[]){rows, columns}, tag);
}

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
    neo_matmul_desc good = {
        .src = matrix(4, 5, "ab"), .weights = matrix(5, 6, "ab"), .dst = matrix(4, 6, "ab")};
    assert_int_equal(create_matmul(&good, NULL), NEO_OK);
    INVALID(neo_matmul_primitive_desc_create(NULL, engine, &good, NULL));
    neo_matmul_desc bad = good;
    bad.src = matrix(3, 5, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.weights = matrix(4, 6, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.dst = matrix(4, 7, "ab");
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
    bad = good;
    bad.bias = matrix(4, 5, "ab");
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.dst = (neo_memory_desc){0};
    INVALID(create_matmul(&bad, NULL));
    bad = good;
    bad.src.dims[0] = bad.dst.dims[0] = NEO_RUNTIME_DIM;
    bad.src.format_kind = NEO_FORMAT_ANY;
    INVALID(create_matmul(&bad, NULL));
}

static void other_data_types_are_unsupported(void **state)
{
    (void)state;
    static const neo_data_type types[] = {NEO_F16, NEO_BF16, NEO_S32, NEO_S8,
                                          NEO_U8,  NEO_S4,   NEO_U4};
    for (size_t i = 0; i < count_of(types); i++) {
        neo_matmul_desc desc = {
            .src = matrix(4, 6, "ab"), .weights = matrix(6, 6, "ab"), .dst = matrix(4, 6, "ab")};
        desc.src.data_type = types[i];
        UNSUPPORTED(create_matmul(&desc, NULL));
    }
    neo_matmul_desc desc = {
        .src = matrix(4, 5, "ab"), .weights = matrix(5, 6, "ab"), .dst = matrix(4, 6, "ab")};
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_set_scales(attributes, NEO_ARG_SRC, 0, 0, NULL, NEO_F32),
                     NEO_OK);
    UNSUPPORTED(create_matmul(&desc, attributes));
    neo_attributes_destroy(attributes);
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
    bad.src.dims[0] = bad.dst.dims[0] = NEO_RUNTIME_DIM;
    UNSUPPORTED(create_convolution(&bad));
}

/* ---- execution ---- */

struct ready {
    neo_primitive *primitive;
    struct tensor src, weights, dst;
};

static int make_ready(void **state)
{
    static struct ready ready;
    neo_matmul_desc desc = {
        .src = matrix(4, 5, "ab"), .weights = matrix(5, 6, "ab"), .dst = matrix(4, 6, "ab")};
    neo_primitive_desc *pd;
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    while (neo_primitive_desc_scratchpad_size(pd, 1) == 0)
        assert_int_equal(neo_primitive_desc_next(pd), NEO_OK);
    assert_int_equal(neo_primitive_create(&ready.primitive, pd), NEO_OK);
    neo_attributes_destroy(attributes);
    neo_primitive_desc_destroy(pd);
    ready.src = tensor_make(engine, &desc.src, 1);
    ready.weights = tensor_make(engine, &desc.weights, 2);
    ready.dst = tensor_make(engine, &desc.dst, 3);
    *state = &ready;
    return 0;
}

static int free_ready(void **state)
{
    struct ready *ready = *state;
    neo_primitive_destroy(ready->primitive);
    tensor_free(&ready->src);
    tensor_free(&ready->weights);
    tensor_free(&ready->dst);
    return 0;
}

static struct tensor scratch_tensor(size_t bytes)
{
    neo_dim dims[] = {(neo_dim)bytes};
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 1, dims, NEO_U8, "a"), NEO_OK);
    struct tensor tensor = {.desc = desc};
    assert_int_equal(neo_memory_create(&tensor.memory, &desc, engine, NULL), NEO_OK);
    return tensor;
}

static void wrong_arguments_change_nothing(void **state)
{
    struct ready *r = *state;
    float before[24];
    memcpy(before, r->dst.data, sizeof before);
    static _Alignas(128) unsigned char buffer[8 << 20];
    const neo_primitive_desc *pd = neo_primitive_get_desc(r->primitive);
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, neo_stream_num_threads(stream));
    assert_in_range(bytes, 1, sizeof buffer - 128);
    size_t least = neo_primitive_desc_scratchpad_size(pd, 1);
    struct tensor scratch = scratch_tensor(bytes), small = scratch_tensor(least - 1);
    neo_memory_set_handle(scratch.memory, buffer);
    neo_memory_set_handle(small.memory, buffer);
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    struct tensor foreign = tensor_make(other, &r->src.desc, 1);
    neo_exec_arg good[] = {{NEO_ARG_SRC, r->src.memory},
                           {NEO_ARG_WEIGHTS, r->weights.memory},
                           {NEO_ARG_DST, r->dst.memory},
                           {NEO_ARG_SCRATCHPAD, scratch.memory}};
    const struct {
        int index;
        neo_exec_arg arg;
    } wrong[] = {
        {0, {NEO_ARG_BIAS, r->src.memory}},
        {0, {NEO_ARG_WEIGHTS, r->weights.memory}},
        {0, {NEO_ARG_SRC, NULL}},
        {0, {NEO_ARG_SRC, r->dst.memory}},
        {0, {NEO_ARG_SRC, foreign.memory}},
        {1, {NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1, r->src.memory}},
        {3, {NEO_ARG_SCRATCHPAD, small.memory}},
        {3, {-5, scratch.memory}},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        neo_exec_arg args[4];
        memcpy(args, good, sizeof args);
        args[wrong[i].index] = wrong[i].arg;
        INVALID(neo_primitive_execute(r->primitive, stream, 4, args));
    }
    INVALID(neo_primitive_execute(r->primitive, stream, 3, good));
    neo_exec_arg twice[5] = {[4] = {NEO_ARG_SCRATCHPAD, scratch.memory}};
    memcpy(twice, good, sizeof good);
    INVALID(neo_primitive_execute(r->primitive, stream, 5, twice));
    INVALID(neo_primitive_execute(r->primitive, stream, 4, NULL));
    INVALID(neo_primitive_execute(r->primitive, stream, -1, good));
    INVALID(neo_primitive_execute(r->primitive, NULL, 4, good));
    neo_memory_set_handle(scratch.memory, buffer + 64); /* aligned to 64, not to 128 */
    INVALID(neo_primitive_execute(r->primitive, stream, 4, good));
    assert_memory_equal(before, r->dst.data, sizeof before);
    neo_memory_set_handle(scratch.memory, buffer);
    assert_int_equal(neo_primitive_execute(r->primitive, stream, 4, good), NEO_OK);
    assert_memory_not_equal(before, r->dst.data, sizeof before);
    tensor_free(&foreign);
    neo_engine_destroy(other);
    tensor_free(&scratch);
    tensor_free(&small);
}

enum { ADDEND = NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1 };

/* A product in one thread, which is executed without a closer look if nothing is wrong, and one
 * that another matrix is added to. */
static neo_primitive *make_small(bool adds)
{
    neo_matmul_desc desc = {
        .src = matrix(4, 4, "ab"), .weights = matrix(4, 4, "ab"), .dst = matrix(4, 4, "ab")};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    if (adds)
        assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &desc.dst),
                         NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_attributes_destroy(attributes);
    neo_primitive_desc_destroy(pd);
    return primitive;
}

static void every_argument_is_given_exactly_once(void **state)
{
    (void)state;
    neo_memory_desc desc = matrix(4, 4, "ab");
    struct tensor tensor = tensor_make(engine, &desc, 1), dst = tensor_make(engine, &desc, 0);
    neo_exec_arg args[] = {{NEO_ARG_SRC, tensor.memory},
                           {NEO_ARG_WEIGHTS, tensor.memory},
                           {NEO_ARG_DST, dst.memory},
                           {ADDEND, tensor.memory},
                           {NEO_ARG_UNDEF, tensor.memory}};
    for (int adds = 0; adds < 2; adds++) {
        neo_primitive *primitive = make_small(adds);
        int count = 3 + adds;
        assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
        INVALID(neo_primitive_execute(primitive, stream, count - 1, args));
        for (int twice = 0; twice < count; twice++) {
            neo_exec_arg more[count_of(args)];
            memcpy(more, args, sizeof more);
            more[count] = args[twice];
            INVALID(neo_primitive_execute(primitive, stream, count + 1, more));
        }
        neo_primitive_destroy(primitive);
    }
    tensor_free(&tensor);
    tensor_free(&dst);
}

static void no_argument_may_belong_to_another_engine(void **state)
{
    (void)state;
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    neo_memory_desc desc = matrix(4, 4, "ab");
    struct tensor own = tensor_make(engine, &desc, 1), foreign = tensor_make(other, &desc, 1);
    neo_primitive *primitive = make_small(true), *plain = make_small(false);
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST, ADDEND};
    for (int wrong = 0; wrong <= 4; wrong++) {
        neo_exec_arg args[4];
        for (int i = 0; i < 4; i++)
            args[i] = (neo_exec_arg){names[i], i == wrong ? foreign.memory : own.memory};
        assert_int_equal(neo_primitive_execute(primitive, stream, 4, args),
                         wrong < 4 ? NEO_INVALID_ARGUMENT : NEO_OK);
        assert_int_equal(neo_primitive_execute(plain, stream, 3, args),
                         wrong < 3 ? NEO_INVALID_ARGUMENT : NEO_OK);
    }
    neo_primitive_destroy(primitive);
    neo_primitive_destroy(plain);
    tensor_free(&own);
    tensor_free(&foreign);
    neo_engine_destroy(other);
}

/* A small product with no scratchpad: bias, and sizes of three dimensions, of which src's rows
 * are too far apart for short numbers. */
enum { PLAIN_ARGUMENTS = 4 };
struct plain {
    neo_primitive *primitive;
    struct tensor src, weights, bias, dst;
    neo_exec_arg arguments[PLAIN_ARGUMENTS];
};

static void make_plain(struct plain *plain)
{
    neo_matmul_desc desc = {.bias = tensor_desc(3, (neo_dim[]){1, 1, 6}, "abc"),
                            .dst = tensor_desc(3, (neo_dim[]){2, 4, 6}, "abc")};
    neo_dim src[] = {2, 4, 5}, apart[] = {280000, 70000, 1};
    neo_memory_desc_init_strides(&desc.src, 3, src, NEO_F32, apart);
    desc.weights = tensor_desc(3, (neo_dim[]){2, 5, 6}, "any");
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_desc_scratchpad_size(pd, 1), 0);
    desc.weights = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    assert_int_equal(neo_primitive_create(&plain->primitive, pd), NEO_OK);
    neo_primitive_desc_destroy(pd);
    plain->src = tensor_make(engine, &desc.src, 1);
    plain->weights = tensor_make(engine, &desc.weights, 2);
    plain->bias = tensor_make(engine, &desc.bias, 3);
    plain->dst = tensor_make(engine, &desc.dst, 4);
    neo_exec_arg arguments[] = {{NEO_ARG_SRC, plain->src.memory},
                                {NEO_ARG_WEIGHTS, plain->weights.memory},
                                {NEO_ARG_BIAS, plain->bias.memory},
                                {NEO_ARG_DST, plain->dst.memory}};
    memcpy(plain->arguments, arguments, sizeof arguments);
}

static void free_plain(struct plain *plain)
{
    struct tensor *all[] = {&plain->src, &plain->weights, &plain->bias, &plain->dst};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    neo_primitive_destroy(plain->primitive);
}

static void arguments_come_in_any_order(void **state)
{
    (void)state;
    struct plain plain;
    float first[48];
    make_plain(&plain);
    for (int turn = 0; turn < PLAIN_ARGUMENTS; turn++) {
        neo_exec_arg turned[PLAIN_ARGUMENTS];
        for (int i = 0; i < PLAIN_ARGUMENTS; i++)
            turned[i] = plain.arguments[(i + turn) % PLAIN_ARGUMENTS];
        memset(plain.dst.data, 0xff, sizeof first);
        assert_int_equal(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, turned),
                         NEO_OK);
        if (turn == 0)
            memcpy(first, plain.dst.data, sizeof first);
        assert_memory_equal(first, plain.dst.data, sizeof first);
    }
    free_plain(&plain);
}

/* What is checked at a glance is checked as well. */
static void wrong_arguments_of_a_small_product_change_nothing(void **state)
{
    (void)state;
    struct plain plain;
    make_plain(&plain);
    float before[48];
    memcpy(before, plain.dst.data, sizeof before);
    neo_memory_desc desc;
    neo_engine *other;
    assert_int_equal(neo_engine_create(&other), NEO_OK);
    neo_dim sizes[] = {2, 4, 5}, apart[] = {280000, 70001, 1};
    neo_memory_desc_init_strides(&desc, 3, sizes, NEO_F32, apart);
    struct tensor close = tensor_make(engine, &desc, 1);
    struct tensor foreign = tensor_make(other, &plain.dst.desc, 1);
    neo_memory *empty;
    assert_int_equal(neo_memory_create(&empty, &plain.dst.desc, engine, NULL), NEO_OK);
    const struct {
        int index;
        neo_exec_arg arg;
    } wrong[] = {
        {0, {NEO_ARG_SRC, close.memory}},
        {0, {NEO_ARG_SRC, plain.weights.memory}},
        {0, {NEO_ARG_SRC + 64, plain.src.memory}},
        {0, {NEO_ARG_UNDEF, plain.src.memory}},
        {0, {-63, plain.src.memory}},
        {1, {NEO_ARG_WEIGHTS, plain.src.memory}},
        {1, {NEO_ARG_SRC, plain.src.memory}}, /* twice */
        {2, {NEO_ARG_DST, plain.dst.memory}}, /* twice, and no bias */
        {2, {NEO_ARG_BIAS, NULL}},
        {3, {NEO_ARG_DST, foreign.memory}},
        {3, {NEO_ARG_DST, empty}},
    };
    for (size_t i = 0; i < count_of(wrong); i++) {
        neo_exec_arg args[PLAIN_ARGUMENTS];
        memcpy(args, plain.arguments, sizeof args);
        args[wrong[i].index] = wrong[i].arg;
        INVALID(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, args));
    }
    INVALID(neo_primitive_execute(plain.primitive, stream, 0, plain.arguments));
    INVALID(neo_primitive_execute(plain.primitive, stream, 3, plain.arguments));
    INVALID(neo_primitive_execute(plain.primitive, stream, PLAIN_ARGUMENTS, NULL));
    assert_memory_equal(before, plain.dst.data, sizeof before);
    neo_memory_destroy(empty);
    tensor_free(&close);
    tensor_free(&foreign);
    neo_engine_destroy(other);
    free_plain(&plain);
}

static void run_time_sizes_that_disagree_are_refused(void **state)
{
    (void)state;
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    neo_memory_desc any_size;
    assert_int_equal(neo_memory_desc_init_strides(&any_size, 2, unknown, NEO_F32, unknown), NEO_OK);
    neo_matmul_desc desc = {.src = any_size, .weights = any_size, .dst = any_size};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_memory_desc good_src = matrix(4, 5, "ab"), bad_weights = matrix(6, 7, "ab");
    neo_memory_desc dst_desc = matrix(4, 7, "ab"), good_weights = matrix(5, 7, "ba");
    struct tensor src = tensor_make(engine, &good_src, 1),
                  bad = tensor_make(engine, &bad_weights, 2);
    struct tensor good = tensor_make(engine, &good_weights, 3),
                  dst = tensor_make(engine, &dst_desc, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, bad.memory}, {NEO_ARG_DST, dst.memory}};
    INVALID(neo_primitive_execute(primitive, stream, 3, args));
    args[1].memory = good.memory;
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    struct tensor *all[] = {&src, &bad, &good, &dst};
    for (size_t i = 0; i < count_of(all); i++)
        tensor_free(all[i]);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* ---- what a descriptor says about itself ---- */

static void reasons_and_names_can_be_asked(void **state)
{
    (void)state;
    neo_matmul_desc desc = {
        .src = matrix(4, 5, "ab"), .weights = matrix(5, 6, "any"), .dst = matrix(4, 6, "ab")};
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
        cmocka_unit_test(contradicting_matmuls_are_refused),
        cmocka_unit_test(other_data_types_are_unsupported),
        cmocka_unit_test(contradicting_convolutions_are_refused),
        cmocka_unit_test_setup_teardown(wrong_arguments_change_nothing, make_ready, free_ready),
        cmocka_unit_test(every_argument_is_given_exactly_once),
        cmocka_unit_test(no_argument_may_belong_to_another_engine),
        cmocka_unit_test(arguments_come_in_any_order),
        cmocka_unit_test(wrong_arguments_of_a_small_product_change_nothing),
        cmocka_unit_test(run_time_sizes_that_disagree_are_refused),
        cmocka_unit_test(reasons_and_names_can_be_asked),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_misuse", tests, session_setup, session_teardown);
}
