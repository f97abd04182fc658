/* Deconvolution: one to three dimensions, strides, dilation, padding, groups, types, layouts. */
#include "tests/support/test.h"

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static const neo_deconvolution_desc *deconvolution_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    neo_deconvolution_desc desc = *deconvolution_of(row);
    desc.src = row->tensors[0].desc; /* whose sizes may be known later */
    desc.weights = row->tensors[1].desc;
    desc.dst = row->tensors[2].desc;
    desc.bias = row->tensors[3].desc; /* absent where that is not set */
    return neo_deconvolution_primitive_desc_create(out, on, &desc, attributes);
}

/* The pixel of src that a tap is at, or false: there is none. */
static bool locate(const neo_deconvolution_desc *p, const neo_dim *position, const neo_dim *tap,
                   neo_dim *at)
{
    for (int i = 0; i < p->src.ndims - 2; i++) {
        neo_dim x = position[2 + i] + p->padding_left[i] - tap[i] * (p->dilations[i] + 1);
        if (x < 0 || x % p->strides[i] || x / p->strides[i] >= p->src.dims[2 + i])
            return false;
        at[2 + i] = x / p->strides[i];
    }
    return true;
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const neo_deconvolution_desc *p = deconvolution_of(row);
    const neo_memory_desc *weights = &p->weights;
    int first = weights->ndims - p->dst.ndims, space = p->dst.ndims - 2;
    neo_dim oc = weights->dims[first], ic = weights->dims[first + 1];
    neo_dim at[5] = {position[0]}, in_weights[6], tap[3] = {0};
    double sum = row->count == 4 ? typed_get(&t[3], &position[1]) : 0;
    (void)output;
    do {
        if (!locate(p, position, tap, at))
            continue;
        in_weights[0] = position[1] / oc;
        in_weights[first] = position[1] % oc;
        for (int i = 0; i < space; i++)
            in_weights[first + 2 + i] = tap[i];
        for (neo_dim c = 0; c < ic; c++) {
            at[1] = position[1] / oc * ic + c;
            in_weights[first + 1] = c;
            sum += typed_get(&t[0], at) * typed_get(&t[1], in_weights);
        }
    } while (typed_next(space, weights->dims + first + 2, tap));
    return sum;
}

struct shape {
    int space;
    neo_dim groups, ic, oc, in[3], kernel[3], stride[3], dilation[3], left[3], right[3];
};

static const struct shape shapes[] = {
    {2, 1, 3, 5, {4, 5}, {3, 3}, {2, 2}, {0}, {1, 1}, {1, 0}},
    {2, 1, 4, 2, {3, 3}, {2, 2}, {2, 2}, {0}, {0}, {0}},
    {2, 2, 2, 3, {4, 3}, {3, 2}, {1, 1}, {1, 0}, {1, 1}, {0, -1}},
    {1, 1, 5, 4, {6}, {4}, {3}, {0}, {2}, {1}},
    {3, 1, 2, 3, {2, 3, 2}, {2, 2, 3}, {1, 2, 2}, {0}, {0, 1, 0}, {0}},
    {1, 5, 1, 1, {7}, {3}, {2}, {1}, {0}, {2}},
};

static neo_dim size_of(const struct shape *s, int i)
{
    return (s->in[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * (s->dilation[i] + 1) + 1 -
           s->left[i] - s->right[i];
}

static void check(const struct shape *s, const neo_data_type types[3], const char *const tags[3],
                  neo_dim gap, bool has_bias)
{
    neo_dim src[5] = {2, s->groups * s->ic}, dst[5] = {2, s->groups * s->oc}, weights[6];
    int first = s->groups > 1, count = 0;
    neo_deconvolution_desc p = {.prop_kind = NEO_FORWARD_INFERENCE};
    if (first)
        weights[count++] = s->groups;
    weights[count++] = s->oc;
    weights[count++] = s->ic;
    for (int i = 0; i < s->space; i++) {
        src[2 + i] = s->in[i];
        dst[2 + i] = size_of(s, i);
        weights[count++] = s->kernel[i];
        p.strides[i] = s->stride[i];
        p.dilations[i] = s->dilation[i];
        p.padding_left[i] = s->left[i];
        p.padding_right[i] = s->right[i];
    }
    p.src = typed_gaps(2 + s->space, src, types[0], tags[0], gap);
    p.weights = typed_desc(count, weights, types[1], tags[2]);
    p.dst = typed_gaps(2 + s->space, dst, types[2], tags[1], gap);
    if (has_bias)
        p.bias = typed_desc(1, &dst[1], NEO_F32, "a");
    struct operation_case row = {.name = "deconvolution",
                                 .create = create,
                                 .want = want,
                                 .context = &p,
                                 .count = has_bias ? 4 : 3,
                                 .error = 1e-6,
                                 .known = {1 << 1, ALL_KNOWN, 1 << 1, ALL_KNOWN},
                                 .in_place = -1};
    row.tensors[0] = (struct operation_tensor){NEO_ARG_SRC, p.src, false};
    row.tensors[1] = (struct operation_tensor){NEO_ARG_WEIGHTS, p.weights, false};
    row.tensors[2] = (struct operation_tensor){NEO_ARG_DST, p.dst, true};
    row.tensors[3] = (struct operation_tensor){NEO_ARG_BIAS, p.bias, false};
    operation_case_check(&row);
}

static void every_shape_type_and_layout(void **state)
{
    static const neo_data_type types[][3] = {{NEO_F32, NEO_F32, NEO_F32},
                                             {NEO_BF16, NEO_BF16, NEO_BF16},
                                             {NEO_U8, NEO_S8, NEO_F32},
                                             {NEO_S8, NEO_S8, NEO_S8}};
    static const char *const rows[] = {"abc", "abcd", "abcde", "abcdef"};
    static const char *const last[] = {"acb", "acdb", "acdeb", "acdefb"};
    static const char *const images_last[] = {"bca", "bcda", "bcdea"};
    (void)state;
    for (size_t i = 0; i < count_of(shapes); i++)
        for (size_t j = 0; j < 9; j++) {
            int kind = shapes[i].space - 1, weights = kind + (shapes[i].groups > 1);
            const char *const tags[] = {j % 2 ? rows[kind] : last[kind],
                                        j == 8      ? images_last[kind]
                                        : j / 2 % 2 ? rows[kind]
                                                    : last[kind],
                                        j / 4 ? "any" : rows[weights]};
            check(&shapes[i], types[(i + j) % count_of(types)], tags, j % 3 == 1, j % 2);
        }
}

/* dst of a 3x3 deconvolution of stride 2; weights and what src stands for are always the same.
 * Integers have a scale and a zero point, if that is not 0, and `more` in each next channel. */
static void deconvolve(neo_data_type type, const char *tag, int32_t zero_point, int32_t more,
                       struct typed *dst)
{
    const neo_dim image[] = {2, 6, 4, 5}, kernel[] = {2, 2, 3, 3, 3}, one = 1;
    const double scale = 0.5;
    uint32_t seed = 5;
    neo_deconvolution_desc p = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(4, image, type, tag),
        .weights = typed_desc(5, kernel, NEO_S8, "abcde"),
        .dst = dst->desc,
        .strides = {2, 2},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    if (type == NEO_F32)
        p.weights.data_type = NEO_F32;
    struct typed src = typed_make(engine, &p.src), weights = typed_make(engine, &p.weights);
    struct typed zero = typed_make_tag(engine, NEO_S32, 1, more ? &image[1] : &one, "a");
    struct typed scales = typed_make_tag(engine, NEO_F32, 1, &one, "a");
    typed_fill(&src, 1, 9, &seed);
    typed_fill(&weights, -4, 4, &seed);
    for (neo_dim c = 0; c < zero.desc.dims[0]; c++)
        typed_put(&zero, &c, (double)(zero_point + (int32_t)c * more));
    typed_put(&scales, (neo_dim[]){0}, scale);
    neo_dim at[5] = {0};
    do
        typed_put(&src, at,
                  zero_point ? typed_get(&src, at) + zero_point + (int32_t)at[1] * more - 5
                             : (typed_get(&src, at) - 5) * scale);
    while (typed_next(4, image, at));
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    if (zero_point) {
        assert_int_equal(
            neo_attributes_set_zero_points(attributes, NEO_ARG_SRC, more ? 2 : 0, 0, NULL, NEO_S32),
            NEO_OK);
        assert_int_equal(neo_attributes_set_scales(attributes, NEO_ARG_SRC, 0, 0, NULL, NEO_F32),
                         NEO_OK);
    }
    assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &p, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory},
                                 {NEO_ARG_WEIGHTS, weights.memory},
                                 {NEO_ARG_DST, dst->memory},
                                 {NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_SRC, zero.memory},
                                 {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, scales.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, zero_point ? 5 : 3, args), NEO_OK);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    typed_free(&scales);
    typed_free(&zero);
    typed_free(&weights);
    typed_free(&src);
}

/* Pixels with a zero point are worth what the same floats without one are, in the padding too. */
static void src_has_a_zero_point(void **state)
{
    static const neo_dim image[] = {2, 4, 7, 9};
    static const char *const tags[] = {"abcd", "acdb"};
    struct typed want = typed_make_tag(engine, NEO_F32, 4, image, "abcd");
    size_t bytes = neo_memory_desc_size(&want.desc);
    (void)state;
    deconvolve(NEO_F32, "abcd", 0, 0, &want);
    for (size_t i = 0; i < count_of(tags); i++) {
        struct typed got = typed_make(engine, &want.desc);
        for (int32_t more = 0; more < 5; more += 4) {
            deconvolve(NEO_U8, tags[i], 128, more, &got);
            assert_memory_equal(got.data, want.data, bytes);
            deconvolve(NEO_S8, tags[i], -7, more, &got);
            assert_memory_equal(got.data, want.data, bytes);
        }
        typed_free(&got);
    }
    typed_free(&want);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    const neo_deconvolution_desc right = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(3, (neo_dim[]){1, 2, 4}, NEO_F32, "abc"),
        .weights = typed_desc(3, (neo_dim[]){3, 2, 3}, NEO_F32, "abc"),
        .dst = typed_desc(3, (neo_dim[]){1, 3, 9}, NEO_F32, "abc"),
        .strides = {2},
    };
    neo_deconvolution_desc wrong[6];
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        wrong[i] = right;
    wrong[0].strides[0] = 0;
    wrong[1].dst.dims[2] = 8;
    wrong[2].weights.dims[0] = 2;
    wrong[3].dilations[0] = -1;
    wrong[4].dst.dims[0] = 2;
    wrong[5].bias = typed_desc(1, (neo_dim[]){2}, NEO_F32, "a");
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &wrong[i], NULL),
                         NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &right, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* Likely sizes are right for whatever padding and strides. */
static void channels_and_weights_are_known_early(void **state)
{
    static const neo_dim paddings[] = {0, -3, 2, 40, 1000};
    neo_primitive_desc *pd;
    neo_deconvolution_desc late = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(3, (neo_dim[]){NEO_RUNTIME_DIM, 2, NEO_RUNTIME_DIM}, NEO_F32, "any"),
        .weights = typed_desc(3, (neo_dim[]){3, 2, 3}, NEO_F32, "any"),
        .dst = typed_desc(3, (neo_dim[]){NEO_RUNTIME_DIM, 3, NEO_RUNTIME_DIM}, NEO_F32, "any"),
        .strides = {3},
    };
    (void)state;
    for (size_t i = 0; i < count_of(paddings); i++)
        for (int known = 0; known < 2; known++) {
            late.padding_left[0] = paddings[i];
            late.dst.dims[2] = known ? 5 : NEO_RUNTIME_DIM;
            assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &late, NULL),
                             NEO_OK);
            neo_primitive_desc_destroy(pd);
        }
    neo_attributes *users;
    assert_int_equal(neo_attributes_create(&users), NEO_OK);
    neo_attributes_set_scratchpad_mode(users, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &late, users),
                     NEO_UNSUPPORTED);
    neo_attributes_destroy(users);
    late.src.dims[1] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &late, NULL),
                     NEO_UNSUPPORTED);
    late.src.dims[1] = 2, late.weights.dims[2] = NEO_RUNTIME_DIM;
    assert_int_equal(neo_deconvolution_primitive_desc_create(&pd, engine, &late, NULL),
                     NEO_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_type_and_layout),
        cmocka_unit_test(src_has_a_zero_point),
        cmocka_unit_test(refuses),
        cmocka_unit_test(channels_and_weights_are_known_early),
    };
    return cmocka_run_group_tests_name("deconvolution", tests, session_setup, session_teardown);
}
