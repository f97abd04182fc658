/* Convolutions of every combination of types, with scales and zero points of every kind, by every
 * implementation that is offered, against the definition in double precision. Data are such that
 * each sum is exact in f32 in any order, so every result is one number. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { SRC, WEIGHTS, DST, SIDES, NDIMS = 4 };
enum { SCALES, ZEROS };

/* Scales or zero points, or none. */
struct values {
    int is_there, by_channel;
    neo_data_type type;
    struct typed typed;
};

struct problem {
    neo_dim groups, ic, oc; /* channels of a group */
    neo_dim in[2], out[2], kernel[2], stride[2], dilation[2], left[2], right[2], batch;
    neo_data_type types[SIDES], bias_type; /* undefined: no bias */
    const char *image_tag;
    struct values scales[SIDES], zeros[SIDES];
    struct typed sides[SIDES], bias;
    neo_attributes *attributes;
    int sum, relu;
};

static const int args[SIDES] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};

/* ---- the definition ---- */

static double value_of(const struct values *values, neo_dim channel, double otherwise)
{
    neo_dim at = values->by_channel ? channel : 0;
    return values->is_there ? typed_get(&values->typed, &at) : otherwise;
}

static double product_of(const struct problem *p, const neo_dim *out, neo_dim channel,
                         const neo_dim *tap)
{
    neo_dim group = out[1] / p->oc, at[NDIMS] = {out[0], group * p->ic + channel};
    for (int i = 0; i < 2; i++) {
        at[2 + i] = out[2 + i] * p->stride[i] - p->left[i] + tap[i] * (p->dilation[i] + 1);
        if (at[2 + i] < 0 || at[2 + i] >= p->in[i])
            return 0;
    }
    double a = typed_get(&p->sides[SRC], at) - value_of(&p->zeros[SRC], at[1], 0);
    double b =
        typed_get(&p->sides[WEIGHTS], (neo_dim[]){group, out[1] % p->oc, channel, tap[0], tap[1]});
    b -= value_of(&p->zeros[WEIGHTS], out[1], 0);
    return a * value_of(&p->scales[SRC], 0, 1) * b * value_of(&p->scales[WEIGHTS], out[1], 1);
}

static double want(const struct problem *p, const neo_dim *out, double old)
{
    double sum = p->bias_type ? typed_get(&p->bias, out + 1) : 0;
    neo_dim tap[2];
    for (neo_dim c = 0; c < p->ic; c++)
        for (tap[0] = 0; tap[0] < p->kernel[0]; tap[0]++)
            for (tap[1] = 0; tap[1] < p->kernel[1]; tap[1]++)
                sum += product_of(p, out, c, tap);
    if (p->sum)
        sum += 2 * old;
    if (p->relu && sum < 0)
        sum = 0;
    sum = sum / value_of(&p->scales[DST], out[1], 1) + value_of(&p->zeros[DST], out[1], 0);
    return typed_round(p->types[DST], sum);
}

/* ---- random problems ---- */

static neo_dim below(uint32_t *seed, uint32_t limit)
{
    return (fill_next(seed) >> 4) % limit;
}

static const neo_data_type floats[] = {NEO_F32, NEO_F16, NEO_BF16};
static const neo_data_type zero_types[] = {NEO_S32, NEO_S8, NEO_U8};
static const neo_data_type whole[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S32, NEO_S8, NEO_U8};

static void choose_space(struct problem *p, uint32_t *seed)
{
    for (int i = 0; i < 2; i++) {
        p->kernel[i] = 1 + below(seed, 3);
        p->stride[i] = 1 + below(seed, 2);
        p->dilation[i] = below(seed, 2);
        p->left[i] = below(seed, 3);
        p->right[i] = below(seed, 3);
        p->in[i] = 4 + below(seed, 6);
        neo_dim extent = (p->kernel[i] - 1) * (p->dilation[i] + 1) + 1;
        p->out[i] = (p->in[i] + p->left[i] + p->right[i] - extent) / p->stride[i] + 1;
    }
}

static void choose_values(struct values *values, int which, neo_dim channels, int may_differ,
                          uint32_t *seed)
{
    values->is_there = below(seed, 3) != 0;
    if (!values->is_there)
        return;
    values->by_channel = may_differ && below(seed, 2);
    neo_dim count = values->by_channel ? channels : 1;
    values->type = (which == SCALES ? floats : zero_types)[below(seed, 3)];
    values->typed = typed_make_tag(engine, values->type, 1, &count, "a");
    typed_fill(&values->typed, which == SCALES ? 0 : -3, which == SCALES ? 2 : 3, seed);
    for (neo_dim i = 0; which == SCALES && i < count; i++)
        typed_put(&values->typed, &i, ldexp(1, (int)typed_get(&values->typed, &i) - 1));
}

static void set_values(const struct problem *p, int side)
{
    int mask = side == WEIGHTS ? 3 : 2;
    const struct values *scales = &p->scales[side], *zeros = &p->zeros[side];
    if (scales->is_there)
        require(neo_attributes_set_scales(p->attributes, args[side], scales->by_channel ? mask : 0,
                                          0, NULL, scales->type) == NEO_OK);
    if (zeros->is_there)
        require(neo_attributes_set_zero_points(p->attributes, args[side],
                                               zeros->by_channel ? mask : 0, 0, NULL,
                                               zeros->type) == NEO_OK);
}

static void make(struct problem *p, uint32_t *seed)
{
    const neo_dim channels[SIDES] = {p->groups * p->ic, p->groups * p->oc, p->groups * p->oc};
    const neo_dim dims[SIDES][5] = {
        {p->batch, channels[SRC], p->in[0], p->in[1]},
        {p->groups, p->oc, p->ic, p->kernel[0], p->kernel[1]},
        {p->batch, channels[DST], p->out[0], p->out[1]},
    };
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    for (int side = 0; side < SIDES; side++) {
        p->sides[side] = typed_make_tag(engine, p->types[side], side == WEIGHTS ? 5 : NDIMS,
                                        dims[side], side == WEIGHTS ? "abcde" : p->image_tag);
        typed_fill(&p->sides[side], -3, 4, seed);
        choose_values(&p->scales[side], SCALES, channels[side], side != SRC, seed);
        choose_values(&p->zeros[side], ZEROS, channels[side], 1, seed);
        set_values(p, side);
    }
    if (p->bias_type) {
        p->bias = typed_make_tag(engine, p->bias_type, 1, &channels[DST], "a");
        typed_fill(&p->bias, -9, 9, seed);
    }
    if (p->sum)
        require(neo_attributes_append_sum(p->attributes, 2, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    if (p->relu)
        require(neo_attributes_append_eltwise(p->attributes, NEO_ELTWISE_RELU, 0, 0) == NEO_OK);
}

static struct problem random_problem(neo_data_type src, neo_data_type weights, uint32_t *seed)
{
    struct problem p = {
        .groups = 1 + below(seed, 3),
        .ic = below(seed, 3) ? 1 + below(seed, 9) : 16 * (1 + below(seed, 2)),
        .oc = 1 + below(seed, 14),
        .batch = 1 + below(seed, 2),
        .types = {src, weights, whole[below(seed, 6)]},
        .bias_type = below(seed, 2) ? whole[below(seed, 6)] : NEO_DATA_TYPE_UNDEF,
        .image_tag = below(seed, 2) ? "acdb" : "abcd",
        .sum = below(seed, 3) == 0,
        .relu = below(seed, 2) == 0,
    };
    choose_space(&p, seed);
    make(&p, seed);
    return p;
}

static void discard(struct problem *p)
{
    for (int side = 0; side < SIDES; side++) {
        typed_free(&p->sides[side]);
        if (p->scales[side].is_there)
            typed_free(&p->scales[side].typed);
        if (p->zeros[side].is_there)
            typed_free(&p->zeros[side].typed);
    }
    if (p->bias_type)
        typed_free(&p->bias);
    neo_attributes_destroy(p->attributes);
}

/* ---- running them ---- */

static void run(const neo_primitive_desc *pd, int count, const neo_exec_arg *list)
{
    neo_primitive *primitive;
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    require(neo_primitive_execute(primitive, stream, count, list) == NEO_OK);
    neo_primitive_destroy(primitive);
}

static int list_arguments(const struct problem *p, neo_memory *weights, neo_exec_arg *list)
{
    int count = 0;
    for (int side = 0; side < SIDES; side++) {
        list[count++] =
            (neo_exec_arg){args[side], side == WEIGHTS ? weights : p->sides[side].memory};
        if (p->scales[side].is_there)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_SCALES | args[side], p->scales[side].typed.memory};
        if (p->zeros[side].is_there)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_ZERO_POINTS | args[side], p->zeros[side].typed.memory};
    }
    if (p->bias_type)
        list[count++] = (neo_exec_arg){NEO_ARG_BIAS, p->bias.memory};
    return count;
}

static struct typed arranged_weights(const struct problem *p, const neo_memory_desc *desc)
{
    struct typed to = typed_make(engine, desc);
    neo_primitive_desc *pd;
    require(neo_reorder_primitive_desc_create(&pd, engine, &p->sides[WEIGHTS].desc, desc, NULL) ==
            NEO_OK);
    run(pd, 2, (neo_exec_arg[]){{NEO_ARG_SRC, p->sides[WEIGHTS].memory}, {NEO_ARG_DST, to.memory}});
    neo_primitive_desc_destroy(pd);
    return to;
}

/* dst holds 1 everywhere before. */
static void check_one(const struct problem *p, const neo_primitive_desc *pd)
{
    struct typed weights = arranged_weights(p, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    const struct typed *dst = &p->sides[DST];
    neo_exec_arg list[3 * SIDES + 1];
    neo_dim at[NDIMS] = {0};
    do
        typed_put(dst, at, 1);
    while (typed_next(NDIMS, dst->desc.dims, at));
    run(pd, list_arguments(p, weights.memory, list), list);
    do {
        double got = typed_get(dst, at), expected = want(p, at, 1);
        if (got == expected)
            continue;
        print_error("%s: %s by %s to %s, %d groups at %d,%d,%d,%d is %g, not %g\n",
                    neo_primitive_desc_algorithm(pd), neo_data_type_name(p->types[SRC]),
                    neo_data_type_name(p->types[WEIGHTS]), neo_data_type_name(p->types[DST]),
                    (int)p->groups, (int)at[0], (int)at[1], (int)at[2], (int)at[3], got, expected);
        fail();
    } while (typed_next(NDIMS, dst->desc.dims, at));
    typed_free(&weights);
}

static void check_all(const struct problem *p)
{
    neo_convolution_desc desc = {.src = p->sides[SRC].desc,
                                 .weights = p->sides[WEIGHTS].desc,
                                 .dst = p->sides[DST].desc,
                                 .prop_kind = NEO_FORWARD_INFERENCE,
                                 .algorithm = NEO_CONVOLUTION_DIRECT};
    desc.weights.format_kind = NEO_FORMAT_ANY;
    if (p->bias_type)
        desc.bias = p->bias.desc;
    memcpy(desc.strides, p->stride, sizeof p->stride);
    memcpy(desc.dilations, p->dilation, sizeof p->dilation);
    memcpy(desc.padding_left, p->left, sizeof p->left);
    memcpy(desc.padding_right, p->right, sizeof p->right);
    neo_primitive_desc *pd;
    require(neo_convolution_primitive_desc_create(&pd, engine, &desc, p->attributes) == NEO_OK);
    do
        check_one(p, pd);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void every_combination_is_exact(void **state)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8, NEO_U8};
    enum { ROUNDS = 8, FLOATS = 3 };
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t s = 0; s < count_of(types); s++)
        for (size_t w = s < FLOATS ? 0 : FLOATS; w < count_of(types); w++)
            for (int round = 0; round < ROUNDS; round++) {
                struct problem p = random_problem(types[s], types[w], &seed);
                check_all(&p);
                discard(&p);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_exact),
    };
    return cmocka_run_group_tests_name("types", tests, session_setup, session_teardown);
}
