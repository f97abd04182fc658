/* Arguments in one another's memory: refused where one is written, unless each element is read
 * before it is written. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/tensor/overlap.h"
#include "tests/support/capture.h"
#include "tests/support/random.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* ---- common bytes ---- */

enum { ROOM_BITS = 8 * 4096 };

static void mark(const neo_memory_desc *desc, size_t at_bytes, unsigned char *bits, int bit)
{
    neo_dim position[NEO_MAX_NDIMS] = {0};
    size_t width = neo_data_type_bits(desc->data_type);
    for (size_t left = neo_memory_desc_elements(desc); left; left--) {
        neo_dim offset = desc->offset;
        for (int i = 0; i < desc->ndims; i++)
            offset += position[i] * desc->strides[i];
        for (size_t i = 0; i < width; i++)
            bits[at_bytes * 8 + (size_t)offset * width + i] |= (unsigned char)bit;
        for (int i = desc->ndims - 1; i >= 0 && ++position[i] == desc->dims[i]; i--)
            position[i] = 0;
    }
}

static bool have_common_bits(const neo_memory_desc *a, size_t a_at, const neo_memory_desc *b,
                             size_t b_at)
{
    static unsigned char bits[ROOM_BITS];
    memset(bits, 0, sizeof bits);
    mark(a, a_at, bits, 1);
    mark(b, b_at, bits, 2);
    return memchr(bits, 3, sizeof bits) != NULL;
}

static neo_memory_desc random_desc(uint64_t *r)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_S8, NEO_U4};
    neo_memory_desc desc = {.ndims = 1 + (int)random_below(r, 3),
                            .data_type = RANDOM_OF(types, r),
                            .format_kind = NEO_FORMAT_STRIDED,
                            .offset = (neo_dim)random_below(r, 4)};
    for (int i = 0; i < desc.ndims; i++) {
        desc.dims[i] = random_below(r, 20) ? 1 + (neo_dim)random_below(r, 5) : 0;
        desc.strides[i] = (neo_dim)random_below(r, 40);
    }
    return desc;
}

static void common_bytes_are_found_exactly(void **state)
{
    (void)state;
    static unsigned char room[8];
    uint64_t r = 7;
    size_t common = 0;
    for (int round = 0; round < 3000; round++) {
        neo_memory_desc a = random_desc(&r), b = random_desc(&r);
        size_t a_at = random_below(&r, 60), b_at = random_below(&r, 60);
        bool expected = have_common_bits(&a, a_at, &b, b_at);
        common += expected;
        if (desc_share_bytes(&a, room + a_at, &b, room + b_at) != expected)
            fail_msg("round %d: %s", round, expected ? "not found" : "there are none");
    }
    assert_in_range(common, 300, 2700);
}

/* ---- executions ---- */

enum { BUFFER_BYTES = 1 << 20, MOST_ARGUMENTS = 6, APART = 4096 };

static _Alignas(128) unsigned char buffer[BUFFER_BYTES];

/* Arguments with so many bytes before them in the buffer, up to NEO_ARG_UNDEF. */
struct placed {
    int arg;
    size_t at;
};

struct placement {
    const char *what;
    bool is_fine;
    struct placed arguments[MOST_ARGUMENTS];
};

static void fill_buffer(void)
{
    float *values = (float *)(void *)buffer;
    for (size_t i = 0; i < BUFFER_BYTES / sizeof *values; i++)
        values[i] = (float)(i % 5);
}

static neo_status execute_placed(const neo_primitive *primitive, const struct placed *arguments)
{
    const neo_primitive_desc *pd = neo_primitive_get_desc(primitive);
    neo_exec_arg args[MOST_ARGUMENTS];
    int count = 0;
    for (; count < MOST_ARGUMENTS && arguments[count].arg; count++) {
        args[count].arg = arguments[count].arg;
        assert_int_equal(neo_memory_create(&args[count].memory,
                                           neo_primitive_desc_query(pd, arguments[count].arg),
                                           engine, buffer + arguments[count].at),
                         NEO_OK);
    }
    neo_status status = neo_primitive_execute(primitive, stream, count, args);
    while (count)
        neo_memory_destroy(args[--count].memory);
    return status;
}

/* A refusal has a sentence, and nothing is written. */
static void check_placement(const neo_primitive *primitive, const struct placement *placement,
                            bool is_logged)
{
    static unsigned char before[BUFFER_BYTES];
    fill_buffer();
    memcpy(before, buffer, BUFFER_BYTES);
    neo_set_verbose(is_logged);
    capture_begin();
    neo_status status = execute_placed(primitive, placement->arguments);
    char *log = capture_end();
    bool is_told = strstr(log, "is written and shares memory with") != NULL;
    free(log);
    if (status != (placement->is_fine ? NEO_OK : NEO_INVALID_ARGUMENT))
        fail_msg("%s: %s", placement->what, neo_status_text(status));
    assert_true(is_told == (is_logged && !placement->is_fine));
    if (!placement->is_fine)
        assert_memory_equal(before, buffer, BUFFER_BYTES);
}

static void check_placements(neo_primitive_desc *pd, const struct placement *placements,
                             size_t count)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    for (size_t i = 0; i < count; i++) {
        check_placement(primitive, &placements[i], true);
        check_placement(primitive, &placements[i], false); /* another way, where it is short */
    }
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

#define SRC_AT(at)      \
    {                   \
        NEO_ARG_SRC, at \
    }
#define WEIGHTS_AT(at)      \
    {                       \
        NEO_ARG_WEIGHTS, at \
    }
#define DST_AT(at)      \
    {                   \
        NEO_ARG_DST, at \
    }

/* Products of 4 by 4; what has no post-operations is executed without a closer look. */
static neo_primitive_desc *small_product(neo_dim lda, bool has_bias, neo_attributes *attributes)
{
    neo_matmul_desc desc = {.weights = tensor_matrix(4, 4, "ab")};
    neo_primitive_desc *pd;
    neo_memory_desc_init_strides(&desc.src, 2, (neo_dim[]){4, 4}, NEO_F32, (neo_dim[]){lda, 1});
    desc.dst = desc.src;
    if (has_bias)
        desc.bias = tensor_matrix(1, 4, "ab");
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    return pd;
}

static void products_keep_apart(void **state)
{
    (void)state;
    static const struct placement dense[] = {
        {"in place", false, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(0)}},
        {"one element before", false, {SRC_AT(60), WEIGHTS_AT(APART), DST_AT(0)}},
        {"one element behind", false, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(60)}},
        {"weights in dst", false, {SRC_AT(APART), WEIGHTS_AT(60), DST_AT(0)}},
        {"any order", false, {DST_AT(0), WEIGHTS_AT(60), SRC_AT(APART)}},
        {"side by side", true, {SRC_AT(64), WEIGHTS_AT(128), DST_AT(0)}},
        {"behind both", true, {SRC_AT(0), WEIGHTS_AT(0), DST_AT(64)}},
    };
    static const struct placement columns[] = {
        {"other columns", true, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(16)}},
        {"columns before", true, {SRC_AT(16), WEIGHTS_AT(APART), DST_AT(0)}},
        {"one column of both", false, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(12)}},
        {"the last row", false, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(96)}},
    };
    static const struct placement bias[] = {
        {"bias in dst", false, {SRC_AT(256), WEIGHTS_AT(APART), {NEO_ARG_BIAS, 48}, DST_AT(0)}},
        {"bias behind", true, {SRC_AT(256), WEIGHTS_AT(APART), {NEO_ARG_BIAS, 64}, DST_AT(0)}},
    };
    check_placements(small_product(4, false, NULL), dense, count_of(dense));
    check_placements(small_product(8, false, NULL), columns, count_of(columns));
    check_placements(small_product(4, true, NULL), bias, count_of(bias));
}

static neo_memory_desc square_of_bytes(void)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 2, (neo_dim[]){4, 4}, NEO_S8, "ab"), NEO_OK);
    return desc;
}

/* Of tensors whose elements are bytes a single one may be common. */
static void one_byte_is_too_much(void **state)
{
    (void)state;
    static const struct placement placements[] = {
        {"dst's last byte", false, {SRC_AT(15), WEIGHTS_AT(APART), DST_AT(0)}},
        {"src's last byte", false, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(15)}},
        {"dst's last byte, of weights", false, {SRC_AT(APART), WEIGHTS_AT(15), DST_AT(0)}},
        {"weights' last byte", false, {SRC_AT(APART), WEIGHTS_AT(0), DST_AT(15)}},
        {"behind dst", true, {SRC_AT(16), WEIGHTS_AT(32), DST_AT(0)}},
        {"before dst", true, {SRC_AT(0), WEIGHTS_AT(16), DST_AT(32)}},
    };
    /* Without a scratchpad, and so without a closer look. */
    static const struct placement copies[] = {
        {"dst's last byte", false, {SRC_AT(15), DST_AT(0)}},
        {"src's last byte", false, {SRC_AT(0), DST_AT(15)}},
        {"behind dst", true, {SRC_AT(16), DST_AT(0)}},
        {"before dst", true, {SRC_AT(0), DST_AT(16)}},
    };
    neo_memory_desc square = square_of_bytes();
    neo_matmul_desc desc = {.src = square, .weights = square, .dst = square};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    check_placements(pd, placements, count_of(placements));
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &square, &square, NULL),
                     NEO_OK);
    check_placements(pd, copies, count_of(copies));
}

static void only_an_operand_as_dst_may_be_in_its_buffer(void **state)
{
    (void)state;
    enum { OPERAND = NEO_ARG_ATTR_MULTIPLE_POST_OP(0) | NEO_ARG_SRC_1 };
    static const struct placement placements[] = {
        {"as dst", true, {SRC_AT(256), WEIGHTS_AT(APART), {OPERAND, 0}, DST_AT(0)}},
        {"shifted", false, {SRC_AT(256), WEIGHTS_AT(APART), {OPERAND, 16}, DST_AT(0)}},
        {"src in dst", false, {SRC_AT(0), WEIGHTS_AT(APART), {OPERAND, 256}, DST_AT(0)}},
    };
    neo_attributes *attributes;
    neo_memory_desc operand = tensor_matrix(4, 4, "ab");
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, &operand), NEO_OK);
    check_placements(small_product(4, false, attributes), placements, count_of(placements));
    neo_attributes_destroy(attributes);
}

static void elementwise_work_may_be_in_place(void **state)
{
    (void)state;
    static const struct placement placements[] = {
        {"in place", true, {SRC_AT(0), DST_AT(0)}},
        {"shifted", false, {SRC_AT(16), DST_AT(0)}},
        {"shifted back", false, {SRC_AT(0), DST_AT(16)}},
        {"apart", true, {SRC_AT(APART), DST_AT(0)}},
    };
    static const struct placement two[] = {
        {"first", true, {SRC_AT(0), {NEO_ARG_SRC_1, APART}, DST_AT(0)}},
        {"second", true, {SRC_AT(APART), {NEO_ARG_SRC_1, 0}, DST_AT(0)}},
        {"shifted", false, {SRC_AT(0), {NEO_ARG_SRC_1, 16}, DST_AT(0)}},
    };
    static const struct placement slopes[] = {
        {"in place", true, {SRC_AT(0), WEIGHTS_AT(APART), DST_AT(0)}},
        {"weights too", false, {SRC_AT(0), WEIGHTS_AT(0), DST_AT(0)}},
    };
    neo_memory_desc rows = tensor_matrix(6, 8, "ab"), columns = tensor_matrix(6, 8, "ba");
    neo_primitive_desc *pd;
    neo_prop_kind kind = NEO_FORWARD_INFERENCE;
    assert_int_equal(neo_eltwise_primitive_desc_create(&pd, engine, kind, NEO_ELTWISE_RELU, &rows,
                                                       &rows, 0, 0, NULL),
                     NEO_OK);
    check_placements(pd, placements, count_of(placements));
    assert_int_equal(neo_softmax_primitive_desc_create(&pd, engine, kind, NEO_SOFTMAX_ACCURATE,
                                                       &rows, &rows, 1, NULL),
                     NEO_OK);
    check_placements(pd, placements, count_of(placements));
    assert_int_equal(neo_binary_primitive_desc_create(&pd, engine, NEO_BINARY_ADD, &rows, &rows,
                                                      NULL, &rows, NULL),
                     NEO_OK);
    check_placements(pd, two, count_of(two));
    assert_int_equal(neo_prelu_primitive_desc_create(&pd, engine, kind, &rows, &rows, &rows, NULL),
                     NEO_OK);
    check_placements(pd, slopes, count_of(slopes));
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &rows, &rows, NULL), NEO_OK);
    check_placements(pd, placements, count_of(placements));
    static const struct placement turned = {"another order", false, {SRC_AT(0), DST_AT(0)}};
    assert_int_equal(neo_eltwise_primitive_desc_create(&pd, engine, kind, NEO_ELTWISE_RELU, &rows,
                                                       &columns, 0, 0, NULL),
                     NEO_OK);
    check_placements(pd, &turned, 1);
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &rows, &columns, NULL), NEO_OK);
    check_placements(pd, &turned, 1);
}

static void all_that_is_written_keeps_apart(void **state)
{
    (void)state;
    static const struct placement statistics[] = {
        {"apart", true, {SRC_AT(0), {NEO_ARG_MEAN, 1024}, {NEO_ARG_VARIANCE, 2048}, DST_AT(0)}},
        {"in src",
         false,
         {SRC_AT(APART), {NEO_ARG_MEAN, APART}, {NEO_ARG_VARIANCE, 2048}, DST_AT(0)}},
        {"in one",
         false,
         {SRC_AT(APART), {NEO_ARG_MEAN, 1024}, {NEO_ARG_VARIANCE, 1040}, DST_AT(0)}},
    };
    static const struct placement given[] = {
        {"one value",
         true,
         {SRC_AT(0), {NEO_ARG_MEAN, APART}, {NEO_ARG_VARIANCE, APART}, DST_AT(0)}},
        {"in dst", false, {SRC_AT(APART), {NEO_ARG_MEAN, 0}, {NEO_ARG_VARIANCE, 2048}, DST_AT(0)}},
    };
    neo_memory_desc rows = tensor_matrix(6, 8, "ab");
    neo_primitive_desc *pd;
    assert_int_equal(
        neo_layer_normalization_primitive_desc_create(&pd, engine, NEO_FORWARD_TRAINING, &rows,
                                                      &rows, NULL, NEO_F32, 1e-5f, 0, NULL),
        NEO_OK);
    check_placements(pd, statistics, count_of(statistics));
    assert_int_equal(neo_layer_normalization_primitive_desc_create(
                         &pd, engine, NEO_FORWARD_INFERENCE, &rows, &rows, NULL, NEO_F32, 1e-5f,
                         NEO_NORMALIZATION_USE_GLOBAL_STATS, NULL),
                     NEO_OK);
    check_placements(pd, given, count_of(given));
}

static neo_primitive_desc *training_pooling(void)
{
    neo_pooling_desc desc = {.prop_kind = NEO_FORWARD_TRAINING,
                             .algorithm = NEO_POOLING_MAX,
                             .src = tensor_desc(4, (neo_dim[]){1, 4, 8, 8}, "nhwc"),
                             .dst = tensor_desc(4, (neo_dim[]){1, 4, 4, 4}, "nhwc"),
                             .kernel = {2, 2},
                             .strides = {2, 2}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_pooling_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    return pd;
}

static void a_workspace_keeps_apart(void **state)
{
    (void)state;
    static const struct placement placements[] = {
        {"apart", true, {SRC_AT(APART), {NEO_ARG_WORKSPACE, 1024}, DST_AT(0)}},
        {"in src", false, {SRC_AT(APART), {NEO_ARG_WORKSPACE, APART + 64}, DST_AT(0)}},
        {"src in dst", false, {SRC_AT(0), {NEO_ARG_WORKSPACE, APART}, DST_AT(0)}},
    };
    check_placements(training_pooling(), placements, count_of(placements));
}

/* Sizes that are known late, and a scratchpad of the user's. */
static void late_sizes_and_scratchpads_keep_apart(void **state)
{
    (void)state;
    neo_matmul_desc desc = {.src = tensor_matrix(NEO_RUNTIME_DIM, 40, "ab"),
                            .weights = tensor_matrix(40, 40, "ba"),
                            .dst = tensor_matrix(NEO_RUNTIME_DIM, 40, "ab")};
    neo_memory_desc rows = tensor_matrix(50, 40, "ab");
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_set_scratchpad_mode(attributes, NEO_SCRATCHPAD_USER), NEO_OK);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    const neo_dim bytes = BUFFER_BYTES / 2;
    neo_memory_desc scratch;
    neo_memory_desc_init_tag(&scratch, 1, &bytes, NEO_U8, "a");
    static const size_t at[][4] = {{0, 16384, 32768, 65536},
                                   {0, 16384, 16, 65536},
                                   {0, 16384, 32768, 8192},
                                   {70000, 16384, 32768, 65536}};
    for (size_t i = 0; i < count_of(at); i++) {
        neo_exec_arg args[] = {{NEO_ARG_SRC, NULL},
                               {NEO_ARG_WEIGHTS, NULL},
                               {NEO_ARG_DST, NULL},
                               {NEO_ARG_SCRATCHPAD, NULL}};
        const neo_memory_desc *descs[] = {&rows, &desc.weights, &rows, &scratch};
        for (size_t j = 0; j < count_of(args); j++)
            assert_int_equal(
                neo_memory_create(&args[j].memory, descs[j], engine, buffer + at[i][j]), NEO_OK);
        assert_int_equal(neo_primitive_execute(primitive, stream, 4, args),
                         i ? NEO_INVALID_ARGUMENT : NEO_OK);
        for (size_t j = 0; j < count_of(args); j++)
            neo_memory_destroy(args[j].memory);
    }
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_bytes_are_found_exactly),
        cmocka_unit_test(products_keep_apart),
        cmocka_unit_test(one_byte_is_too_much),
        cmocka_unit_test(only_an_operand_as_dst_may_be_in_its_buffer),
        cmocka_unit_test(elementwise_work_may_be_in_place),
        cmocka_unit_test(all_that_is_written_keeps_apart),
        cmocka_unit_test(a_workspace_keeps_apart),
        cmocka_unit_test(late_sizes_and_scratchpads_keep_apart),
    };
    return cmocka_run_group_tests_name("overlap", tests, session_setup, session_teardown);
}
