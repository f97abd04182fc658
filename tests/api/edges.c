/* Descriptions at the edges of the contract: operands in dst's buffer, sizes and strides that are
 * known late, tensors of one channel. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/operands.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

static neo_attributes *add_operand(const neo_memory_desc *operand)
{
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_LINEAR, 2, 1), NEO_OK);
    assert_int_equal(neo_attributes_append_binary(attributes, NEO_BINARY_ADD, operand), NEO_OK);
    return attributes;
}

enum { OPERAND = NEO_ARG_ATTR_MULTIPLE_POST_OP(1) | NEO_ARG_SRC_1 };

/* ---- an operand in dst's buffer ---- */

static float first_of(const struct tensor *t, size_t index)
{
    neo_dim position[NEO_MAX_NDIMS] = {0};
    for (int i = t->desc.ndims - 1; i >= 0; i--) {
        position[i] = (neo_dim)(index % (size_t)t->desc.dims[i]);
        index /= (size_t)t->desc.dims[i];
    }
    return *tensor_at(t, position);
}

/* Executes once with the operand in a buffer of its own and once in dst's; the results agree. */
static void execute_twice(const neo_primitive_desc *pd)
{
    const neo_memory_desc *desc = neo_primitive_desc_query(pd, NEO_ARG_DST);
    struct tensor src = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_SRC), 3);
    struct tensor weights = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), 4);
    struct tensor apart = tensor_make(engine, desc, 0), both = tensor_make(engine, desc, 5);
    struct tensor operand = tensor_make(engine, desc, 5);
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, weights.memory},
                           {NEO_ARG_DST, apart.memory},
                           {OPERAND, operand.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    args[2].memory = args[3].memory = both.memory;
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    for (size_t i = 0; i < neo_memory_desc_elements(desc); i++)
        assert_true(first_of(&apart, i) == first_of(&both, i));
    neo_primitive_destroy(primitive);
    tensor_free(&operand), tensor_free(&both), tensor_free(&apart);
    tensor_free(&weights), tensor_free(&src);
}

static void execute_all_twice(neo_primitive_desc *pd)
{
    do
        execute_twice(pd);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void an_operand_of_matmul_may_be_in_dsts_buffer(void **state)
{
    (void)state;
    static const char *const tags[] = {"ab", "ba"};
    for (size_t i = 0; i < count_of(tags); i++) {
        neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){37, 70}, "ab"),
                                .weights = tensor_desc(2, (neo_dim[]){70, 29}, "ab"),
                                .dst = tensor_desc(2, (neo_dim[]){37, 29}, tags[i])};
        neo_attributes *attributes = add_operand(&desc.dst);
        neo_primitive_desc *pd;
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
        execute_all_twice(pd);
        neo_attributes_destroy(attributes);
    }
}

static void an_operand_of_convolution_may_be_in_dsts_buffer(void **state)
{
    (void)state;
    static const struct {
        neo_dim groups, kernel;
        const char *tag;
    } rows[] = {{1, 1, "nhwc"}, {1, 3, "nhwc"}, {1, 3, "nchw"}, {16, 3, "nhwc"}, {16, 3, "nchw"}};
    for (size_t i = 0; i < count_of(rows); i++) {
        neo_dim g = rows[i].groups, k = rows[i].kernel, ic = 16 / g, p = k / 2;
        neo_convolution_desc desc = {
            .prop_kind = NEO_FORWARD_INFERENCE,
            .src = tensor_desc(4, (neo_dim[]){1, 16, 9, 11}, rows[i].tag),
            .weights = g == 1 ? tensor_desc(4, (neo_dim[]){16, ic, k, k}, "oihw")
                              : tensor_desc(5, (neo_dim[]){g, 1, ic, k, k}, "goihw"),
            .dst = tensor_desc(4, (neo_dim[]){1, 16, 9, 11}, rows[i].tag),
            .strides = {1, 1},
            .padding_left = {p, p},
            .padding_right = {p, p}};
        neo_attributes *attributes = add_operand(&desc.dst);
        neo_primitive_desc *pd;
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, attributes),
                         NEO_OK);
        execute_all_twice(pd);
        neo_attributes_destroy(attributes);
    }
}

/* ---- strides and sizes that are known late ---- */

static void strides_of_an_operand_may_be_known_at_execution(void **state)
{
    (void)state;
    neo_dim sizes[] = {3, 5}, late[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    neo_memory_desc described, actual = tensor_desc(2, sizes, "ba");
    assert_int_equal(neo_memory_desc_init_strides(&described, 2, sizes, NEO_F32, late), NEO_OK);
    neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){3, 1}, "ab"),
                            .weights = tensor_desc(2, (neo_dim[]){1, 5}, "ab"),
                            .dst = tensor_desc(2, sizes, "ab")};
    neo_attributes *attributes = add_operand(&described);
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(engine, &desc.src, 1);
    struct tensor weights = tensor_make(engine, &desc.weights, 2);
    struct tensor dst = tensor_make(engine, &desc.dst, 0),
                  operand = tensor_make(engine, &actual, 3);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, weights.memory},
                           {NEO_ARG_DST, dst.memory},
                           {OPERAND, operand.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 4, args), NEO_OK);
    for (neo_dim m = 0; m < 3; m++)
        for (neo_dim n = 0; n < 5; n++) {
            neo_dim at[] = {m, n};
            float want = 2 * src.data[m] * weights.data[n] + 1 + *tensor_at(&operand, at);
            assert_true(*tensor_at(&dst, at) == want);
        }
    tensor_free(&operand), tensor_free(&dst), tensor_free(&weights), tensor_free(&src);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
}

static neo_convolution_desc small_convolution(neo_dim ic, neo_dim oc)
{
    return (neo_convolution_desc){.prop_kind = NEO_FORWARD_INFERENCE,
                                  .src = tensor_desc(4, (neo_dim[]){2, ic, 6, 7}, "nhwc"),
                                  .weights = tensor_desc(4, (neo_dim[]){oc, ic, 1, 1}, "any"),
                                  .dst = tensor_desc(4, (neo_dim[]){2, oc, 6, 7}, "any"),
                                  .strides = {1, 1}};
}

/* ---- layouts and names ---- */

static void an_image_of_one_channel_keeps_its_order(void **state)
{
    (void)state;
    neo_convolution_desc desc = small_convolution(1, 8);
    neo_primitive_desc *pd;
    char tag[64];
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc_tag(neo_primitive_desc_query(pd, NEO_ARG_DST), tag, sizeof tag);
    assert_string_equal(tag, "acdb");
    neo_primitive_desc_destroy(pd);
    desc.src = tensor_desc(4, (neo_dim[]){2, 1, 6, 7}, "nchw");
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc_tag(neo_primitive_desc_query(pd, NEO_ARG_DST), tag, sizeof tag);
    assert_string_equal(tag, "abcd");
    neo_primitive_desc_destroy(pd);
}

/* What counts only in other tensors does not reach the cache, nor what is chosen. */
static void a_layout_that_is_chosen_has_no_offset(void **state)
{
    (void)state;
    neo_convolution_desc desc = small_convolution(1, 8);
    desc.src.format_kind = desc.dst.format_kind = NEO_FORMAT_ANY;
    desc.bias = tensor_desc(1, (neo_dim[]){8}, "any");
    desc.src.offset = desc.weights.offset = desc.bias.offset = desc.dst.offset = (neo_dim)1 << 40;
    const int args[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    do {
        for (size_t i = 0; i < count_of(args); i++)
            assert_int_equal(neo_primitive_desc_query(pd, args[i])->offset, 0);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static neo_primitive_desc *describe_images(neo_dim images, neo_dim kernel)
{
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .src = tensor_desc(4, (neo_dim[]){images, 16, 6, 7}, "nhwc"),
                                 .weights =
                                     tensor_desc(4, (neo_dim[]){8, 16, kernel, kernel}, "any"),
                                 .dst = tensor_desc(4, (neo_dim[]){images, 8, 6, 7}, "nhwc"),
                                 .strides = {1, 1},
                                 .padding_left = {kernel / 2, kernel / 2},
                                 .padding_right = {kernel / 2, kernel / 2}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    return pd;
}

static void empty_convolutions_have_a_kernel_and_cost_less_than_others(void **state)
{
    (void)state;
    for (neo_dim kernel = 1; kernel <= 3; kernel += 2) {
        neo_primitive_desc *whole = describe_images(16, kernel), *pd = describe_images(0, kernel);
        assert_true(neo_primitive_desc_estimate(pd) < neo_primitive_desc_estimate(whole) / 8);
        neo_primitive_desc_destroy(whole);
        do {
            assert_non_null(neo_primitive_desc_kernel(pd));
            assert_true(isfinite(neo_primitive_desc_estimate(pd)));
        } while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
    }
}

/* By each of Winograd's algorithms, of one dimension; what they keep is nothing. */
static void no_images_are_no_tiles(void **state)
{
    (void)state;
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_WINOGRAD,
                                 .src = tensor_desc(3, (neo_dim[]){0, 48, 6}, "abc"),
                                 .weights = tensor_desc(3, (neo_dim[]){12, 48, 3}, "any"),
                                 .dst = tensor_desc(3, (neo_dim[]){0, 12, 8}, "abc"),
                                 .strides = {1},
                                 .padding_left = {3},
                                 .padding_right = {1}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    do
        assert_true(isfinite(neo_primitive_desc_estimate(pd)));
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* Every implementation gives sums of nothing, with memory as the library allocates it: tensors
 * without elements have no buffer. */
static void all_give_zeros(neo_primitive_desc *pd)
{
    static const int names[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};
    do {
        neo_primitive *primitive;
        neo_exec_arg args[count_of(names)];
        for (size_t i = 0; i < count_of(names); i++) {
            args[i].arg = names[i];
            assert_int_equal(neo_memory_create(&args[i].memory,
                                               neo_primitive_desc_query(pd, names[i]), engine,
                                               NEO_MEMORY_ALLOCATE),
                             NEO_OK);
        }
        const neo_memory_desc *dst = neo_primitive_desc_query(pd, NEO_ARG_DST);
        void *weights = neo_memory_get_handle(args[1].memory);
        float *results = neo_memory_get_handle(args[2].memory);
        if (weights) /* packed ones have their sums behind them, of 0 as well */
            memset(weights, 0, neo_memory_desc_size(neo_memory_get_desc(args[1].memory)));
        memset(results, 0xff, neo_memory_desc_size(dst));
        assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
        assert_int_equal(neo_primitive_execute(primitive, stream, count_of(names), args), NEO_OK);
        for (size_t i = 0; i < neo_memory_desc_elements(dst); i++)
            assert_true(results[i] == 0);
        neo_primitive_destroy(primitive);
        for (size_t i = 0; i < count_of(names); i++)
            neo_memory_destroy(args[i].memory);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static const neo_data_type multiplied[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8, NEO_U8};

static void products_without_rows_of_weights_are_zeros(void **state)
{
    (void)state;
    static const char *const tags[] = {"ab", "any"};
    for (size_t i = 0; i < count_of(multiplied) * count_of(tags); i++) {
        neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){3, 0}, "ab"),
                                .weights = tensor_desc(2, (neo_dim[]){0, 19}, tags[i % 2]),
                                .dst = tensor_desc(2, (neo_dim[]){3, 19}, "ab")};
        desc.src.data_type = desc.weights.data_type = multiplied[i / 2];
        neo_primitive_desc *pd;
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        all_give_zeros(pd);
    }
}

/* No channels, or no pixels: then every tap is in the padding on the right. */
static void convolutions_of_no_values_are_zeros(void **state)
{
    (void)state;
    static const char *const tags[] = {"abc", "any"};
    for (size_t i = 0; i < count_of(multiplied) * count_of(tags) * 4; i++) {
        neo_dim channels = (neo_dim)(i / 2 % 2), oc = i / 4 % 2 ? 19 : 1;
        neo_dim width = channels ? 0 : 5, out = channels ? 1 : 4;
        neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                     .src = tensor_desc(3, (neo_dim[]){2, channels, width}, "abc"),
                                     .weights =
                                         tensor_desc(3, (neo_dim[]){oc, channels, 2}, tags[i % 2]),
                                     .dst = tensor_desc(3, (neo_dim[]){2, oc, out}, "abc"),
                                     .strides = {1},
                                     .padding_right = {out + 1 - width}};
        desc.src.data_type = desc.weights.data_type = multiplied[i / 8];
        neo_primitive_desc *pd;
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        all_give_zeros(pd);
    }
}

struct long_reorder {
    struct tensor src, dst;
    struct operands operands;
};

static void check_reordered(void *context, const neo_dim *position)
{
    const struct long_reorder *r = context;
    float want = operands_apply(&r->operands, *tensor_at(&r->src, position), position);
    assert_true(*tensor_at(&r->dst, position) == want);
}

/* Longer than what is finished at a time. */
static void a_reorder_of_long_rows_reads_operands_where_they_belong(void **state)
{
    (void)state;
    const neo_dim sizes[] = {3, 1301};
    neo_memory_desc src = tensor_desc(2, sizes, "ba"), dst = tensor_desc(2, sizes, "ab");
    struct long_reorder r = {.src = tensor_make(engine, &src, 3),
                             .dst = tensor_make(engine, &dst, 9),
                             .operands = operands_make(engine, 2, sizes)};
    neo_exec_arg args[2 + OPERAND_COUNT] = {{NEO_ARG_SRC, r.src.memory},
                                            {NEO_ARG_DST, r.dst.memory}};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    operands_set(&r.operands, args + 2);
    assert_int_equal(
        neo_reorder_primitive_desc_create(&pd, engine, &src, &dst, r.operands.attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, 2 + OPERAND_COUNT, args), NEO_OK);
    tensor_for_each(2, sizes, check_reordered, &r);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    operands_free(&r.operands);
    tensor_free(&r.src);
    tensor_free(&r.dst);
}

static neo_memory_desc packed_for(neo_dim k, neo_dim n)
{
    neo_primitive_desc *pd;
    neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){40, k}, "ab"),
                            .weights = tensor_desc(2, (neo_dim[]){k, n}, "any"),
                            .dst = tensor_desc(2, (neo_dim[]){40, n}, "ab")};
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc packed = *neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    assert_int_equal(packed.format_kind, NEO_FORMAT_PACKED);
    neo_primitive_desc_destroy(pd);
    return packed;
}

static void reorders_of_packed_weights_to_packed_or_late_ones_are_refused(void **state)
{
    (void)state;
    neo_memory_desc packed = packed_for(20, 30);
    neo_memory_desc late = tensor_desc(2, (neo_dim[]){20, 30}, "ab");
    neo_dim unknown[] = {NEO_RUNTIME_DIM, NEO_RUNTIME_DIM};
    neo_attributes *relu;
    neo_primitive_desc *pd;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    assert_int_equal(neo_memory_desc_init_strides(&late, 2, unknown, NEO_F32, unknown), NEO_OK);
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &packed, &packed, relu),
                     NEO_UNSUPPORTED);
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &late, &packed, NULL),
                     NEO_UNSUPPORTED);
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, &packed, &late, NULL),
                     NEO_UNSUPPORTED);
    neo_attributes_destroy(relu);
}

static void a_memory_may_be_given_the_buffer_it_owns(void **state)
{
    (void)state;
    neo_memory_desc desc = tensor_desc(1, (neo_dim[]){100}, "a");
    neo_memory *memory;
    assert_int_equal(neo_memory_create(&memory, &desc, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    float *data = neo_memory_get_handle(memory);
    data[99] = 5;
    assert_int_equal(neo_memory_set_handle(memory, data), NEO_OK);
    assert_ptr_equal(neo_memory_get_handle(memory), data);
    assert_true(data[99] == 5);
    neo_memory_destroy(memory);
}

/* As long as the buffer has room, and without another object. */
static void a_memory_may_be_given_another_descriptor(void **state)
{
    (void)state;
    neo_memory_desc most = tensor_desc(1, (neo_dim[]){100}, "a");
    neo_memory_desc row = tensor_desc(2, (neo_dim[]){4, 25}, "ba");
    neo_memory_desc larger = tensor_desc(1, (neo_dim[]){1000}, "a"), late = row;
    neo_memory *memory;
    late.dims[0] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_memory_create(&memory, &most, engine, NEO_MEMORY_ALLOCATE), NEO_OK);
    const void *data = neo_memory_get_handle(memory);
    assert_int_equal(neo_memory_set_desc(memory, &row), NEO_OK);
    assert_true(neo_memory_desc_equal(neo_memory_get_desc(memory), &row));
    assert_int_equal(neo_memory_set_desc(memory, &larger), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_memory_set_desc(memory, &late), NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_memory_set_desc(memory, NULL), NEO_INVALID_ARGUMENT);
    assert_true(neo_memory_desc_equal(neo_memory_get_desc(memory), &row));
    assert_ptr_equal(neo_memory_get_handle(memory), data);
    float own[1000] = {0};
    assert_int_equal(neo_memory_set_handle(memory, own), NEO_OK);
    assert_int_equal(neo_memory_set_desc(memory, &larger), NEO_OK);
    neo_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operand_of_matmul_may_be_in_dsts_buffer),
        cmocka_unit_test(an_operand_of_convolution_may_be_in_dsts_buffer),
        cmocka_unit_test(strides_of_an_operand_may_be_known_at_execution),
        cmocka_unit_test(an_image_of_one_channel_keeps_its_order),
        cmocka_unit_test(a_layout_that_is_chosen_has_no_offset),
        cmocka_unit_test(empty_convolutions_have_a_kernel_and_cost_less_than_others),
        cmocka_unit_test(no_images_are_no_tiles),
        cmocka_unit_test(products_without_rows_of_weights_are_zeros),
        cmocka_unit_test(convolutions_of_no_values_are_zeros),
        cmocka_unit_test(a_reorder_of_long_rows_reads_operands_where_they_belong),
        cmocka_unit_test(reorders_of_packed_weights_to_packed_or_late_ones_are_refused),
        cmocka_unit_test(a_memory_may_be_given_the_buffer_it_owns),
        cmocka_unit_test(a_memory_may_be_given_another_descriptor),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_edges", tests, session_setup, session_teardown);
}
