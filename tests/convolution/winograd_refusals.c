/* Which convolutions are not done by Winograd's algorithm, and which weights have its layouts. */
#include "tests/support/test.h"

#include <string.h>

#include "src/tensor/layout.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

static const char *const names[] = {"winograd_2", "winograd_4", "winograd_6"};

/* Of 12 pixels in each dimension, with a stride of 1 and no padding; groups 0: there are none. */
static neo_convolution_desc make_desc(int space, const neo_dim *kernel, neo_dim groups,
                                      neo_dim channels, neo_convolution_algorithm algorithm)
{
    neo_dim count = groups ? groups : 1, src[5] = {1, channels * count}, dst[5] = {1, 8 * count};
    neo_dim weights[6] = {groups, 8, channels};
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE, .algorithm = algorithm};
    for (int i = 0; i < space; i++) {
        src[2 + i] = 12;
        dst[2 + i] = 12 - kernel[i] + 1;
        weights[3 + i] = kernel[i];
        desc.strides[i] = 1;
    }
    static const char *const tags[] = {"nwc", "nhwc", "ndhwc"};
    desc.src = tensor_desc(2 + space, src, tags[space - 1]);
    desc.dst = tensor_desc(2 + space, dst, tags[space - 1]);
    desc.weights = tensor_desc(2 + space + (groups > 0), weights + (groups == 0), "any");
    desc.bias = tensor_desc(1, &dst[1], "a");
    return desc;
}

/* Whether the list of implementations has a name in it. */
static bool offers(const neo_convolution_desc *desc, const neo_attributes *attributes,
                   const char *name)
{
    neo_primitive_desc *pd;
    bool found = false;
    if (neo_convolution_primitive_desc_create(&pd, engine, desc, attributes) != NEO_OK)
        return false;
    do {
        found |= strstr(neo_primitive_desc_implementation(pd), name) != NULL;
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return found;
}

static void direct_forbids_it_and_auto_asks_for_enough_channels(void **state)
{
    (void)state;
    static const struct {
        int space;
        neo_dim channels;
        bool offered[3];
    } cases[] = {
        {2, 4, {true, false, false}}, {2, 7, {true, false, false}}, {2, 8, {true, true, false}},
        {2, 28, {true, true, false}}, {2, 29, {true, true, true}},  {1, 5, {true, false, false}},
        {1, 6, {true, true, false}},  {1, 10, {true, true, false}}, {1, 11, {true, true, true}},
    };
    const neo_dim kernel[] = {3, 3};
    neo_attributes *any;
    assert_int_equal(neo_attributes_create(&any), NEO_OK);
    assert_int_equal(neo_attributes_set_fpmath_mode(any, NEO_FPMATH_ANY, 0), NEO_OK);
    for (size_t i = 0; i < count_of(cases); i++) {
        int space = cases[i].space;
        neo_dim channels = cases[i].channels;
        neo_convolution_desc direct = make_desc(space, kernel, 0, channels, NEO_CONVOLUTION_DIRECT);
        neo_convolution_desc automatic =
            make_desc(space, kernel, 0, channels, NEO_CONVOLUTION_AUTO);
        for (int n = 0; n < 3; n++) {
            assert_false(offers(&direct, NULL, names[n]));
            assert_int_equal(offers(&automatic, NULL, names[n]), cases[i].offered[n]);
            assert_true(offers(&automatic, any, names[n]));
        }
    }
    neo_attributes_destroy(any);
}

static void others_are_refused(void **state)
{
    (void)state;
    neo_convolution_desc desc = make_desc(2, (neo_dim[]){3, 3}, 0, 64, NEO_CONVOLUTION_WINOGRAD);
    neo_convolution_desc other = desc;
    assert_true(offers(&desc, NULL, "winograd"));
    other.strides[0] = 2;
    other.dst = tensor_desc(4, (neo_dim[]){1, 8, 5, 10}, "nhwc");
    assert_false(offers(&other, NULL, "winograd"));
    other = desc;
    other.weights = tensor_desc(4, (neo_dim[]){8, 64, 3, 3}, "oihw");
    assert_false(offers(&other, NULL, "winograd"));
    other = desc;
    other.bias.strides[0] = 2;
    assert_false(offers(&other, NULL, "winograd"));
    other = desc;
    other.dilations[1] = 1;
    other.padding_left[1] = other.padding_right[1] = 1;
    assert_true(offers(&other, NULL, "dilated_winograd_2"));
    assert_false(offers(&other, NULL, "transposed"));
    other.strides[1] = 2;
    other.dst = tensor_desc(4, (neo_dim[]){1, 8, 10, 5}, "nhwc");
    assert_false(offers(&other, NULL, "winograd"));
}

/* Each thread transposes whole rows of planes, also where few of their columns are needed. */
static void dilated_rows_of_planes_are_not_too_long(void **state)
{
    (void)state;
    enum { LONGEST = (16 << 20) / sizeof(float) / 64 };
    static const struct {
        neo_dim width;
        bool offered;
    } cases[] = {{12, true}, {LONGEST, true}, {LONGEST + 1, false}};
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_dim width = cases[i].width;
        neo_convolution_desc desc =
            make_desc(2, (neo_dim[]){3, 3}, 0, 64, NEO_CONVOLUTION_WINOGRAD);
        desc.src = tensor_desc(4, (neo_dim[]){1, 64, 12, width}, "nchw");
        desc.dilations[1] = 1;
        desc.padding_left[1] = 1;
        desc.padding_right[1] = 12 + 1 - width;
        assert_int_equal(offers(&desc, NULL, "dilated_winograd_2"), cases[i].offered);
    }
}

/* The algorithm's refusal, and that of weights in its layouts. */
static void kernels_have_as_many_taps_in_one_or_two_dimensions(void **state)
{
    (void)state;
    static const struct {
        int space, dimensions;
        neo_dim groups, kernel[3];
    } cases[] = {
        {1, 1, 0, {3}},    {1, 1, 1, {3}},    {1, 0, 2, {3}},       {1, 1, 0, {5}},
        {1, 0, 0, {1}},    {2, 2, 0, {3, 3}}, {2, 2, 1, {3, 3}},    {2, 0, 2, {3, 3}},
        {2, 1, 0, {3, 1}}, {2, 1, 0, {1, 3}}, {2, 0, 0, {1, 1}},    {2, 2, 0, {5, 5}},
        {2, 0, 0, {3, 5}}, {2, 0, 0, {5, 3}}, {2, 0, 0, {2, 3}},    {3, 0, 0, {3, 3, 3}},
        {2, 1, 0, {5, 1}}, {2, 0, 0, {3, 4}}, {3, 0, 0, {1, 3, 3}}, {3, 0, 1, {1, 1, 3}},
        {2, 1, 0, {1, 7}}, {2, 2, 0, {7, 7}}, {2, 0, 0, {5, 7}},    {1, 0, 0, {9}},
        {1, 0, 0, {4}},    {2, 0, 2, {5, 5}},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_dim groups = cases[i].groups;
        neo_convolution_desc desc =
            make_desc(cases[i].space, cases[i].kernel, groups, 64, NEO_CONVOLUTION_WINOGRAD);
        assert_int_equal(layout_winograd_dimensions(&desc.weights, groups > 0),
                         cases[i].dimensions);
        assert_int_equal(offers(&desc, NULL, "winograd"), cases[i].dimensions > 0);
        neo_memory_desc packed = desc.weights;
        layout_set(&packed, LAYOUT_WINOGRAD_4_F32, groups > 0);
        bool has_points = cases[i].kernel[0] < 6 && cases[i].kernel[1] < 6;
        assert_int_equal(layout_wrong(&packed) == NULL, cases[i].dimensions > 0 && has_points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_forbids_it_and_auto_asks_for_enough_channels),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(dilated_rows_of_planes_are_not_too_long),
        cmocka_unit_test(kernels_have_as_many_taps_in_one_or_two_dimensions),
    };
    return cmocka_run_group_tests_name("winograd_refusals", tests, session_setup, session_teardown);
}
