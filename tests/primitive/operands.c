/* Operands of post-operations with scales and zero points of their own, and sums that read dst as
 * another type: in a product, a convolution and an element-wise function, each beside the same one
 * without attributes. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { N = 2, C = 21, H = 3, W = 5, NDIMS = 4 };
static const neo_dim image[NDIMS] = {N, C, H, W}, by_channel[NDIMS] = {1, C, 1, 1};
static const neo_dim by_pixel[NDIMS] = {N, 1, H, W};

/* An operation on an image of f32, of whatever layout, to one of another type. */
typedef neo_status create_fn(neo_primitive_desc **out, const neo_memory_desc *src,
                             const neo_memory_desc *weights, const neo_memory_desc *dst,
                             const neo_attributes *attributes);

static neo_status create_matmul(neo_primitive_desc **out, const neo_memory_desc *src,
                                const neo_memory_desc *weights, const neo_memory_desc *dst,
                                const neo_attributes *attributes)
{
    const neo_matmul_desc desc = {.src = *src, .weights = *weights, .dst = *dst};
    return neo_matmul_primitive_desc_create(out, engine, &desc, attributes);
}

static neo_status create_convolution(neo_primitive_desc **out, const neo_memory_desc *src,
                                     const neo_memory_desc *weights, const neo_memory_desc *dst,
                                     const neo_attributes *attributes)
{
    const neo_convolution_desc desc = {.prop_kind = NEO_FORWARD_INFERENCE,
                                       .src = *src,
                                       .weights = *weights,
                                       .dst = *dst,
                                       .strides = {1, 1}};
    return neo_convolution_primitive_desc_create(out, engine, &desc, attributes);
}

static neo_status create_eltwise(neo_primitive_desc **out, const neo_memory_desc *src,
                                 const neo_memory_desc *weights, const neo_memory_desc *dst,
                                 const neo_attributes *attributes)
{
    (void)weights;
    return neo_eltwise_primitive_desc_create(out, engine, NEO_FORWARD_INFERENCE, NEO_ELTWISE_ABS,
                                             src, dst, 0, 0, attributes);
}

static const struct kind {
    const char *name;
    create_fn *create;
    neo_dim weights[NDIMS];
    int inputs;
} kinds[] = {
    {"matmul", create_matmul, {N, C, W, W}, 2},
    {"convolution", create_convolution, {C, C, 1, 1}, 2},
    {"eltwise", create_eltwise, {1, 1, 1, 1}, 1},
};

static void run(const neo_primitive_desc *pd, int count, const neo_exec_arg *args)
{
    neo_primitive *primitive;
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, count, args), NEO_OK);
    neo_primitive_destroy(primitive);
}

static struct typed make(neo_data_type type, const neo_dim *dims, const char *tag, uint32_t *seed)
{
    struct typed made = typed_make_tag(engine, type, NDIMS, dims, tag);
    typed_fill(&made, -4, 4, seed);
    return made;
}

static struct typed make_line(neo_data_type type, neo_dim count, int low, uint32_t *seed)
{
    struct typed made = typed_make_tag(engine, type, 1, &count, "a");
    typed_fill(&made, low, 3, seed);
    return made;
}

/* Everything of one case; post-operations are an addition, a selection and a sum. */
struct chain {
    struct typed addend, scales, zero, other, other_scale, condition, dst, old;
    neo_attributes *attributes;
};

enum { ADD = NEO_ARG_ATTR_MULTIPLE_POST_OP(0), SELECT = NEO_ARG_ATTR_MULTIPLE_POST_OP(1) };

static struct chain make_chain(neo_data_type dst, const char *tag, uint32_t *seed)
{
    struct chain c = {
        .addend = make(NEO_S8, by_channel, "abcd", seed),
        .scales = make_line(NEO_BF16, C, 1, seed),
        .zero = make_line(NEO_S32, 1, -3, seed),
        .other = make(NEO_U8, by_pixel, "abcd", seed),
        .other_scale = make_line(NEO_F32, 1, 1, seed),
        .condition = make(NEO_S8, image, tag, seed),
        .dst = make(dst, image, tag, seed),
        .old = make(dst, image, tag, seed),
    };
    require(neo_attributes_create(&c.attributes) == NEO_OK);
    neo_attributes *a = c.attributes;
    require(neo_attributes_append_binary(a, NEO_BINARY_ADD, &c.addend.desc) == NEO_OK);
    require(neo_attributes_append_select(a, &c.other.desc, &c.condition.desc) == NEO_OK);
    require(neo_attributes_append_sum(a, 2, 1, dst == NEO_U8 ? NEO_S8 : dst) == NEO_OK);
    require(neo_attributes_set_scales(a, ADD | NEO_ARG_SRC_1, 1 << 1, 0, NULL, NEO_BF16) == NEO_OK);
    require(neo_attributes_set_zero_points(a, ADD | NEO_ARG_SRC_1, 0, 0, NULL, NEO_S32) == NEO_OK);
    require(neo_attributes_set_scales(a, SELECT | NEO_ARG_SRC_1, 0, 0, NULL, NEO_F32) == NEO_OK);
    return c;
}

static void free_chain(struct chain *c)
{
    struct typed *const all[] = {&c->addend,      &c->scales,    &c->zero, &c->other,
                                 &c->other_scale, &c->condition, &c->dst,  &c->old};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        typed_free(all[i]);
    neo_attributes_destroy(c->attributes);
}

/* The sum reads u8 as s8, and so values from 128 on as negative ones. */
static double old_of(const struct chain *c, const neo_dim *at)
{
    double old = typed_get(&c->old, at);
    return c->dst.desc.data_type == NEO_U8 && old > 127 ? old - 256 : old;
}

static double want(const struct chain *c, double x, const neo_dim *at)
{
    static const neo_dim first[] = {0};
    x += (typed_get(&c->addend, at) - typed_get(&c->zero, first)) * typed_get(&c->scales, at + 1);
    if (typed_get(&c->condition, at) == 0)
        x = typed_get(&c->other, at) * typed_get(&c->other_scale, first);
    x += 2 * (old_of(c, at) - 1);
    return typed_round(c->dst.desc.data_type, x);
}

static void check(const struct kind *kind, neo_data_type type, const char *tag)
{
    uint32_t seed = fill_seed();
    struct typed src = make(NEO_F32, image, tag, &seed);
    struct typed weights = make(NEO_F32, kind->weights, "abcd", &seed);
    struct typed plain = make(NEO_F32, image, tag, &seed);
    struct chain c = make_chain(type, tag, &seed);
    neo_primitive_desc *pd;
    neo_exec_arg args[] = {{NEO_ARG_DST, plain.memory},
                           {NEO_ARG_SRC, src.memory},
                           {NEO_ARG_WEIGHTS, weights.memory},
                           {ADD | NEO_ARG_SRC_1, c.addend.memory},
                           {ADD | NEO_ARG_SRC_1 | NEO_ARG_ATTR_SCALES, c.scales.memory},
                           {ADD | NEO_ARG_SRC_1 | NEO_ARG_ATTR_ZERO_POINTS, c.zero.memory},
                           {SELECT | NEO_ARG_SRC_1, c.other.memory},
                           {SELECT | NEO_ARG_SRC_1 | NEO_ARG_ATTR_SCALES, c.other_scale.memory},
                           {SELECT | NEO_ARG_SRC_2, c.condition.memory}};
    enum { ARGS = sizeof args / sizeof *args };
    require(kind->create(&pd, &src.desc, &weights.desc, &plain.desc, NULL) == NEO_OK);
    run(pd, 1 + kind->inputs, args);
    neo_primitive_desc_destroy(pd);
    memcpy(c.old.data, c.dst.data, neo_memory_desc_size(&c.dst.desc));
    args[0].memory = c.dst.memory;
    memmove(args + 1 + kind->inputs, args + 3, (ARGS - 3) * sizeof *args);
    assert_int_equal(kind->create(&pd, &src.desc, &weights.desc, &c.dst.desc, c.attributes),
                     NEO_OK);
    run(pd, ARGS - 2 + kind->inputs, args);
    neo_dim at[NDIMS] = {0};
    do {
        double got = typed_get(&c.dst, at), expected = want(&c, typed_get(&plain, at), at);
        if (got != expected)
            fail_msg("%s to %s: %g, not %g at %d,%d,%d,%d", kind->name, neo_data_type_name(type),
                     got, expected, (int)at[0], (int)at[1], (int)at[2], (int)at[3]);
    } while (typed_next(NDIMS, image, at));
    neo_primitive_desc_destroy(pd);
    free_chain(&c);
    typed_free(&src);
    typed_free(&weights);
    typed_free(&plain);
}

static void operands_have_scales(void **state)
{
    static const neo_data_type types[] = {NEO_F32, NEO_S8, NEO_U8, NEO_BF16};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            check(&kinds[k], types[t], "abcd");
            check(&kinds[k], types[t], "acdb");
        }
}

/* Of an operand that there is not, or that prelu has, and with a mask beyond its dimensions. */
static void values_for_no_operand(void **state)
{
    static const int wrong[][2] = {{ADD | NEO_ARG_SRC_1, 1 << NDIMS},
                                   {SELECT | NEO_ARG_SRC_1, 0},
                                   {ADD | NEO_ARG_SRC_2, 0},
                                   {ADD | NEO_ARG_WEIGHTS, 0}};
    neo_memory_desc desc = typed_desc(NDIMS, image, NEO_F32, "abcd");
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        neo_attributes *attributes;
        neo_primitive_desc *pd;
        require(neo_attributes_create(&attributes) == NEO_OK);
        require(neo_attributes_append_binary(attributes, NEO_BINARY_MUL, &desc) == NEO_OK);
        require(neo_attributes_set_scales(attributes, wrong[i][0], wrong[i][1], 0, NULL, NEO_F32) ==
                NEO_OK);
        assert_int_equal(create_eltwise(&pd, &desc, NULL, &desc, attributes), NEO_INVALID_ARGUMENT);
        neo_attributes_destroy(attributes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_have_scales),
        cmocka_unit_test(values_for_no_operand),
    };
    return cmocka_run_group_tests_name("operands", tests, session_setup, session_teardown);
}
