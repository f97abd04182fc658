#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/cases/typed_product.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { MOST_EXACT = 100 };

static const int args[SIDES] = {NEO_ARG_SRC, NEO_ARG_WEIGHTS, NEO_ARG_DST};

/* ---- the definition ---- */

static double value_of(const struct typed_values *values, const neo_dim *dims,
                       const neo_dim *position, double otherwise)
{
    neo_dim index = 0;
    if (values->mask < 0)
        return otherwise;
    for (int i = 0; i < NDIMS; i++) {
        neo_dim group = i > 0 && values->groups[i - 1] ? values->groups[i - 1] : 1;
        if (values->mask >> i & 1)
            index = index * (dims[i] / group) + (dims[i] == 1 ? 0 : position[i] / group);
    }
    return typed_get(&values->typed, &index);
}

static double element_of(const struct typed_product *p, int side, const neo_dim *position)
{
    neo_dim at[NDIMS] = {p->dims[side][0] == 1 ? 0 : position[0], position[1], position[2]};
    double value = typed_get(&p->sides[side], at);
    value -= value_of(&p->zeros[side], p->dims[side], at, 0);
    return value * value_of(&p->scales[side], p->dims[side], at, 1);
}

static double want(const struct typed_product *p, const neo_dim *at)
{
    double sum = 0;
    for (neo_dim k = 0; k < p->k; k++)
        sum += element_of(p, SRC, (neo_dim[]){at[0], at[1], k}) *
               element_of(p, WEIGHTS, (neo_dim[]){at[0], k, at[2]});
    if (p->bias_type)
        sum += typed_get(&p->bias, (neo_dim[]){0, 0, at[2]});
    if (p->sum)
        sum += 0.5 * typed_get(&p->old, at);
    if (p->relu && sum < 0)
        sum = 0;
    if (p->k > MOST_EXACT) /* sums beyond 2^24 are rounded to f32 */
        sum = (double)(float)sum;
    sum = sum / value_of(&p->scales[DST], p->dims[DST], at, 1);
    sum += value_of(&p->zeros[DST], p->dims[DST], at, 0);
    return typed_round(p->types[DST], sum);
}

/* ---- making one ---- */

static neo_dim values_count(const struct typed_values *values, const neo_dim *dims)
{
    neo_dim count = 1;
    for (int i = 0; i < NDIMS; i++) {
        neo_dim group = i > 0 && values->groups[i - 1] ? values->groups[i - 1] : 1;
        if (values->mask >> i & 1)
            count *= dims[i] / group;
    }
    return count;
}

static void make_values(struct typed_values *values, const neo_dim *dims, int is_scale,
                        uint32_t *seed)
{
    if (values->mask < 0)
        return;
    neo_dim count = values_count(values, dims);
    values->typed = typed_make_tag(engine, values->type, 1, &count, "a");
    typed_fill(&values->typed, is_scale ? 0 : -3, is_scale ? 2 : 3, seed);
    for (neo_dim i = 0; is_scale && i < count; i++)
        typed_put(&values->typed, &i, ldexp(1, (int)typed_get(&values->typed, &i) - 1));
}

static void set_values(const struct typed_product *p, int side)
{
    const struct typed_values *scales = &p->scales[side], *zeros = &p->zeros[side];
    if (scales->mask >= 0)
        require(neo_attributes_set_scales(p->attributes, args[side], scales->mask,
                                          scales->groups[0] ? 2 : 0, scales->groups,
                                          scales->type) == NEO_OK);
    if (zeros->mask >= 0)
        require(neo_attributes_set_zero_points(p->attributes, args[side], zeros->mask,
                                               zeros->groups[0] ? 2 : 0, zeros->groups,
                                               zeros->type) == NEO_OK);
}

void typed_product_make(struct typed_product *p, uint32_t *seed)
{
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    require(neo_attributes_set_fpmath_mode(p->attributes, p->fpmath, p->relu) == NEO_OK);
    require(neo_attributes_set_accumulation_mode(p->attributes, p->accumulation) == NEO_OK);
    for (int side = 0; side < SIDES; side++) {
        p->sides[side] =
            typed_make_tag(engine, p->types[side], NDIMS, p->dims[side], p->tags[side]);
        typed_fill(&p->sides[side], -3, 4, seed);
        make_values(&p->scales[side], p->dims[side], 1, seed);
        make_values(&p->zeros[side], p->dims[side], 0, seed);
        set_values(p, side);
    }
    p->old = typed_make_tag(engine, p->types[DST], NDIMS, p->dims[DST], p->tags[DST]);
    typed_fill(&p->old, 0, 6, seed);
    if (p->bias_type) {
        p->bias =
            typed_make_tag(engine, p->bias_type, NDIMS, (neo_dim[]){1, 1, p->dims[DST][2]}, "abc");
        typed_fill(&p->bias, -9, 9, seed);
    }
    if (p->sum)
        require(neo_attributes_append_sum(p->attributes, 0.5f, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    if (p->relu)
        require(neo_attributes_append_eltwise(p->attributes, NEO_ELTWISE_RELU, 0, 0) == NEO_OK);
}

void typed_product_discard(struct typed_product *p)
{
    for (int side = 0; side < SIDES; side++) {
        typed_free(&p->sides[side]);
        if (p->scales[side].mask >= 0)
            typed_free(&p->scales[side].typed);
        if (p->zeros[side].mask >= 0)
            typed_free(&p->zeros[side].typed);
    }
    typed_free(&p->old);
    if (p->bias_type)
        typed_free(&p->bias);
    neo_attributes_destroy(p->attributes);
}

/* ---- running it ---- */

int typed_product_arguments(const struct typed_product *p, neo_memory *weights, neo_exec_arg *list)
{
    int count = 0;
    for (int side = 0; side < SIDES; side++) {
        list[count++] =
            (neo_exec_arg){args[side], side == WEIGHTS ? weights : p->sides[side].memory};
        if (p->scales[side].mask >= 0)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_SCALES | args[side], p->scales[side].typed.memory};
        if (p->zeros[side].mask >= 0)
            list[count++] =
                (neo_exec_arg){NEO_ARG_ATTR_ZERO_POINTS | args[side], p->zeros[side].typed.memory};
    }
    if (p->bias_type)
        list[count++] = (neo_exec_arg){NEO_ARG_BIAS, p->bias.memory};
    return count;
}

/* Packed weights are given back as they were; halves of bytes are not unpacked. */
static void assert_unpacked(const struct typed *packed, const struct typed *plain)
{
    neo_dim at[NDIMS] = {0};
    if (neo_data_type_bits(plain->desc.data_type) < 8)
        return;
    struct typed to = typed_make(engine, &plain->desc);
    typed_reorder(engine, stream, packed, &to);
    do
        assert_true(typed_get(&to, at) == typed_get(plain, at));
    while (typed_next(NDIMS, plain->desc.dims, at));
    typed_free(&to);
}

/* The same weights in another layout: by a reorder if it is a packed one. */
static struct typed arranged_weights(const struct typed_product *p, const neo_memory_desc *desc)
{
    struct typed to = typed_make(engine, desc);
    const struct typed *from = &p->sides[WEIGHTS];
    neo_dim at[NDIMS] = {0};
    if (desc->format_kind != NEO_FORMAT_PACKED) {
        do
            typed_put(&to, at, typed_get(from, at));
        while (typed_next(NDIMS, p->dims[WEIGHTS], at));
        return to;
    }
    typed_reorder(engine, stream, from, &to);
    assert_unpacked(&to, from);
    return to;
}

static void assert_results(const struct typed_product *p, const char *name)
{
    neo_dim at[NDIMS] = {0};
    do {
        double got = typed_get(&p->sides[DST], at), expected = want(p, at);
        if (got == expected)
            continue;
        print_error("%s: %s by %s to %s, %dx%d by k %d at %d,%d,%d is %g, not %g\n", name,
                    neo_data_type_name(p->types[SRC]), neo_data_type_name(p->types[WEIGHTS]),
                    neo_data_type_name(p->types[DST]), (int)p->dims[DST][1], (int)p->dims[DST][2],
                    (int)p->k, (int)at[0], (int)at[1], (int)at[2], got, expected);
        fail();
    } while (typed_next(NDIMS, p->dims[DST], at));
}

static void run_one(const struct typed_product *p, const neo_primitive_desc *pd)
{
    struct typed weights = arranged_weights(p, neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS));
    neo_exec_arg list[TYPED_PRODUCT_ARGUMENTS];
    memcpy(p->sides[DST].data, p->old.data, neo_memory_desc_size(&p->old.desc));
    typed_run(stream, pd, typed_product_arguments(p, weights.memory, list), list);
    assert_results(p, neo_primitive_desc_kernel(pd));
    typed_free(&weights);
}

static neo_primitive_desc *describe(const struct typed_product *p, int any_weights)
{
    neo_matmul_desc desc = {
        .src = p->sides[SRC].desc, .weights = p->sides[WEIGHTS].desc, .dst = p->sides[DST].desc};
    if (any_weights)
        desc.weights.format_kind = NEO_FORMAT_ANY;
    if (p->bias_type)
        desc.bias = p->bias.desc;
    neo_primitive_desc *pd;
    return neo_matmul_primitive_desc_create(&pd, engine, &desc, p->attributes) == NEO_OK ? pd
                                                                                         : NULL;
}

neo_primitive_desc *typed_product_describe(const struct typed_product *p)
{
    return describe(p, 0);
}

int typed_product_run_all(const struct typed_product *p, int any_weights)
{
    neo_primitive_desc *pd = describe(p, any_weights);
    int count = 0;
    require(pd);
    do {
        run_one(p, pd);
        count++;
    } while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return count;
}

/* ---- others ---- */

struct typed_product typed_product_long(const neo_data_type *types, const neo_data_type *zeros,
                                        neo_dim k)
{
    struct typed_product p = {.types = {types[0], types[1], types[2]}, .k = k};
    memcpy(p.dims[SRC], (neo_dim[]){1, 9, k}, sizeof p.dims[SRC]);
    memcpy(p.dims[WEIGHTS], (neo_dim[]){1, k, 14}, sizeof p.dims[SRC]);
    memcpy(p.dims[DST], (neo_dim[]){1, 9, 14}, sizeof p.dims[SRC]);
    for (int side = 0; side < SIDES; side++) {
        p.tags[side] = "abc";
        p.scales[side].mask = -1;
        p.zeros[side].mask = side < DST && zeros[side] ? (side == SRC ? 0 : 4) : -1;
        p.zeros[side].type = side < DST ? zeros[side] : NEO_DATA_TYPE_UNDEF;
    }
    return p;
}
