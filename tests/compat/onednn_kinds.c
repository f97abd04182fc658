/* oneDNN's kinds of primitives besides convolutions, and its products without descriptors, against
 * loops. */
#include "tests/compat/dnnl.h"

#include <math.h>
#include <string.h>

enum { BINARY_ADD = 0x1fff0, N = 2, C = 6, H = 4, W = 5, COUNT = N * C * H * W, MOST = 4 * COUNT };
static const neo_dim image[] = {N, C, H, W};
static float src[MOST], weights[MOST], third[MOST], dst[MOST];

struct argument {
    int arg;
    dnnl_memory_desc *md; /* destroyed after the run */
    void *data;
};

static void run(dnnl_primitive_desc *pd, const struct argument *arguments, int count)
{
    dnnl_primitive *primitive;
    dnnl_exec_arg given[5];
    memset(dst, 0xff, sizeof dst);
    ok(dnnl_primitive_create(&primitive, pd));
    for (int i = 0; i < count; i++) {
        given[i].arg = arguments[i].arg;
        ok(dnnl_memory_create(&given[i].memory, arguments[i].md, engine, arguments[i].data));
    }
    ok(dnnl_primitive_execute(primitive, stream, count, given));
    for (int i = 0; i < count; i++) {
        ok(dnnl_memory_destroy(given[i].memory));
        ok(dnnl_memory_desc_destroy(arguments[i].md));
    }
    ok(dnnl_primitive_destroy(primitive));
    ok(dnnl_primitive_desc_destroy(pd));
}

static int fill_all(void **state)
{
    (void)state;
    fill(src, MOST, 1);
    fill(weights, MOST, 2);
    fill(third, MOST, 3);
    return 0;
}

static void check_asked(const dnnl_primitive_desc *pd, int what, int index,
                        const dnnl_memory_desc *expected)
{
    const dnnl_memory_desc *md = dnnl_primitive_desc_query_md(pd, what, index);
    assert_true(dnnl_memory_desc_equal(md, expected));
}

static size_t at(size_t n, size_t c, size_t y, size_t x)
{
    return ((n * C + c) * H + y) * W + x;
}

/* ---- deconvolution: 3 x 3 taps, stride 2, padding 1 ---- */

enum { OC = 3, K = 3, OH = 2 * H - 1, OW = 2 * W - 1 };

static float deconvolved(size_t n, size_t o, size_t y, size_t x)
{
    float sum = 0;
    for (size_t i = 0; i < C; i++)
        for (size_t r = 0; r < K; r++)
            for (size_t s = 0; s < K; s++)
                if ((y + 1 - r) % 2 == 0 && (x + 1 - s) % 2 == 0 && y + 1 >= r && x + 1 >= s &&
                    (y + 1 - r) / 2 < H && (x + 1 - s) / 2 < W)
                    sum += src[at(n, i, (y + 1 - r) / 2, (x + 1 - s) / 2)] *
                           weights[((o * C + i) * K + r) * K + s];
    return sum;
}

static void deconvolutions_are_right(void **state)
{
    static const neo_dim to[] = {N, OC, OH, OW}, taps[] = {OC, C, K, K}, two[] = {2, 2},
                         one[] = {1, 1};
    dnnl_primitive_desc *pd;
    const neo_dim *strides;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_WEIGHTS, describe(4, taps, TAG_ABCD), weights},
                                   {NEO_ARG_DST, describe(4, to, TAG_ABCD), dst}};
    ok(dnnl_deconvolution_forward_primitive_desc_create(
        &pd, engine, PROP_INFERENCE, 0xa, arguments[0].md, arguments[1].md, NULL, arguments[2].md,
        two, NULL, one, one, NULL));
    ok(dnnl_primitive_desc_query(pd, QUERY_STRIDES, 0, &strides));
    assert_int_equal(strides[1], 2);
    run(pd, arguments, 3);
    for (size_t i = 0; i < N * OC * OH * OW; i++)
        assert_float_equal(
            dst[i], deconvolved(i / (OC * OH * OW), i / (OH * OW) % OC, i / OW % OH, i % OW), 0.0);
}

/* ---- a 1 x 1 convolution, and a depthwise one of 3 x 3 taps and stride 2 as its post-operation
 * ---- */

enum { S8 = 5, BETWEEN = 4, DW = NEO_ARG_ATTR_POST_OP_DW, DW_H = (H + 1) / 2, DW_W = (W + 1) / 2 };

static float pixel_between(size_t n, size_t o, size_t y, size_t x)
{
    float sum = 0;
    for (size_t i = 0; i < C; i++)
        sum += src[at(n, i, y, x)] * weights[o * C + i];
    return sum < 0 ? 0 : sum;
}

static float convolved_twice(size_t n, size_t o, size_t y, size_t x)
{
    float sum = 0;
    for (size_t r = 0; r < K; r++)
        for (size_t s = 0; s < K; s++)
            if (2 * y + r >= 1 && 2 * y + r <= H && 2 * x + s >= 1 && 2 * x + s <= W)
                sum +=
                    pixel_between(n, o, 2 * y + r - 1, 2 * x + s - 1) * third[(o * K + r) * K + s];
    return sum;
}

static dnnl_primitive_attr *depthwise_attributes(void)
{
    dnnl_primitive_attr *attr;
    dnnl_post_ops *post_ops;
    int type = 0, none = 1;
    neo_dim kernel, stride;
    ok(dnnl_primitive_attr_create(&attr));
    ok(dnnl_post_ops_create(&post_ops));
    ok(dnnl_post_ops_append_eltwise(post_ops, RELU, 0, 0));
    assert_int_not_equal(dnnl_post_ops_append_dw(post_ops, F32, 0, F32, 0, 1, 0), 0);
    ok(dnnl_post_ops_append_dw(post_ops, F32, 0, F32, K, 2, 1));
    ok(dnnl_post_ops_get_params_dw(post_ops, 1, &type, &none, NULL, &kernel, &stride, NULL));
    assert_true(type == F32 && none == 0 && kernel == K && stride == 2);
    assert_int_not_equal(
        dnnl_post_ops_get_params_dw(post_ops, 0, NULL, NULL, NULL, NULL, NULL, NULL), 0);
    ok(dnnl_primitive_attr_set_post_ops(attr, post_ops));
    ok(dnnl_post_ops_destroy(post_ops));
    return attr;
}

/* As the primitive wants them, in other: made of bytes by the reorder that packs them. */
static dnnl_memory_desc *pack_depthwise(const dnnl_primitive_desc *pd, float *other)
{
    static const neo_dim dims[] = {BETWEEN, 1, 1, K, K}, strides[] = {K * K, K * K, K * K, K, 1};
    static int8_t bytes[BETWEEN * K * K];
    dnnl_memory_desc *plain, *wanted;
    dnnl_primitive_desc *reorder;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (int8_t)third[i];
    ok(dnnl_memory_desc_create_with_strides(&plain, 5, dims, S8, strides));
    ok(dnnl_memory_desc_clone(
        &wanted, dnnl_primitive_desc_query_md(pd, QUERY_ARGUMENT, DW | NEO_ARG_WEIGHTS)));
    assert_in_range(dnnl_memory_desc_get_size(wanted), 1, MOST * sizeof *other);
    ok(dnnl_reorder_primitive_desc_create(&reorder, plain, engine, wanted, engine, NULL));
    dnnl_memory_desc *copy;
    ok(dnnl_memory_desc_clone(&copy, wanted));
    struct argument arguments[] = {{NEO_ARG_SRC, plain, bytes}, {NEO_ARG_DST, wanted, other}};
    run(reorder, arguments, 2);
    return copy;
}

static void depthwise_post_operations_are_right(void **state)
{
    static const neo_dim middle[] = {N, BETWEEN, H, W}, taps[] = {BETWEEN, C, 1, 1},
                         to[] = {N, BETWEEN, DW_H, DW_W}, one[] = {1, 1}, zero[] = {0, 0};
    static float packed[MOST];
    dnnl_primitive_desc *pd;
    (void)state;
    dnnl_primitive_attr *attr = depthwise_attributes();
    dnnl_memory_desc *image_between = describe(4, middle, TAG_ABCD);
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_WEIGHTS, describe(4, taps, TAG_ABCD), weights},
                                   {NEO_ARG_DST, describe(4, to, TAG_ABCD), dst},
                                   {DW | NEO_ARG_WEIGHTS, NULL, packed}};
    ok(dnnl_convolution_forward_primitive_desc_create(&pd, engine, PROP_INFERENCE, 1,
                                                      arguments[0].md, arguments[1].md, NULL,
                                                      image_between, one, zero, zero, zero, attr));
    check_asked(pd, QUERY_DST, 0, arguments[2].md);
    arguments[3].md = pack_depthwise(pd, packed);
    run(pd, arguments, 4);
    ok(dnnl_memory_desc_destroy(image_between));
    ok(dnnl_primitive_attr_destroy(attr));
    for (size_t i = 0; i < N * BETWEEN * DW_H * DW_W; i++)
        assert_float_equal(dst[i],
                           convolved_twice(i / (BETWEEN * DW_H * DW_W), i / (DW_H * DW_W) % BETWEEN,
                                           i / DW_W % DW_H, i % DW_W),
                           0.0);
}

/* ---- reduction of the columns ---- */

static float reduced(int algorithm, const float *row)
{
    float sum = 0, most = row[0];
    for (int i = 0; i < W; i++) {
        sum += row[i];
        most = row[i] > most ? row[i] : most;
    }
    return algorithm == 0x2fff2 ? most : algorithm == 0x2fff4 ? sum : sum / W;
}

static void reductions_are_right(void **state)
{
    static const int algorithms[] = {0x2fff2, 0x2fff4, 0x2fff6}; /* max, sum, mean */
    static const neo_dim to[] = {N, C, H, 1};
    (void)state;
    for (int i = 0; i < 3; i++) {
        dnnl_primitive_desc *pd;
        struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                       {NEO_ARG_DST, describe(4, to, TAG_ABCD), dst}};
        ok(dnnl_reduction_primitive_desc_create(&pd, engine, algorithms[i], arguments[0].md,
                                                arguments[1].md, 0, 0, NULL));
        run(pd, arguments, 2);
        for (size_t row = 0; row < COUNT / W; row++)
            assert_float_equal(dst[row], reduced(algorithms[i], &src[row * W]), 1e-6);
    }
}

/* ---- a slope for each channel; a choice for each element ---- */

static void prelu_is_right(void **state)
{
    static const neo_dim slopes[] = {1, C, 1, 1};
    dnnl_primitive_desc *pd;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_WEIGHTS, describe(4, slopes, TAG_ABCD), weights},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_prelu_forward_primitive_desc_create(&pd, engine, PROP_TRAINING, arguments[0].md,
                                                arguments[1].md, arguments[2].md, NULL));
    run(pd, arguments, 3);
    for (size_t i = 0; i < COUNT; i++)
        assert_float_equal(dst[i], src[i] > 0 ? src[i] : src[i] * weights[i / (H * W) % C], 0.0);
}

static void selections_are_right(void **state)
{
    dnnl_primitive_desc *pd;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_SRC_1, describe(4, image, TAG_ABCD), weights},
                                   {NEO_ARG_SRC_2, describe(4, image, TAG_ABCD), third},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_binary_primitive_desc_create_v2(&pd, engine, 0x1fffc, arguments[0].md, arguments[1].md,
                                            arguments[2].md, arguments[3].md, NULL));
    run(pd, arguments, 4);
    for (size_t i = 0; i < COUNT; i++)
        assert_float_equal(dst[i], third[i] != 0 ? src[i] : weights[i], 0.0);
}

/* ---- memory of another shape than the primitive's ---- */

static void vectors_are_added_to_rows(void **state)
{
    static const neo_dim row[] = {1, 1, 1, W}, width[] = {W};
    dnnl_primitive_desc *pd;
    dnnl_memory_desc *images = describe(4, image, TAG_ABCD), *rows = describe(4, row, TAG_ABCD);
    (void)state;
    ok(dnnl_binary_primitive_desc_create_v2(&pd, engine, BINARY_ADD, images, rows, NULL, images,
                                            NULL));
    ok(dnnl_memory_desc_destroy(rows));
    struct argument arguments[] = {{NEO_ARG_SRC, images, src},
                                   {NEO_ARG_SRC_1, describe(1, width, TAG_A), weights},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    run(pd, arguments, 3);
    for (size_t i = 0; i < COUNT; i++)
        assert_float_equal(dst[i], src[i] + weights[i % W], 0.0);
}

/* The same bytes, but other elements: one that is not is refused. */
static void memory_in_another_layout_is_refused(void **state)
{
    dnnl_primitive_desc *pd;
    dnnl_primitive *primitive;
    dnnl_memory_desc *first = describe(4, image, TAG_ABCD), *last = describe(4, image, TAG_ACDB);
    dnnl_exec_arg given[] = {{NEO_ARG_SRC, NULL}, {NEO_ARG_SRC_1, NULL}, {NEO_ARG_DST, NULL}};
    (void)state;
    ok(dnnl_binary_primitive_desc_create_v2(&pd, engine, BINARY_ADD, first, first, NULL, first,
                                            NULL));
    ok(dnnl_primitive_create(&primitive, pd));
    ok(dnnl_memory_create(&given[0].memory, first, engine, src));
    ok(dnnl_memory_create(&given[1].memory, last, engine, weights));
    ok(dnnl_memory_create(&given[2].memory, first, engine, dst));
    assert_int_equal(dnnl_primitive_execute(primitive, stream, 3, given), dnnl_invalid_arguments);
    for (int i = 0; i < 3; i++)
        ok(dnnl_memory_destroy(given[i].memory));
    ok(dnnl_memory_desc_destroy(first));
    ok(dnnl_memory_desc_destroy(last));
    ok(dnnl_primitive_destroy(primitive));
    ok(dnnl_primitive_desc_destroy(pd));
}

/* ---- elements that move ---- */

static void shuffles_are_right(void **state)
{
    enum { GROUP = 2 };
    dnnl_primitive_desc *pd;
    neo_dim group;
    int axis;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_shuffle_forward_primitive_desc_create(&pd, engine, PROP_INFERENCE, arguments[0].md,
                                                  arguments[1].md, 1, GROUP, NULL));
    ok(dnnl_primitive_desc_query(pd, QUERY_AXIS, 0, &axis));
    ok(dnnl_primitive_desc_query(pd, QUERY_GROUP_SIZE, 0, &group));
    assert_int_equal(axis, 1);
    assert_int_equal(group, GROUP);
    run(pd, arguments, 2);
    for (size_t n = 0; n < N; n++)
        for (size_t c = 0; c < C; c++)
            assert_float_equal(dst[at(n, c % GROUP * (C / GROUP) + c / GROUP, 1, 2)],
                               src[at(n, c, 1, 2)], 0.0);
}

/* The pixels of half the size are at (x - 0.5) / 2. */
static float between(const float *row, size_t x, int is_linear)
{
    float where = ((float)x - 0.5f) / 2;
    if (!is_linear)
        return row[x / 2];
    if (where < 0)
        return row[0];
    size_t left = (size_t)where, right = left + 1 < W ? left + 1 : left;
    float part = where - (float)left;
    return row[left] * (1 - part) + row[right] * part;
}

static void resampling_is_right(void **state)
{
    static const neo_dim to[] = {N, C, H, 2 * W};
    static const float factors[] = {1, 2};
    (void)state;
    for (int is_linear = 0; is_linear < 2; is_linear++) {
        dnnl_primitive_desc *pd;
        const float *kept;
        struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                       {NEO_ARG_DST, describe(4, to, TAG_ABCD), dst}};
        ok(dnnl_resampling_forward_primitive_desc_create(&pd, engine, PROP_INFERENCE,
                                                         0x2fff0 + is_linear, factors,
                                                         arguments[0].md, arguments[1].md, NULL));
        ok(dnnl_primitive_desc_query(pd, QUERY_FACTORS, 0, &kept));
        assert_float_equal(kept[1], 2, 0.0);
        run(pd, arguments, 2);
        for (size_t i = 0; i < 2 * COUNT; i++)
            assert_float_equal(dst[i], between(&src[i / (2 * W) * W], i % (2 * W), is_linear),
                               1e-6);
    }
}

/* ---- normalisation ---- */

/* Each run of so many elements has mean 0 and variance 1. */
static void check_normalized(size_t size)
{
    for (size_t first = 0; first < COUNT; first += size) {
        double sum = 0, squares = 0;
        for (size_t i = first; i < first + size; i++)
            sum += (double)src[i];
        for (size_t i = first; i < first + size; i++)
            squares += pow((double)src[i] - sum / (double)size, 2);
        double deviation = sqrt(squares / (double)size + 1e-3);
        for (size_t i = first; i < first + size; i++)
            assert_float_equal(dst[i], (float)(((double)src[i] - sum / (double)size) / deviation),
                               1e-5);
    }
}

static void group_normalisation_is_right(void **state)
{
    dnnl_primitive_desc *pd;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_group_normalization_forward_primitive_desc_create(
        &pd, engine, PROP_INFERENCE, arguments[0].md, arguments[1].md, 3, 1e-3f, 0, NULL));
    run(pd, arguments, 2);
    check_normalized(C / 3 * H * W);
}

static void layer_normalisation_is_right(void **state)
{
    dnnl_primitive_desc *pd;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_layer_normalization_forward_primitive_desc_create(
        &pd, engine, PROP_INFERENCE, arguments[0].md, arguments[1].md, NULL, 1e-3f, 0, NULL));
    run(pd, arguments, 2);
    check_normalized(W);
}

/* As PyTorch's to_mkldnn() has it: it asks for the weights' layout, by which scale is meant. */
static void batch_normalisation_is_right(void **state)
{
    enum { GIVEN = NEO_NORMALIZATION_USE_GLOBAL_STATS | NEO_NORMALIZATION_USE_SCALE };
    static const neo_dim channels[] = {C};
    float mean[C], variance[C], scale[C];
    dnnl_primitive_desc *pd;
    (void)state;
    for (int c = 0; c < C; c++) {
        mean[c] = (float)c;
        variance[c] = (float)(c + 1);
        scale[c] = (float)(2 - c);
    }
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst},
                                   {NEO_ARG_MEAN, describe(1, channels, TAG_A), mean},
                                   {NEO_ARG_VARIANCE, describe(1, channels, TAG_A), variance},
                                   {NEO_ARG_SCALE, describe(1, channels, TAG_A), scale}};
    ok(dnnl_batch_normalization_forward_primitive_desc_create(
        &pd, engine, PROP_INFERENCE, arguments[0].md, arguments[1].md, 1e-3f, GIVEN, NULL));
    check_asked(pd, QUERY_WEIGHTS, 0, arguments[4].md);
    check_asked(pd, QUERY_SRC, 1, arguments[2].md);
    check_asked(pd, QUERY_SRC, 2, arguments[3].md);
    check_asked(pd, QUERY_DST, 0, arguments[1].md);
    run(pd, arguments, 5);
    for (size_t c = 0; c < C; c++) {
        size_t i = at(1, c, 3, 2);
        float expected = (src[i] - mean[c]) / sqrtf(variance[c] + 1e-3f) * scale[c];
        assert_float_equal(dst[i], expected, 1e-5);
    }
}

static void lrn_is_right(void **state)
{
    enum { SIZE = 3 };
    dnnl_primitive_desc *pd;
    float alpha, beta, k;
    (void)state;
    struct argument arguments[] = {{NEO_ARG_SRC, describe(4, image, TAG_ABCD), src},
                                   {NEO_ARG_DST, describe(4, image, TAG_ABCD), dst}};
    ok(dnnl_lrn_forward_primitive_desc_create(&pd, engine, PROP_INFERENCE, 0xaff, arguments[0].md,
                                              arguments[1].md, SIZE, 0.5f, 0.75f, 2, NULL));
    ok(dnnl_primitive_desc_query(pd, QUERY_ALPHA, 0, &alpha));
    ok(dnnl_primitive_desc_query(pd, QUERY_BETA, 0, &beta));
    ok(dnnl_primitive_desc_query(pd, QUERY_K, 0, &k));
    assert_true(alpha == 0.5f && beta == 0.75f && k == 2);
    run(pd, arguments, 2);
    for (size_t c = 0; c < C; c++) {
        float squares = 0;
        for (size_t i = c ? c - 1 : 0; i <= c + 1 && i < C; i++)
            squares += src[at(1, i, 3, 2)] * src[at(1, i, 3, 2)];
        float expected = src[at(1, c, 3, 2)] * powf(2 + 0.5f / SIZE * squares, -0.75f);
        assert_float_equal(dst[at(1, c, 3, 2)], expected, 1e-5);
    }
}

/* ---- products: C is 5 x 7 in rows of 9, K is 6 ---- */

enum { GM = 5, GN = 7, GK = 6, LDA = 8, LDB = 10, LDC = 9 };

static double product_at(const double *a, const double *b, int transa, int transb, size_t i,
                         size_t j)
{
    double sum = 0;
    for (size_t p = 0; p < GK; p++)
        sum += a[transa ? p * LDA + i : i * LDA + p] * b[transb ? j * LDB + p : p * LDB + j];
    return sum;
}

static void sgemm_is_right(void **state)
{
    double a[8 * LDA], b[8 * LDB];
    (void)state;
    for (size_t i = 0; i < 8 * LDA; i++)
        a[i] = (double)src[i];
    for (size_t i = 0; i < 8 * LDB; i++)
        b[i] = (double)weights[i];
    for (int trans = 0; trans < 4; trans++) {
        fill(dst, GM * LDC, 4);
        ok(dnnl_sgemm(trans & 1 ? 'T' : 'n', trans & 2 ? 't' : 'N', GM, GN, GK, 2, src, LDA,
                      weights, LDB, 0.5f, dst, LDC));
        for (size_t i = 0; i < GM * LDC; i++) {
            float before[GM * LDC];
            fill(before, GM * LDC, 4);
            double expected = (double)before[i];
            if (i % LDC < GN)
                expected = 2 * product_at(a, b, trans & 1, trans & 2, i / LDC, i % LDC) +
                           0.5 * (double)before[i];
            assert_float_equal(dst[i], (float)expected, 0.0);
        }
    }
    assert_int_equal(dnnl_sgemm('x', 'N', GM, GN, GK, 1, src, LDA, weights, LDB, 0, dst, LDC),
                     dnnl_invalid_arguments);
    assert_int_equal(dnnl_sgemm('N', 'N', GM, GN, GK, 1, src, GK - 1, weights, LDB, 0, dst, LDC),
                     dnnl_invalid_arguments);
}

/* Sums beyond 2^24 are exact, and what does not fit is saturated. */
static void integer_products_are_right(void **state)
{
    static const int32_t offsets[] = {1 << 30, -3, 5, -7, 11, 2, 0};
    static const char kinds[] = {'F', 'c', 'R'};
    uint8_t unsigned_a[8 * LDA];
    int8_t signed_a[8 * LDA], b[8 * LDB];
    double wide_a[2][8 * LDA], wide_b[8 * LDB];
    (void)state;
    for (size_t i = 0; i < 8 * LDA; i++) {
        unsigned_a[i] = (uint8_t)(i * 37);
        signed_a[i] = (int8_t)unsigned_a[i];
        wide_a[0][i] = unsigned_a[i] - 3.0;
        wide_a[1][i] = signed_a[i] - 3.0;
    }
    for (size_t i = 0; i < 8 * LDB; i++) {
        b[i] = (int8_t)(i * 53);
        wide_b[i] = b[i] + 2.0;
    }
    for (int round = 0; round < 6; round++) {
        int32_t c[GM * LDC];
        char kind = kinds[round % 3];
        for (size_t i = 0; i < GM * LDC; i++)
            c[i] = (int32_t)((uint32_t)i << 26);
        if (round < 3)
            ok(dnnl_gemm_u8s8s32('N', 'T', kind, GM, GN, GK, 1, unsigned_a, LDA, 3, b, LDB, -2, 1,
                                 c, LDC, offsets));
        else
            ok(dnnl_gemm_s8s8s32('N', 'T', kind, GM, GN, GK, 1, signed_a, LDA, 3, b, LDB, -2, 1, c,
                                 LDC, offsets));
        for (size_t i = 0; i < GM * LDC; i++) {
            double expected = (double)(int32_t)((uint32_t)i << 26);
            size_t offset = kind == 'F' ? 0 : kind == 'c' ? i / LDC : i % LDC;
            if (i % LDC < GN)
                expected +=
                    product_at(wide_a[round / 3], wide_b, 0, 1, i / LDC, i % LDC) + offsets[offset];
            assert_int_equal(c[i], expected > INT32_MAX ? INT32_MAX : (int32_t)expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(deconvolutions_are_right, fill_all),
        cmocka_unit_test_setup(depthwise_post_operations_are_right, fill_all),
        cmocka_unit_test_setup(reductions_are_right, fill_all),
        cmocka_unit_test_setup(prelu_is_right, fill_all),
        cmocka_unit_test_setup(selections_are_right, fill_all),
        cmocka_unit_test_setup(vectors_are_added_to_rows, fill_all),
        cmocka_unit_test_setup(memory_in_another_layout_is_refused, fill_all),
        cmocka_unit_test_setup(shuffles_are_right, fill_all),
        cmocka_unit_test_setup(resampling_is_right, fill_all),
        cmocka_unit_test_setup(group_normalisation_is_right, fill_all),
        cmocka_unit_test_setup(layer_normalisation_is_right, fill_all),
        cmocka_unit_test_setup(batch_normalisation_is_right, fill_all),
        cmocka_unit_test_setup(lrn_is_right, fill_all),
        cmocka_unit_test_setup(sgemm_is_right, fill_all),
        cmocka_unit_test_setup(integer_products_are_right, fill_all),
    };
    return cmocka_run_group_tests(tests, create_engine, NULL);
}
