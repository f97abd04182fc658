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

enum { SRC, WEIGHTS, DST, SIDES, MOST_SPACE = 3, NDIMS = 2 + MOST_SPACE };
enum { SCALES, ZEROS };

/* Scales or zero points, or none. */
struct values {
    int is_there, by_channel;
    neo_data_type type;
    struct typed typed;
};

struct problem {
    neo_dim groups, ic, oc; /* channels of a group */
    int space;              /* dimensions of it; of the others, sizes are 1 */
    neo_dim in[MOST_SPACE], out[MOST_SPACE], kernel[MOST_SPACE], stride[MOST_SPACE];
    neo_dim dilation[MOST_SPACE], left[MOST_SPACE], right[MOST_SPACE], batch;
    neo_data_type types[SIDES], bias_type; /* undefined: no bias */
    bool channels_last;
    struct values scales[SIDES], zeros[SIDES];
    struct typed sides[SIDES], bias;
    neo_attributes *attributes;
    int sum, relu;
    bool extreme; /* the largest values there are; sums wrap as s32 */
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
    for (int i = 0; i < p->space; i++) {
        at[2 + i] = out[2 + i] * p->stride[i] - p->left[i] + tap[i] * (p->dilation[i] + 1);
        if (at[2 + i] < 0 || at[2 + i] >= p->in[i])
            return 0;
    }
    double a = typed_get(&p->sides[SRC], at) - value_of(&p->zeros[SRC], at[1], 0);
    double b = typed_get(&p->sides[WEIGHTS],
                         (neo_dim[]){group, out[1] % p->oc, channel, tap[0], tap[1], tap[2]});
    b -= value_of(&p->zeros[WEIGHTS], out[1], 0);
    return a * value_of(&p->scales[SRC], 0, 1) * b * value_of(&p->scales[WEIGHTS], out[1], 1);
}

static double want(const struct problem *p, const neo_dim *out, double old)
{
    double sum = p->bias_type ? typed_get(&p->bias, out + 1) : 0;
    for (neo_dim c = 0; c < p->ic; c++) {
        neo_dim tap[MOST_SPACE] = {0};
        do
            sum += product_of(p, out, c, tap);
        while (typed_next(p->space, p->kernel, tap));
    }
    if (p->extreme)
        sum = (double)(float)(int32_t)(uint32_t)(int64_t)sum;
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
    for (int i = 0; i < MOST_SPACE; i++)
        p->in[i] = p->out[i] = p->kernel[i] = p->stride[i] = 1;
    for (int i = 0; i < p->space; i++) {
        p->kernel[i] = 1 + below(seed, p->ic == 1 && p->space < 3 ? 5 : 3);
        p->stride[i] = 1 + below(seed, 2);
        p->dilation[i] = below(seed, 2);
        p->left[i] = below(seed, 3);
        p->right[i] = below(seed, 3);
        p->in[i] = (p->kernel[i] < 4 ? 5 : 9) + below(seed, p->space < 3 ? 5 : 2);
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

static neo_dim channels_of(const struct problem *p, int side)
{
    return p->groups * (side == SRC ? p->ic : p->oc);
}

static void make_tensors(struct problem *p)
{
    static const char *const images[2][MOST_SPACE] = {{"abc", "abcd", "abcde"}, /* by space */
                                                      {"acb", "acdb", "acdeb"}};
    static const char *const weights[MOST_SPACE] = {"abcd", "abcde", "abcdef"};
    neo_dim dims[SIDES][NEO_MAX_NDIMS] = {{p->batch, channels_of(p, SRC)},
                                          {p->groups, p->oc, p->ic},
                                          {p->batch, channels_of(p, DST)}};
    memcpy(dims[SRC] + 2, p->in, sizeof p->in);
    memcpy(dims[WEIGHTS] + 3, p->kernel, sizeof p->kernel);
    memcpy(dims[DST] + 2, p->out, sizeof p->out);
    for (int side = 0; side < SIDES; side++) {
        bool is_image = side != WEIGHTS;
        const char *tag = is_image ? images[p->channels_last][p->space - 1] : weights[p->space - 1];
        p->sides[side] =
            typed_make_tag(engine, p->types[side], p->space + (is_image ? 2 : 3), dims[side], tag);
    }
}

static void make(struct problem *p, uint32_t *seed)
{
    neo_dim channels = channels_of(p, DST);
    make_tensors(p);
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    for (int side = 0; side < SIDES; side++) {
        typed_fill(&p->sides[side], -3, 4, seed);
        choose_values(&p->scales[side], SCALES, channels_of(p, side), side != SRC, seed);
        choose_values(&p->zeros[side], ZEROS, channels_of(p, side), 1, seed);
        set_values(p, side);
    }
    if (p->bias_type) {
        p->bias = typed_make_tag(engine, p->bias_type, 1, &channels, "a");
        typed_fill(&p->bias, -9, 9, seed);
    }
    if (p->ic == 1 && p->types[WEIGHTS] == NEO_F16) /* exact, too: sums are below 2048 */
        require(neo_attributes_set_accumulation_mode(p->attributes, NEO_ACCUMULATION_F16) ==
                NEO_OK);
    if (p->sum)
        require(neo_attributes_append_sum(p->attributes, 2, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    if (p->relu)
        require(neo_attributes_append_eltwise(p->attributes, NEO_ELTWISE_RELU, 0, 0) == NEO_OK);
}

/* Each element the lowest or the highest one of its type, mostly the lowest. */
static void fill_extremes(const struct typed *typed, uint32_t *seed)
{
    neo_dim at[NEO_MAX_NDIMS] = {0};
    double low = typed->desc.data_type == NEO_U8 ? 0 : -128;
    do
        typed_put(typed, at, below(seed, 4) ? low : low + 255);
    while (typed_next(typed->desc.ndims, typed->desc.dims, at));
}

static void make_extreme_zeros(struct problem *p, int side, uint32_t *seed)
{
    struct values *zeros = &p->zeros[side];
    static const neo_dim one = 1;
    static const double far[] = {-128, 127, 255, -300, 1000000007};
    zeros->is_there = below(seed, 2) != 0;
    if (!zeros->is_there)
        return;
    zeros->typed = typed_make_tag(engine, NEO_S32, 1, &one, "a");
    zeros->type = NEO_S32;
    typed_put(&zeros->typed, (neo_dim[]){0}, far[below(seed, 5)]);
    set_values(p, side);
}

/* Integers alone: what is summed, and to which type results go. */
static void make_extreme(struct problem *p, uint32_t *seed)
{
    p->extreme = true;
    make_tensors(p);
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    for (int side = SRC; side <= WEIGHTS; side++) {
        fill_extremes(&p->sides[side], seed);
        make_extreme_zeros(p, side, seed);
    }
}

/* Every second one is depthwise. */
static struct problem random_problem(neo_data_type src, neo_data_type weights, uint32_t *seed)
{
    bool depthwise = below(seed, 2);
    struct problem p = {
        .space = 1 + (int)below(seed, MOST_SPACE),
        .groups = depthwise ? 1 + below(seed, below(seed, 2) ? 20 : 80) : 1 + below(seed, 3),
        .ic = depthwise        ? 1
              : below(seed, 3) ? 1 + below(seed, 9)
                               : 16 * (1 + below(seed, 2)),
        .oc = depthwise ? 1 + (below(seed, 4) == 0) : 1 + below(seed, 14),
        .batch = 1 + (below(seed, 4) == 0),
        .types = {src, weights, whole[below(seed, 6)]},
        .bias_type = below(seed, 2) ? whole[below(seed, 6)] : NEO_DATA_TYPE_UNDEF,
        .channels_last = below(seed, 3) != 0,
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
    typed_reorder(engine, stream, &p->sides[WEIGHTS], &to);
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
    while (typed_next(dst->desc.ndims, dst->desc.dims, at));
    typed_run(stream, pd, list_arguments(p, weights.memory, list), list);
    do {
        double got = typed_get(dst, at), expected = want(p, at, 1);
        if (got == expected || (isnan(got) && isnan(expected)))
            continue;
        print_error("%s: %s by %s to %s, %d groups of %d by %d at %d,%d,%d,%d,%d is %g, not "
                    "%g\n",
                    neo_primitive_desc_algorithm(pd), neo_data_type_name(p->types[SRC]),
                    neo_data_type_name(p->types[WEIGHTS]), neo_data_type_name(p->types[DST]),
                    (int)p->groups, (int)p->ic, (int)p->oc, (int)at[0], (int)at[1], (int)at[2],
                    (int)at[3], (int)at[4], got, expected);
        fail();
    } while (typed_next(dst->desc.ndims, dst->desc.dims, at));
    typed_free(&weights);
}

/* By every implementation that is offered. */
static void check_offered(const struct problem *p, const neo_convolution_desc *desc)
{
    neo_primitive_desc *pd;
    require(neo_convolution_primitive_desc_create(&pd, engine, desc, p->attributes) == NEO_OK);
    do
        check_one(p, pd);
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
}

/* Depthwise with plain weights, too: in the order that they are given in, or by lines of channels.
 */
static void check_all(const struct problem *p)
{
    static const char *const lines[] = {"dabc", "deabc", "defabc"};
    const neo_memory_desc *weights = &p->sides[WEIGHTS].desc;
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
    check_offered(p, &desc);
    if (p->ic > 1)
        return;
    desc.weights = *weights;
    if (p->in[0] % 2)
        desc.weights = typed_desc(weights->ndims, weights->dims, weights->data_type,
                                  lines[weights->ndims - 4]);
    check_offered(p, &desc);
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

/* -128 by -128 next to each other, zero points that no element has, and padding by them: the same
 * bits by every implementation. */
static void sums_of_extremes_wrap(void **state)
{
    static const neo_data_type bytes[] = {NEO_S8, NEO_U8}, to[] = {NEO_S32, NEO_F32, NEO_S8};
    enum { ROUNDS = 24 };
    uint32_t seed = fill_seed();
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct problem p = {
            .space = 1 + (int)below(&seed, MOST_SPACE),
            .groups = 1 + below(&seed, 40),
            .ic = 1,
            .oc = 1,
            .batch = 1,
            .types = {bytes[below(&seed, 2)], bytes[below(&seed, 2)], to[below(&seed, 3)]},
            .channels_last = below(&seed, 2)};
        if (below(&seed, 2))
            p.groups = 1 + below(&seed, 2), p.ic = 1 + below(&seed, 40), p.oc = 1 + below(&seed, 9);
        choose_space(&p, &seed);
        make_extreme(&p, &seed);
        check_all(&p);
        discard(&p);
    }
}

/* Floats of 16 bits to f32, of one problem that is depthwise and one that is not. */
static struct problem short_floats(neo_data_type type, int round, uint32_t *seed)
{
    struct problem p = {.space = 2,
                        .groups = round % 2 ? 19 : 1,
                        .ic = round % 2 ? 1 : 5,
                        .oc = round % 2 ? 1 : 6,
                        .batch = 1,
                        .types = {type, type, NEO_F32},
                        .channels_last = round / 2 % 2};
    choose_space(&p, seed);
    make_tensors(&p);
    require(neo_attributes_create(&p.attributes) == NEO_OK);
    typed_fill(&p.sides[SRC], -3, 3, seed);
    typed_fill(&p.sides[WEIGHTS], 1, 3, seed);
    return p;
}

/* What an infinity or a NaN reaches has one, and nothing else does. */
static void values_that_are_no_numbers_stay_where_they_are(void **state)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < 2 * 4 * count_of(values); i++) {
        struct problem p = short_floats(i % 2 ? NEO_F16 : NEO_BF16, (int)(i / 2 % 4), &seed);
        neo_dim at[NDIMS] = {0, below(&seed, (uint32_t)(p.groups * p.ic)),
                             below(&seed, (uint32_t)p.in[0]), below(&seed, (uint32_t)p.in[1])};
        typed_put(&p.sides[SRC], at, values[i / 8]);
        check_all(&p);
        discard(&p);
    }
}

/* Products of denormal numbers of f16 are not lost: f32 has them. */
static void denormal_numbers_count(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int round = 0; round < 4; round++) {
        struct problem p = short_floats(NEO_F16, round, &seed);
        const struct typed *src = &p.sides[SRC];
        neo_dim at[NDIMS] = {0};
        do
            typed_put(src, at, ldexp(typed_get(src, at), -24));
        while (typed_next(src->desc.ndims, src->desc.dims, at));
        check_all(&p);
        discard(&p);
    }
}

/* As many products as s32 holds the sum of, and one more, which wraps. */
static void long_sums_are_exact(void **state)
{
    static const neo_dim most[] = {131071, 131072};
    (void)state;
    for (size_t i = 0; i < count_of(most); i++) {
        struct problem p = {.space = 1,
                            .groups = 1,
                            .ic = most[i],
                            .oc = 1,
                            .in = {1, 1, 1},
                            .out = {1, 1, 1},
                            .kernel = {1, 1, 1},
                            .stride = {1, 1, 1},
                            .batch = 1,
                            .types = {NEO_S8, NEO_S8, NEO_S32},
                            .channels_last = true,
                            .extreme = true};
        make_tensors(&p);
        require(neo_attributes_create(&p.attributes) == NEO_OK);
        for (int side = SRC; side <= WEIGHTS; side++)
            typed_fill(&p.sides[side], -128, -128, &(uint32_t){1});
        check_all(&p);
        discard(&p);
    }
}

/* Few channels, whose rows of taps are one line of src: tiles at both edges, and such as are
 * inside. */
static void first_layers_are_exact(void **state)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8, NEO_U8};
    static const struct layer {
        neo_dim ic, kernel, stride;
    } layers[] = {{3, 3, 2}, {3, 7, 2}, {1, 5, 1}, {2, 3, 1}, {4, 11, 4}};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(layers) * count_of(types); i++) {
        const struct layer *layer = &layers[i % count_of(layers)];
        neo_dim out = 19, kernel = layer->kernel, reach = (out - 1) * layer->stride + kernel;
        neo_data_type type = types[i / count_of(layers)];
        struct problem p = {.space = 2,
                            .groups = 1,
                            .ic = layer->ic,
                            .oc = 5,
                            .in = {reach - 3, reach - 3, 1},
                            .out = {out, out, 1},
                            .kernel = {kernel, kernel, 1},
                            .stride = {layer->stride, layer->stride, 1},
                            .dilation = {0, 0, 0},
                            .left = {1, 1, 0},
                            .right = {2, 2, 0},
                            .batch = 1,
                            .types = {type, type == NEO_U8 ? NEO_S8 : type, NEO_F32},
                            .channels_last = true};
        make(&p, &seed);
        check_all(&p);
        discard(&p);
    }
}

/* Depthwise kernels of 3x3 do rows of pixels two at a time, or all of a tile at once: of even and
 * odd numbers, some of which are several tiles down or across. */
static void rows_of_pixels_are_exact(void **state)
{
    static const neo_data_type types[] = {NEO_F16, NEO_S8, NEO_U8};
    static const struct rows {
        neo_dim height, width, stride;
    } all[] = {{1, 7, 1}, {2, 7, 1}, {7, 7, 1}, {15, 14, 1}, {3, 65, 1}, {7, 7, 2}, {10, 14, 2}};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(all) * count_of(types); i++) {
        const struct rows *rows = &all[i % count_of(all)];
        neo_data_type type = types[i / count_of(all)];
        neo_dim stride = rows->stride;
        struct problem p = {.space = 2,
                            .groups = 20,
                            .ic = 1,
                            .oc = 1,
                            .in = {rows->height * stride, rows->width * stride, 1},
                            .out = {rows->height, rows->width, 1},
                            .kernel = {3, 3, 1},
                            .stride = {stride, stride, 1},
                            .left = {1, 1, 0},
                            .right = {2 - stride, 2 - stride, 0},
                            .batch = 1,
                            .types = {type, type == NEO_F16 ? type : NEO_S8, type},
                            .channels_last = true};
        make_tensors(&p);
        require(neo_attributes_create(&p.attributes) == NEO_OK);
        require(neo_attributes_set_accumulation_mode(p.attributes, NEO_ACCUMULATION_F16) == NEO_OK);
        for (int side = SRC; side <= WEIGHTS; side++)
            typed_fill(&p.sides[side], -3, 4, &seed);
        check_all(&p);
        discard(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_is_exact),
        cmocka_unit_test(rows_of_pixels_are_exact),
        cmocka_unit_test(first_layers_are_exact),
        cmocka_unit_test(sums_of_extremes_wrap),
        cmocka_unit_test(values_that_are_no_numbers_stay_where_they_are),
        cmocka_unit_test(denormal_numbers_count),
        cmocka_unit_test(long_sums_are_exact),
    };
    return cmocka_run_group_tests_name("types", tests, session_setup, session_teardown);
}
