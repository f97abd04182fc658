/* Sizes, steps and offsets that are too large, for a tensor or for what algorithms compute of them.
 */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/session.h"
#include "tests/support/tensor.h"

static void tensors_of_any_layout_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const neo_dim huge = (neo_dim)1 << 40;
    neo_memory_desc fits;
    assert_int_equal(neo_memory_desc_init_tag(&fits, 2, (neo_dim[]){huge, huge}, NEO_F32, "any"),
                     NEO_INVALID_ARGUMENT);
    neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){4, 4}, "any"),
                            .weights = tensor_desc(2, (neo_dim[]){4, huge}, "any"),
                            .dst = tensor_desc(2, (neo_dim[]){4, huge}, "any")};
    desc.src.dims[0] = desc.dst.dims[0] = huge;
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_null(pd);
}

static void wide_weights_are_planned_at_once(void **state)
{
    (void)state;
    const neo_dim wide = (neo_dim)1 << 38;
    neo_matmul_desc desc = {.src = tensor_desc(2, (neo_dim[]){4, 4}, "any"),
                            .weights = tensor_desc(2, (neo_dim[]){4, wide}, "any"),
                            .dst = tensor_desc(2, (neo_dim[]){4, wide}, "any")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* Of so many channels that taps are read one by one, and with most taps in the padding. */
static void a_long_kernel_is_planned_at_once(void **state)
{
    (void)state;
    const neo_dim size = (neo_dim)1 << 28;
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .src = tensor_desc(3, (neo_dim[]){1, 64, size}, "nwc"),
                                 .weights = tensor_desc(3, (neo_dim[]){4, 64, 2 * size + 1}, "any"),
                                 .dst = tensor_desc(3, (neo_dim[]){1, 4, size}, "nwc"),
                                 .strides = {1},
                                 .padding_left = {size},
                                 .padding_right = {size}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void an_empty_product_of_many_matrices_does_nothing(void **state)
{
    (void)state;
    const neo_dim many = (neo_dim)1 << 20;
    neo_matmul_desc desc = {.src = tensor_desc(4, (neo_dim[]){many, many, 0, 4}, "abcd"),
                            .weights = tensor_desc(4, (neo_dim[]){1, 1, 4, 5}, "abcd"),
                            .dst = tensor_desc(4, (neo_dim[]){many, many, 0, 5}, "abcd")};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(engine, &desc.src, 0), dst = tensor_make(engine, &desc.dst, 0);
    struct tensor weights = tensor_make(engine, &desc.weights, 1);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, weights.memory}, {NEO_ARG_DST, dst.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    tensor_free(&weights), tensor_free(&dst), tensor_free(&src);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void steps_beyond_every_image_are_refused(void **state)
{
    (void)state;
    neo_convolution_desc small = {.prop_kind = NEO_FORWARD_INFERENCE,
                                  .src = tensor_desc(3, (neo_dim[]){1, 4, 1}, "nwc"),
                                  .weights = tensor_desc(3, (neo_dim[]){8, 4, 1}, "any"),
                                  .dst = tensor_desc(3, (neo_dim[]){1, 8, 1}, "nwc"),
                                  .strides = {1}};
    neo_convolution_desc dilated = small, strided = small;
    dilated.dilations[0] = INT64_MAX;
    strided.strides[0] = (neo_dim)1 << 31;
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &dilated, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &strided, NULL),
                     NEO_INVALID_ARGUMENT);
    strided.strides[0]--;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &strided, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* ---- more elements than bytes, where strides are 0 ---- */

/* One element, again and again. */
static neo_memory_desc repeated(int ndims, const neo_dim *dims)
{
    static const neo_dim strides[NEO_MAX_NDIMS];
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_strides(&desc, ndims, dims, NEO_F32, strides), NEO_OK);
    return desc;
}

static neo_matmul_desc long_product(neo_dim k)
{
    return (neo_matmul_desc){.src = repeated(2, (neo_dim[]){3, k}),
                             .weights = repeated(2, (neo_dim[]){k, 5}),
                             .dst = tensor_desc(2, (neo_dim[]){3, 5}, "ab")};
}

/* Their scratchpads would be larger than the largest number. */
static void more_elements_than_an_address_space_has_are_unsupported(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_matmul_desc product = long_product((neo_dim)1 << 45);
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &product, NULL),
                     NEO_UNSUPPORTED);
    neo_dim wide = (neo_dim)1 << 40, stride = (neo_dim)1 << 30;
    neo_convolution_desc convolution = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = repeated(5, (neo_dim[]){1, 1, wide, wide, wide}),
        .weights = tensor_desc(5, (neo_dim[]){4, 1, 1, 1, 3}, "abcde"),
        .dst = tensor_desc(5, (neo_dim[]){1, 4, 1024, 1024, 1024}, "abcde"),
        .strides = {stride, stride, stride}};
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &convolution, NULL),
                     NEO_UNSUPPORTED);
}

static void elements_of_a_late_size_are_counted_too(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_matmul_desc actual = long_product((neo_dim)1 << 45), desc = actual;
    desc.src.dims[1] = desc.weights.dims[0] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    struct tensor src = tensor_make(engine, &actual.src, 0);
    struct tensor weights = tensor_make(engine, &actual.weights, 0);
    struct tensor dst = tensor_make(engine, &actual.dst, 0);
    neo_exec_arg args[] = {
        {NEO_ARG_SRC, src.memory}, {NEO_ARG_WEIGHTS, weights.memory}, {NEO_ARG_DST, dst.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_INVALID_ARGUMENT);
    tensor_free(&dst), tensor_free(&weights), tensor_free(&src);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* ---- strides ---- */

/* Every stride between less than two elements is as large as it can be. */
static neo_memory_desc far_apart(int ndims, const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc = tensor_desc(ndims, dims, tag);
    for (int i = 0; i < ndims; i++)
        if (dims[i] == 1)
            desc.strides[i] = INT64_MAX;
    return desc;
}

static void check_ones(void *context, const neo_dim *position)
{
    assert_float_equal(*tensor_at(context, position), 6, 0);
}

/* Of ones only: each sum has six products. */
static void execute_all(neo_primitive_desc *pd, const neo_memory_desc *all)
{
    do {
        neo_primitive *primitive;
        struct tensor tensors[3];
        neo_exec_arg args[] = {
            {.arg = NEO_ARG_SRC}, {.arg = NEO_ARG_WEIGHTS}, {.arg = NEO_ARG_DST}};
        for (int t = 0; t < 3; t++) {
            tensors[t] = tensor_make(engine, &all[t], 0);
            args[t].memory = tensors[t].memory;
            for (size_t i = 0; i < neo_memory_desc_elements(&all[t]); i++)
                tensors[t].data[i] = 1;
        }
        assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
        assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
        tensor_for_each(all[2].ndims, all[2].dims, check_ones, &tensors[2]);
        neo_primitive_destroy(primitive);
        for (int t = 0; t < 3; t++)
            tensor_free(&tensors[t]);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void strides_to_nothing_may_be_any(void **state)
{
    (void)state;
    static const char *const tags[] = {"nchw", "nhwc", "chwn"};
    for (size_t i = 0; i < count_of(tags); i++) {
        neo_primitive_desc *pd;
        const neo_memory_desc tensors[] = {far_apart(4, (neo_dim[]){1, 6, 1, 1}, tags[i]),
                                           far_apart(4, (neo_dim[]){8, 6, 3, 3}, "oihw"),
                                           far_apart(4, (neo_dim[]){1, 8, 2, 2}, tags[i])};
        neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                     .src = tensors[0],
                                     .weights = tensors[1],
                                     .dst = tensors[2],
                                     .strides = {2, 2},
                                     .padding_left = {2, 2},
                                     .padding_right = {2, 2}};
        assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        execute_all(pd, tensors);
        const neo_memory_desc matrices[] = {far_apart(3, (neo_dim[]){1, 1, 6}, "abc"),
                                            far_apart(3, (neo_dim[]){1, 6, 9}, "abc"),
                                            far_apart(3, (neo_dim[]){1, 1, 9}, "abc")};
        neo_matmul_desc product = {.src = matrices[0], .weights = matrices[1], .dst = matrices[2]};
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &product, NULL), NEO_OK);
        execute_all(pd, matrices);
    }
}

static void strides_beyond_an_address_space_are_unsupported(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_memory_desc empty = tensor_desc(2, (neo_dim[]){0, 4}, "ab"), far = empty;
    far.strides[1] = INT64_MAX;
    neo_matmul_desc product = {
        .src = far, .weights = tensor_desc(2, (neo_dim[]){4, 4}, "ab"), .dst = empty};
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &product, NULL),
                     NEO_UNSUPPORTED);
}

/* ---- scratchpads ---- */

/* Of channels first, whose rows are transposed into it, with a kernel of two rows so far apart that
 * src is between them. */
static void a_dilation_beyond_the_image_needs_no_rows_that_do_not_exist(void **state)
{
    (void)state;
    neo_dim image[] = {1, 8, 6, 5}, dilation = 1000;
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .src = tensor_desc(4, image, "nchw"),
                                 .weights = tensor_desc(4, (neo_dim[]){8, 8, 3, 1}, "any"),
                                 .dst = tensor_desc(4, image, "nchw"),
                                 .strides = {1, 1},
                                 .dilations = {dilation - 1},
                                 .padding_left = {dilation},
                                 .padding_right = {dilation}};
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    do
        assert_in_range(neo_primitive_desc_scratchpad_size(pd, 1), 0, 1 << 16);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static bool offers_depthwise(const neo_convolution_desc *desc)
{
    neo_primitive_desc *pd;
    bool found = false;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, desc, NULL), NEO_OK);
    do
        found = found || strcmp(neo_primitive_desc_algorithm(pd), "depthwise") == 0;
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return found;
}

/* Without elements, so that no tensor is too large; the rows are all the same memory. */
static void a_depthwise_convolution_with_an_astronomical_scratchpad_is_declined(void **state)
{
    (void)state;
    const neo_dim wide = (neo_dim)1 << 42;
    neo_dim sizes[] = {0, 4, 3, wide}, out[] = {0, 4, 1, wide}, strides[] = {0, 1, 0, 0};
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .weights = tensor_desc(5, (neo_dim[]){4, 1, 1, 3, 1}, "any"),
                                 .strides = {1, 1}};
    assert_int_equal(neo_memory_desc_init_strides(&desc.src, 4, sizes, NEO_F32, strides), NEO_OK);
    assert_int_equal(neo_memory_desc_init_strides(&desc.dst, 4, out, NEO_F32, strides), NEO_OK);
    assert_false(offers_depthwise(&desc));
    desc.src.dims[3] = desc.dst.dims[3] = 64;
    assert_true(offers_depthwise(&desc));
}

/* Everything else agrees, so that only the padding itself can be refused. */
static void padding_beyond_32_bits_is_refused_on_either_side(void **state)
{
    (void)state;
    const neo_dim most = INT32_MAX;
    for (int side = 0; side < 2; side++) {
        for (int more = 0; more < 2; more++) {
            neo_primitive_desc *pd;
            neo_dim padding = most + more, out = padding + 4;
            neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                         .src = tensor_desc(3, (neo_dim[]){1, 1, 4}, "abc"),
                                         .weights = tensor_desc(3, (neo_dim[]){1, 1, 1}, "abc"),
                                         .dst = tensor_desc(3, (neo_dim[]){1, 1, out}, "abc"),
                                         .strides = {1}};
            (side ? desc.padding_right : desc.padding_left)[0] = padding;
            assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL),
                             more ? NEO_INVALID_ARGUMENT : NEO_OK);
            neo_primitive_desc_destroy(pd);
        }
    }
}

static void a_part_at_an_offset_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    const neo_dim far = INT64_MAX / 2;
    neo_dim sizes[] = {1, 1, 1}, none[] = {0, 0, 0}, end[] = {1, 1, 1}, strides[] = {far, far, far};
    neo_memory_desc parent, part = {.ndims = 77};
    assert_int_equal(neo_memory_desc_init_strides(&parent, 3, sizes, NEO_F32, strides), NEO_OK);
    assert_int_equal(neo_memory_desc_init_submemory(&part, &parent, none, end),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(part.ndims, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_of_any_layout_that_do_not_fit_are_refused),
        cmocka_unit_test(wide_weights_are_planned_at_once),
        cmocka_unit_test(a_long_kernel_is_planned_at_once),
        cmocka_unit_test(an_empty_product_of_many_matrices_does_nothing),
        cmocka_unit_test(steps_beyond_every_image_are_refused),
        cmocka_unit_test(more_elements_than_an_address_space_has_are_unsupported),
        cmocka_unit_test(elements_of_a_late_size_are_counted_too),
        cmocka_unit_test(strides_to_nothing_may_be_any),
        cmocka_unit_test(strides_beyond_an_address_space_are_unsupported),
        cmocka_unit_test(a_dilation_beyond_the_image_needs_no_rows_that_do_not_exist),
        cmocka_unit_test(a_depthwise_convolution_with_an_astronomical_scratchpad_is_declined),
        cmocka_unit_test(padding_beyond_32_bits_is_refused_on_either_side),
        cmocka_unit_test(a_part_at_an_offset_that_does_not_fit_is_refused),
    };
    neo_set_verbose(0);
    return cmocka_run_group_tests_name("api_sizes", tests, session_setup, session_teardown);
}
