/* Convolutions much of whose kernel lies in the padding, against loops. Taps that no pixel of a
 * tile has are not multiplied. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/cases/convolution_case.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* clang-format off */
static const struct convolution_case rows[] = {
    {"dilated beyond the image", 2, 2, 0, 5, 6,
     {9, 9}, {3, 3}, {1, 1}, {4, 4}, {5, 5}, {5, 5}, "nhwc", "any", "nhwc"},
    {"dilated beyond the image, ragged columns", 2, 1, 0, 6, 15,
     {9, 8}, {3, 3}, {1, 1}, {3, 4}, {4, 5}, {4, 5}, "nhwc", "any", "nhwc"},
    {"dilated beyond the image, few columns", 2, 1, 0, 7, 3,
     {9, 9}, {3, 3}, {1, 1}, {4, 4}, {5, 5}, {5, 5}, "nhwc", "any", "nhwc"},
    {"dilated beyond the image in depth and height", 3, 1, 0, 16, 17,
     {2, 2, 14}, {7, 7, 1}, {1, 1, 1}, {3, 3, 0}, {12, 12, 0}, {12, 12, 0}, "ndhwc", "any", "ndhwc"},
    {"dilated, with more addresses than stay in the L1 cache", 2, 2, 0, 7, 9,
     {23, 23}, {5, 5}, {1, 1}, {1, 1}, {4, 4}, {4, 4}, "nhwc", "any", "nhwc"},
    {"dilated beyond the image, nchw", 2, 2, 0, 5, 6,
     {9, 9}, {3, 3}, {1, 1}, {4, 4}, {5, 5}, {5, 5}, "nchw", "any", "nchw"},
    {"dilated beyond the image, in groups", 2, 2, 3, 15, 12,
     {9, 7}, {3, 3}, {1, 1}, {4, 3}, {5, 4}, {5, 4}, "nhwc", "any", "nhwc"},
    {"only the tap in the middle", 2, 2, 0, 16, 20,
     {5, 4}, {3, 3}, {1, 1}, {7, 7}, {8, 8}, {8, 8}, "nhwc", "any", "nhwc"},
    {"only the tap in the middle, plain weights", 2, 2, 0, 16, 20,
     {5, 4}, {3, 3}, {1, 1}, {7, 7}, {8, 8}, {8, 8}, "nhwc", "hwio", "nhwc"},
    {"only the tap in the middle, from the second pixel to one beyond the image", 2, 1, 0, 8, 10,
     {4, 5}, {3, 3}, {1, 1}, {6, 6}, {6, 6}, {8, 8}, "nhwc", "any", "nhwc"},
    {"one pixel, kernel beyond the image", 2, 1, 0, 6, 26,
     {3, 3}, {5, 5}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"one pixel, kernel beyond the image, plain weights", 2, 1, 0, 6, 26,
     {3, 5}, {5, 5}, {1, 1}, {0, 0}, {1, 0}, {1, 0}, "nhwc", "hwio", "nhwc"},
    {"one pixel whose first taps are beyond the image", 2, 1, 0, 7, 9,
     {9, 9}, {3, 3}, {1, 1}, {2, 2}, {4, 4}, {-6, -6}, "nhwc", "any", "nhwc"},
    {"pixels whose first taps are beyond the image", 2, 2, 0, 7, 9,
     {9, 9}, {3, 3}, {1, 1}, {2, 3}, {5, 6}, {-6, -4}, "nhwc", "any", "nhwc"},
    {"pixels whose first taps are beyond the image, plain weights", 2, 2, 0, 7, 9,
     {9, 9}, {3, 3}, {1, 1}, {2, 3}, {5, 6}, {-6, -4}, "nhwc", "hwio", "nhwc"},
    {"above the image", 2, 2, 0, 8, 10,
     {6, 7}, {3, 3}, {1, 1}, {0, 0}, {9, 1}, {0, 1}, "nhwc", "any", "nhwc"},
    {"below the image", 2, 2, 0, 8, 10,
     {6, 7}, {3, 3}, {1, 1}, {0, 0}, {0, 1}, {9, 1}, "nhwc", "any", "nhwc"},
    {"left of the image", 2, 2, 0, 8, 10,
     {6, 7}, {3, 3}, {1, 1}, {0, 1}, {1, 19}, {1, 0}, "nhwc", "any", "nhwc"},
    {"right of the image", 2, 2, 0, 8, 10,
     {6, 7}, {3, 3}, {1, 1}, {0, 1}, {1, 0}, {1, 19}, "nhwc", "any", "nhwc"},
    {"nothing but padding", 2, 2, 0, 8, 10,
     {6, 7}, {2, 3}, {9, 9}, {0, 0}, {9, 9}, {-6, -7}, "nhwc", "any", "nhwc"},
    {"1d at both ends", 1, 2, 0, 12, 17,
     {40}, {3}, {1}, {11}, {12}, {12}, "nwc", "any", "nwc"},
    {"1d, causal", 1, 2, 0, 12, 17,
     {40}, {4}, {1}, {7}, {24}, {0}, "nwc", "any", "nwc"},
    {"in three dimensions", 3, 2, 0, 6, 9,
     {4, 5, 4}, {3, 3, 3}, {1, 1, 1}, {3, 2, 3}, {4, 3, 4}, {4, 3, 4}, "ndhwc", "any", "ndhwc"},
    {"several blocks of the reduction", 2, 2, 0, 530, 27,
     {6, 5}, {3, 3}, {1, 1}, {3, 3}, {4, 4}, {4, 4}, "nhwc", "any", "nhwc"},
    {"several blocks of the reduction, stride 2", 2, 1, 0, 301, 16,
     {9, 8}, {5, 3}, {2, 1}, {2, 3}, {6, 4}, {6, 4}, "nhwc", "any", "nhwc"},
    {"two columns", 2, 2, 0, 16, 16,
     {6, 2}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"three columns, ragged channels", 2, 3, 0, 5, 23,
     {9, 3}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, "nhwc", "any", "nhwc"},
    {"a kernel wider than the image", 2, 2, 0, 9, 3,
     {20, 3}, {3, 7}, {1, 1}, {0, 0}, {1, 3}, {1, 3}, "nhwc", "any", "nhwc"},
    {"columns with stride 2, of many channels", 2, 1, 0, 60, 29,
     {19, 8}, {3, 5}, {2, 2}, {0, 0}, {1, 2}, {1, 2}, "nhwc", "any", "nhwc"},
    {"columns that have nothing", 2, 2, 0, 8, 10,
     {11, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 3}, {0, 3}, "nhwc", "any", "nhwc"},
    {"columns of a tall dilated kernel", 2, 1, 0, 11, 12,
     {13, 4}, {5, 3}, {1, 1}, {3, 0}, {8, 1}, {8, 1}, "nhwc", "any", "nhwc"},
    {"columns in three dimensions", 3, 2, 0, 6, 9,
     {4, 5, 3}, {3, 3, 3}, {1, 1, 1}, {0, 1, 0}, {1, 2, 1}, {1, 2, 1}, "ndhwc", "any", "ndhwc"},
    {"some rows of taps in a block", 2, 1, 0, 70, 14,
     {7, 9}, {7, 3}, {1, 1}, {1, 0}, {6, 1}, {6, 1}, "nhwc", "any", "nhwc"},
};
/* clang-format on */

static float at_least_zero(float value, float old)
{
    (void)old;
    return value < 0 ? 0 : value;
}

static void check_rows(const struct convolution_variant *variant)
{
    for (size_t i = 0; i < count_of(rows); i++)
        convolution_case_check(&rows[i], variant);
}

static void taps_in_the_padding_add_nothing(void **state)
{
    (void)state;
    check_rows(&(struct convolution_variant){0});
}

static void bias_and_clamp_are_applied_once(void **state)
{
    (void)state;
    neo_attributes *relu;
    assert_int_equal(neo_attributes_create(&relu), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(relu, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    check_rows(&(struct convolution_variant){relu, at_least_zero, .bias_step = 1});
    neo_attributes_destroy(relu);
}

/* ---- weights that are infinite ---- */

enum { SKIPPING = 3 };

/* Of 3 × 3 taps all are infinite but those from `first` to `last`, the only ones that the first
 * `columns` columns of dst meet. */
struct infinite {
    const char *skipping[SKIPPING]; /* implementations that do not multiply the others */
    neo_dim height, width, dilation, padding, first[2], last[2], columns;
};

struct tensors {
    const struct infinite *row;
    struct tensor src, weights, dst;
};

static void make_infinite(void *context, const neo_dim *position)
{
    const struct tensors *tensors = context;
    const struct infinite *row = tensors->row;
    bool is_met = true;
    for (int i = 0; i < 2; i++)
        is_met &= position[2 + i] >= row->first[i] && position[2 + i] <= row->last[i];
    if (!is_met)
        *tensor_at(&tensors->weights, position) = INFINITY;
}

static void is_finite(void *context, const neo_dim *position)
{
    const struct tensors *tensors = context;
    if (position[3] < tensors->row->columns)
        assert_true(isfinite(*tensor_at(&tensors->dst, position)));
}

static void check_finite(const neo_primitive_desc *pd, struct tensors *tensors)
{
    struct tensor *dst = &tensors->dst;
    *dst = tensor_make(engine, neo_primitive_desc_query(pd, NEO_ARG_DST), 0);
    struct tensor given = tensor_reordered(engine, stream, &tensors->weights,
                                           neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    neo_exec_arg args[] = {{NEO_ARG_SRC, tensors->src.memory},
                           {NEO_ARG_WEIGHTS, given.memory},
                           {NEO_ARG_DST, dst->memory}};
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, (int)count_of(args), args), NEO_OK);
    tensor_for_each(4, dst->desc.dims, is_finite, tensors);
    neo_primitive_destroy(primitive);
    tensor_free(&given);
    tensor_free(dst);
}

static void check_infinite(const struct infinite *row)
{
    neo_dim image[] = {2, 16, row->height, row->width}, kernel[] = {20, 16, 3, 3};
    neo_dim outputs[] = {2, 20, row->height, row->width};
    neo_memory_desc plain = tensor_desc(4, kernel, "oihw");
    neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_DIRECT,
                                 .src = tensor_desc(4, image, "nhwc"),
                                 .weights = tensor_desc(4, kernel, "any"),
                                 .dst = tensor_desc(4, outputs, "nhwc"),
                                 .strides = {1, 1},
                                 .dilations = {row->dilation, row->dilation},
                                 .padding_left = {row->padding, row->padding},
                                 .padding_right = {row->padding, row->padding}};
    struct tensors tensors = {.row = row,
                              .src = tensor_make(engine, &desc.src, 3),
                              .weights = tensor_make(engine, &plain, 7)};
    tensor_for_each(4, kernel, make_infinite, &tensors);
    neo_primitive_desc *pd;
    size_t checked = 0, skipping = 0;
    while (skipping < SKIPPING && row->skipping[skipping])
        skipping++;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    do {
        const char *name = neo_primitive_desc_algorithm(pd);
        for (size_t i = 0; i < skipping; i++)
            if (!strcmp(name, row->skipping[i]) && ++checked)
                check_finite(pd, &tensors);
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    assert_int_equal(checked, skipping);
    neo_primitive_desc_destroy(pd);
    tensor_free(&tensors.weights);
    tensor_free(&tensors.src);
}

static void infinite_weights_of_such_taps_do_not_matter(void **state)
{
    static const struct infinite cases[] = {
        /* Of a dilated kernel only one tap meets the image. */
        {{"gemm", "matmul", "reference"}, 5, 4, 7, 8, {1, 1}, {1, 1}, 4},
        {{"columns", "reference"}, 5, 2, 0, 1, {0, 1}, {2, 2}, 1},
        {{"columns", "matmul", "reference"}, 5, 1, 0, 1, {0, 1}, {2, 1}, 1},
    };
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++)
        check_infinite(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_in_the_padding_add_nothing),
        cmocka_unit_test(bias_and_clamp_are_applied_once),
        cmocka_unit_test(infinite_weights_of_such_taps_do_not_matter),
    };
    return cmocka_run_group_tests_name("convolution_padding", tests, session_setup,
                                       session_teardown);
}
