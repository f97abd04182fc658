/* Winograd's algorithm: error bounds on reals, exactness where it is exact, post-operations; for
 * chosen rows. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/cases/operands.h"
#include "tests/support/cases/winograd_case.h"
#include "tests/support/rounds.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

/* Sizes with every remainder of 2, 4 and 6. */
static const struct winograd_case rows[] = {
    {"one tile", 1, 4, 4, 4, 4, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"7 x 7", 1, 33, 26, 7, 7, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"one output", 1, 5, 3, 3, 3, {0, 0}, {0, 0}, "nhwc", "nhwc", true, {0, 0}},
    {"5 x 11", 2, 8, 13, 5, 11, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"10 x 9, no padding", 1, 16, 24, 12, 11, {0, 0}, {0, 0}, "nhwc", "nhwc", false, {0, 0}},
    {"14 x 14", 1, 20, 16, 14, 14, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"much padding", 1, 7, 9, 3, 8, {4, 2}, {3, 5}, "nhwc", "nhwc", false, {0, 0}},
    {"many strips", 1, 6, 5, 37, 43, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"nchw", 2, 21, 14, 8, 13, {1, 1}, {1, 1}, "nchw", "nchw", true, {0, 0}},
    {"nchw of few channels", 1, 5, 1, 9, 12, {1, 0}, {0, 1}, "nchw", "nchw", false, {0, 0}},
    {"nchw to nhwc", 1, 18, 4, 6, 6, {1, 1}, {1, 1}, "nchw", "nhwc", false, {0, 0}},
    {"nhwc to nchw", 1, 18, 4, 6, 6, {1, 1}, {1, 1}, "nhwc", "nchw", false, {0, 0}},
    {"odd order", 2, 6, 7, 6, 5, {1, 1}, {1, 1}, "chwn", "dcab", false, {0, 0}},
    {"one channel, images inside", 3, 6, 1, 9, 11, {1, 1}, {1, 1}, "nhwc", "chwn", false, {0, 0}},
    {"3 x 1", 2, 9, 14, 13, 5, {1, 0}, {1, 0}, "nhwc", "nhwc", false, {3, 1}},
    {"1 x 3", 2, 12, 13, 3, 20, {0, 1}, {0, 1}, "nhwc", "nhwc", true, {1, 3}},
    {"3 x 1, nchw", 1, 21, 10, 9, 7, {2, 0}, {0, 1}, "nchw", "nchw", false, {3, 1}},
    {"1 x 3, nchw", 1, 6, 9, 4, 11, {0, 1}, {0, 1}, "nchw", "nchw", false, {1, 3}},
    {"3", 2, 16, 13, 1, 500, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
    {"3, rounds that turn back", 1, 1500, 26, 1, 100, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
    {"3, one tile", 1, 4, 4, 1, 4, {0, 0}, {0, 0}, "nwc", "nwc", true, {0, 3}},
    {"3, ncw", 1, 35, 5, 1, 35, {0, 2}, {0, 0}, "ncw", "ncw", false, {0, 3}},
    {"3, ncw to nwc", 1, 7, 9, 1, 17, {0, 1}, {0, 1}, "ncw", "nwc", false, {0, 3}},
};

/* Parts of all sizes, and of none of src's pixels. */
static const struct winograd_case dilated_rows[] = {
    {"rate 2", 1, 12, 13, 10, 10, {2, 2}, {2, 2}, "nhwc", "nhwc", false, {3, 3, 1, 1}},
    {"rate 3, ragged", 2, 5, 7, 11, 10, {3, 1}, {2, 4}, "nhwc", "nhwc", true, {3, 3, 2, 2}},
    {"rates 2 and 1", 1, 6, 4, 9, 8, {2, 1}, {2, 1}, "nhwc", "nhwc", false, {3, 3, 1, 0}},
    {"rate 7 of a small image", 1, 4, 9, 5, 6, {7, 7}, {7, 7}, "nhwc", "nhwc", false, {3, 3, 6, 6}},
    {"rate 9 beyond it", 1, 4, 5, 5, 4, {20, 9}, {1, 12}, "nhwc", "nhwc", false, {3, 3, 8, 8}},
    {"no padding", 1, 9, 8, 9, 13, {0, 0}, {0, 0}, "nhwc", "nhwc", false, {3, 3, 2, 3}},
    {"5 x 5", 1, 7, 6, 12, 13, {4, 4}, {4, 4}, "nhwc", "nhwc", false, {5, 5, 1, 1}},
    {"rate 2, nchw", 2, 11, 6, 7, 9, {2, 2}, {2, 2}, "nchw", "nchw", false, {3, 3, 1, 1}},
    {"rate 2, nchw to nhwc", 1, 8, 5, 7, 6, {2, 2}, {2, 2}, "nchw", "nhwc", false, {3, 3, 1, 1}},
    {"3 x 1, rate 4", 1, 9, 10, 13, 5, {4, 0}, {4, 0}, "nhwc", "nhwc", false, {3, 1, 3, 3}},
    {"3, rate 8, causal", 2, 16, 13, 1, 50, {0, 16}, {0, 0}, "nwc", "nwc", false, {0, 3, 0, 7}},
    {"3, rate 2, ncw", 1, 6, 7, 1, 21, {0, 2}, {0, 2}, "ncw", "ncw", true, {0, 3, 0, 1}},
};

static void check_dilated_rows(bool reals, const struct winograd_chain *chain)
{
    for (size_t i = 0; i < count_of(dilated_rows); i++)
        winograd_case_check(&dilated_rows[i], reals, chain);
}

static void check_rows(bool reals, const struct winograd_chain *chain)
{
    for (size_t i = 0; i < count_of(rows); i++)
        winograd_case_check(&rows[i], reals, chain);
}

/* What is done after the sums: each on some rows. */
enum { CLIP, SUM, AFFINE, OPERANDS, EVERY = 2 };

static void check_some_rows(size_t number, const struct winograd_chain *chain)
{
    for (size_t i = 0; i < count_of(rows); i++)
        if (rounds_has(i, number, EVERY))
            winograd_case_check(&rows[i], false, chain);
}

static void errors_are_within_the_stated_bounds(void **state)
{
    (void)state;
    check_rows(true, &(struct winograd_chain){0});
    check_dilated_rows(true, &(struct winograd_chain){0});
}

/* Its matrices have no other fractions than powers of 2. */
static void tiles_of_2_are_exact_on_integers(void **state)
{
    (void)state;
    check_rows(false, &(struct winograd_chain){0});
    check_dilated_rows(false, &(struct winograd_chain){0});
}

static float clamp(float value, float old)
{
    (void)old;
    return value < -3 ? -3 : value > 20 ? 20 : value;
}

static float sum_linear(float value, float old)
{
    return 0.5f * (value + 2 * (old - 1)) + 3;
}

static float linear(float value, float old)
{
    (void)old;
    return 0.5f * value + 3;
}

static void post_operations_are_applied(void **state)
{
    (void)state;
    neo_attributes *clip, *sum, *affine;
    assert_int_equal(neo_attributes_create(&clip), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(clip, NEO_ELTWISE_CLIP, -3, 20), NEO_OK);
    assert_int_equal(neo_attributes_create(&sum), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(sum, 2, 1, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(sum, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    assert_int_equal(neo_attributes_create(&affine), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(affine, NEO_ELTWISE_LINEAR, 0.5f, 3), NEO_OK);
    check_some_rows(CLIP, &(struct winograd_chain){clip, clamp, NULL});
    check_some_rows(SUM, &(struct winograd_chain){sum, sum_linear, NULL});
    check_some_rows(AFFINE, &(struct winograd_chain){affine, linear, NULL});
    neo_attributes_destroy(clip);
    neo_attributes_destroy(sum);
    neo_attributes_destroy(affine);
}

static void operands_of_post_operations_are_read_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        if (!rounds_has(i, OPERANDS, EVERY))
            continue;
        neo_convolution_desc desc = winograd_case_desc(&rows[i]);
        struct operands operands = operands_make(engine, desc.dst.ndims, desc.dst.dims);
        winograd_case_check(&rows[i], false,
                            &(struct winograd_chain){operands.attributes, NULL, &operands});
        operands_free(&operands);
    }
}

/* ---- caches of other sizes ---- */

/* With few channels, so that products are few, enough of them at a point for one round of all
 * panels: tiles of several sizes, panels of two widths, several strips; of one dimension, of one
 * strip. */
static const struct winograd_case one_round[] = {
    {"33 x 33", 1, 48, 34, 33, 33, {1, 1}, {1, 1}, "nhwc", "nhwc", false, {0, 0}},
    {"3, one round", 1, 64, 44, 1, 420, {0, 1}, {0, 1}, "nwc", "nwc", false, {0, 3}},
};

static void blocks_for_small_caches_change_no_result(void **state)
{
    (void)state;
    static struct other_caches caches; /* a failure leaves the engine with it */
    other_caches_begin(&caches, 8 << 10, 64 << 10);
    for (size_t i = 0; i < count_of(one_round); i++)
        winograd_case_check(&one_round[i], true, &(struct winograd_chain){0});
    other_caches_end(&caches);
}

static size_t scratchpad_of(const struct winograd_case *row, int threads)
{
    neo_convolution_desc desc = winograd_case_desc(row);
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    assert_non_null(strstr(neo_primitive_desc_implementation(pd), "dilated_winograd"));
    size_t bytes = neo_primitive_desc_scratchpad_size(pd, threads);
    neo_primitive_desc_destroy(pd);
    return bytes;
}

/* Rows of planes are transposed there: the longer ones of src's and dst's. */
static void each_thread_has_a_line_for_dilated_planes(void **state)
{
    (void)state;
    enum { THREADS = 3, MORE = 48, WIDTH = 8 }; /* lines are whole parts of the scratchpad */
    static const neo_dim channels[][2] = {{16, MORE}, {MORE, 16}};
    for (size_t i = 0; i < count_of(channels); i++) {
        struct winograd_case row = {.name = "rate 2, nchw",
                                    .batch = 1,
                                    .ic = channels[i][0],
                                    .oc = channels[i][1],
                                    .height = 10,
                                    .width = WIDTH,
                                    .pad = {2, 2},
                                    .right = {2, 2},
                                    .src_tag = "nchw",
                                    .dst_tag = "nchw",
                                    .kernel = {3, 3, 1, 1}};
        size_t line = MORE * WIDTH * sizeof(float);
        size_t bytes = scratchpad_of(&row, THREADS);
        row.src_tag = row.dst_tag = "nhwc";
        assert_int_equal(bytes - scratchpad_of(&row, THREADS), THREADS * line);
    }
}

/* A reorder back would not give the weights that were packed. */
static void transformed_weights_are_not_given_back(void **state)
{
    (void)state;
    neo_convolution_desc desc = winograd_case_desc(&rows[0]);
    neo_primitive_desc *pd, *back;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    neo_memory_desc plain = tensor_desc(4, (neo_dim[]){4, 4, 3, 3}, "oihw");
    assert_int_equal(
        neo_reorder_primitive_desc_create(
            &back, engine, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), &plain, NULL),
        NEO_UNSUPPORTED);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_within_the_stated_bounds),
        cmocka_unit_test(tiles_of_2_are_exact_on_integers),
        cmocka_unit_test(post_operations_are_applied),
        cmocka_unit_test(operands_of_post_operations_are_read_where_they_belong),
        cmocka_unit_test(blocks_for_small_caches_change_no_result),
        cmocka_unit_test(each_thread_has_a_line_for_dilated_planes),
        cmocka_unit_test(transformed_weights_are_not_given_back),
    };
    return cmocka_run_group_tests_name("convolution_winograd", tests, session_setup,
                                       session_teardown);
}
