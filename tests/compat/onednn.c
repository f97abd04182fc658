/* A program of oneDNN's tutorial kind: what it creates, asks and executes, and what it gets. */
#include "tests/support/test.h"

#include "tests/compat/convolution.h"

/* With few pixels plain weights may be read as they lie, with more they are packed. */
static const neo_dim rows_of[] = {H, 1};

static void convolutions_are_right(void **state)
{
    static const int tags[] = {TAG_ABCD, TAG_ACDB};
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct convolution c;
        convolution_create_of(&c, rows_of[i / 4], tags[i % 2], i / 2 % 2, i);
        assert_int_equal(convolution_run(&c, c.weights), 0);
        convolution_destroy(&c);
    }
}

/* One weight at a time, since what is compared has to be all of them. */
static void check_changes(neo_dim rows, int tag)
{
    struct convolution c;
    convolution_create_of(&c, rows, tag, 0, 3);
    for (size_t i = 0; i < WEIGHTS_COUNT; i += 97) {
        assert_int_equal(convolution_run(&c, c.weights), 0);
        c.weights[i] += 1;
    }
    assert_int_equal(convolution_run(&c, c.weights), 0);
    convolution_destroy(&c);
}

static void changed_weights_are_noticed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        check_changes(rows_of[i], TAG_ABCD);
        check_changes(rows_of[i], TAG_ACDB);
    }
}

static void what_is_asked_is_answered(void **state)
{
    struct convolution c;
    const char *implementation;
    const neo_dim *padding, *strides;
    (void)state;
    convolution_create(&c, TAG_ACDB, 0, 0);
    ok(dnnl_primitive_desc_query(c.pd, QUERY_IMPLEMENTATION, 0, &implementation));
    assert_memory_equal(implementation, "neoprene:", 9);
    ok(dnnl_primitive_desc_query(c.pd, QUERY_PADDING_LEFT, 0, &padding));
    assert_int_equal(padding[0], 1);
    assert_true(
        dnnl_memory_desc_equal(dnnl_primitive_desc_query_md(c.pd, QUERY_WEIGHTS, 0), c.mds[1]));
    assert_true(dnnl_memory_desc_equal(
        dnnl_primitive_desc_query_md(c.pd, QUERY_ARGUMENT, NEO_ARG_DST), c.mds[3]));
    assert_int_equal(
        dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(c.pd, QUERY_SCRATCHPAD, 0)), 0);
    ok(dnnl_memory_desc_query(c.mds[0], QUERY_STRIDES, &strides));
    assert_int_equal(strides[1], 1);
    convolution_destroy(&c);
}

static void surplus_arguments_are_not_looked_at(void **state)
{
    static const int surplus[] = {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, NEO_ARG_SRC_1,
                                  NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_DST};
    static const int args[] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_BIAS, NEO_ARG_DST};
    struct convolution c;
    dnnl_exec_arg given[count_of(args) + count_of(surplus)];
    (void)state;
    convolution_create(&c, TAG_ABCD, 0, 0);
    void *const data[] = {c.src, c.weights, c.bias, c.dst};
    for (size_t i = 0; i < count_of(given); i++) {
        size_t own = i % count_of(args);
        given[i].arg = i < count_of(args) ? args[i] : surplus[own];
        ok(dnnl_memory_create(&given[i].memory, c.mds[own], engine, data[own]));
    }
    ok(dnnl_primitive_execute(c.primitive, stream, count_of(given), given));
    assert_int_equal(convolution_errors(&c), 0);
    for (size_t i = 0; i < count_of(given); i++)
        ok(dnnl_memory_destroy(given[i].memory));
    convolution_destroy(&c);
}

/* ---- inner product of images ---- */

enum { ROWS = 3, COLUMNS = IC * H * W, MANY = 70 };
static float images[MANY * COLUMNS], by_row[ROWS * COLUMNS], row_bias[ROWS], sums[MANY * ROWS];

static void inner_product(neo_dim count, int last)
{
    const neo_dim dims[4][4] = {{count, IC, H, W}, {ROWS, IC, H, W}, {ROWS}, {count, ROWS}};
    const int ndims[] = {4, 4, 1, 2};
    const int tags[] = {last ? TAG_ACDB : TAG_ABCD, last ? TAG_ACDB : TAG_ABCD, TAG_A, TAG_AB};
    void *data[] = {images, by_row, row_bias, sums};
    dnnl_memory_desc *mds[4];
    dnnl_primitive_desc *pd;
    dnnl_primitive *primitive;
    for (int i = 0; i < 4; i++)
        mds[i] = describe(ndims[i], dims[i], tags[i]);
    ok(dnnl_inner_product_forward_primitive_desc_create(&pd, engine, PROP_INFERENCE, mds[0], mds[1],
                                                        mds[2], mds[3], NULL));
    ok(dnnl_primitive_create(&primitive, pd));
    execute(primitive, mds, data);
    ok(dnnl_primitive_destroy(primitive));
    ok(dnnl_primitive_desc_destroy(pd));
    for (int i = 0; i < 4; i++)
        ok(dnnl_memory_desc_destroy(mds[i]));
}

/* Weights of few images are taken as they are, those of many are packed; the latter's change is
 * noticed. */
static void inner_products_of_images_are_right(void **state)
{
    (void)state;
    fill(images, MANY * COLUMNS, 6);
    fill(by_row, ROWS * COLUMNS, 7);
    fill(row_bias, ROWS, 8);
    for (int i = 0; i < 8; i++) {
        int count = i / 2 % 2 ? MANY : N;
        inner_product(count, i % 2);
        for (int n = 0; n < count; n++)
            for (int o = 0; o < ROWS; o++) {
                float sum = row_bias[o];
                for (int p = 0; p < COLUMNS; p++)
                    sum += images[n * COLUMNS + p] * by_row[o * COLUMNS + p];
                assert_float_equal(sums[n * ROWS + o], sum, 0.0);
            }
        by_row[i] += 1;
    }
}

/* ---- descriptors ---- */

/* Shape, strides, another shape, the strides that it has then; none where it cannot be. */
static const struct {
    int ndims, new_ndims;
    neo_dim dims[4], strides[4], new_dims[5], new_strides[5];
} reshapes[] = {
    {4, 5, {32, 1, 3, 3}, {9, 9, 3, 1}, {4, 8, 1, 3, 3}, {72, 9, 9, 3, 1}},
    {4, 2, {2, 3, 4, 5}, {60, 20, 5, 1}, {2, 60}, {60, 1}},
    {4, 2, {2, 3, 4, 5}, {60, 1, 15, 3}, {2, 60}, {0}},
    {2, 3, {6, 5}, {50, 10}, {2, 3, 5}, {150, 50, 10}},
    {3, 1, {1, 4, 1}, {9, 3, 7}, {4}, {3}},
};

static void reshaping_keeps_elements_where_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reshapes / sizeof *reshapes; i++) {
        dnnl_memory_desc *before, *after;
        const neo_dim *strides;
        ok(dnnl_memory_desc_create_with_strides(&before, reshapes[i].ndims, reshapes[i].dims, F32,
                                                reshapes[i].strides));
        dnnl_status status =
            dnnl_memory_desc_reshape(&after, before, reshapes[i].new_ndims, reshapes[i].new_dims);
        ok(dnnl_memory_desc_destroy(before));
        if (reshapes[i].new_strides[0] == 0) {
            assert_int_equal(status, dnnl_invalid_arguments);
            continue;
        }
        ok(status);
        ok(dnnl_memory_desc_query(after, QUERY_STRIDES, &strides));
        for (int d = 0; d < reshapes[i].new_ndims; d++)
            if (reshapes[i].new_dims[d] > 1)
                assert_int_equal(strides[d], reshapes[i].new_strides[d]);
        ok(dnnl_memory_desc_destroy(after));
    }
}

static void what_is_not_served_says_so(void **state)
{
    static const neo_dim dims[] = {16, 16};
    dnnl_memory_desc *md;
    (void)state;
    assert_int_equal(dnnl_lstm_forward_primitive_desc_create(), dnnl_unimplemented);
    assert_int_equal(dnnl_memory_desc_create_with_tag(&md, 2, dims, F32, 60), dnnl_unimplemented);
    assert_int_equal(dnnl_engine_create(&engine, 2, 0), dnnl_invalid_arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_right),
        cmocka_unit_test(changed_weights_are_noticed),
        cmocka_unit_test(what_is_asked_is_answered),
        cmocka_unit_test(surplus_arguments_are_not_looked_at),
        cmocka_unit_test(inner_products_of_images_are_right),
        cmocka_unit_test(reshaping_keeps_elements_where_they_are),
        cmocka_unit_test(what_is_not_served_says_so),
    };
    return cmocka_run_group_tests(tests, create_engine, NULL);
}
