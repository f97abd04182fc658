/* Reorders between all types and orders, with scales and zero points, against the definition in
 * double precision. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { NDIMS = 3 };
static const neo_dim dims[NDIMS] = {3, 10, 21}, groups[2] = {5, 7};

/* Scales or zero points; those in groups are for groups of the last two dimensions. */
struct values {
    int mask, grouped;
    struct typed typed;
};

static neo_dim group_of(const struct values *values, int dim)
{
    return values->grouped && dim ? groups[dim - 1] : 1;
}

static double value_of(const struct values *values, const neo_dim *at)
{
    neo_dim index = 0;
    for (int i = 0; i < NDIMS; i++)
        if (values->mask >> i & 1)
            index = index * (dims[i] / group_of(values, i)) + at[i] / group_of(values, i);
    return typed_get(&values->typed, &index);
}

static struct values make_values(int mask, int grouped, int is_scale, neo_data_type type,
                                 uint32_t *seed)
{
    struct values values = {mask, grouped, {.memory = NULL}};
    neo_dim count = 1;
    for (int i = 0; i < NDIMS; i++)
        count *= mask >> i & 1 ? dims[i] / group_of(&values, i) : 1;
    values.typed = typed_make_tag(engine, type, 1, &count, "a");
    typed_fill(&values.typed, is_scale ? 0 : -3, 3, seed);
    for (neo_dim i = 0; is_scale && i < count; i++)
        typed_put(&values.typed, &i, ldexp(1, (int)typed_get(&values.typed, &i) - 1));
    return values;
}

/* What stands for the same number: src's in values[0] and [1], dst's in values[2] and [3]. */
static double want(const struct values *values, neo_data_type type, double x, const neo_dim *at)
{
    x = (x - value_of(&values[1], at)) * value_of(&values[0], at);
    return typed_round(type, x / value_of(&values[2], at) + value_of(&values[3], at));
}

static void set(neo_attributes *attributes, const struct values *values)
{
    static const int args[] = {NEO_ARG_SRC, NEO_ARG_DST};
    for (int i = 0; i < 4; i++) {
        neo_data_type type = values[i].typed.desc.data_type;
        require((i % 2 ? neo_attributes_set_zero_points : neo_attributes_set_scales)(
                    attributes, args[i / 2], values[i].mask, values[i].grouped ? 2 : 0, groups,
                    type) == NEO_OK);
    }
}

static void reorder(const struct typed *src, const struct typed *dst,
                    const neo_attributes *attributes, const struct values *values)
{
    neo_exec_arg list[] = {
        {NEO_ARG_SRC, src->memory},
        {NEO_ARG_DST, dst->memory},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, values ? values[0].typed.memory : NULL},
        {NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_SRC, values ? values[1].typed.memory : NULL},
        {NEO_ARG_ATTR_SCALES | NEO_ARG_DST, values ? values[2].typed.memory : NULL},
        {NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_DST, values ? values[3].typed.memory : NULL},
    };
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    require(neo_reorder_primitive_desc_create(&pd, engine, &src->desc, &dst->desc, attributes) ==
            NEO_OK);
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    require(neo_primitive_execute(primitive, stream, values ? 6 : 2, list) == NEO_OK);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void assert_element(const struct typed *dst, const neo_dim *at, double expected)
{
    double got = typed_get(dst, at);
    if (got == expected)
        return;
    print_error("%s at %d,%d,%d is %g, not %g\n", neo_data_type_name(dst->desc.data_type),
                (int)at[0], (int)at[1], (int)at[2], got, expected);
    fail();
}

static void check_quantized(const struct typed *src, const struct typed *dst, uint32_t *seed)
{
    struct values values[] = {
        make_values(2, 0, 1, NEO_F32, seed),
        make_values(4, 0, 0, NEO_S8, seed),
        make_values(6, 1, 1, NEO_BF16, seed),
        make_values(0, 0, 0, NEO_S32, seed),
    };
    neo_attributes *attributes;
    neo_dim at[NDIMS] = {0};
    require(neo_attributes_create(&attributes) == NEO_OK);
    set(attributes, values);
    reorder(src, dst, attributes, values);
    do
        assert_element(dst, at, want(values, dst->desc.data_type, typed_get(src, at), at));
    while (typed_next(NDIMS, dims, at));
    neo_attributes_destroy(attributes);
    for (int i = 0; i < 4; i++)
        typed_free(&values[i].typed);
}

static void check(neo_data_type from, neo_data_type to, const char *from_tag, const char *to_tag,
                  uint32_t *seed)
{
    struct typed src = typed_make_tag(engine, from, NDIMS, dims, from_tag);
    struct typed dst = typed_make_tag(engine, to, NDIMS, dims, to_tag);
    neo_dim at[NDIMS] = {0};
    typed_fill(&src, -1000, 1000, seed);
    reorder(&src, &dst, NULL, NULL);
    do
        assert_element(&dst, at, typed_round(to, typed_get(&src, at)));
    while (typed_next(NDIMS, dims, at));
    check_quantized(&src, &dst, seed);
    typed_free(&src);
    typed_free(&dst);
}

static void every_pair_of_types_is_exact(void **state)
{
    static const char *const tags[] = {"abc", "acb", "cab"};
    uint32_t seed = fill_seed();
    (void)state;
    for (int from = NEO_F32; from <= NEO_U4; from++)
        for (int to = NEO_F32; to <= NEO_U4; to++)
            for (int tag = 0; tag < 3; tag++)
                check((neo_data_type)from, (neo_data_type)to, tags[tag], tags[tag / 2], &seed);
}

/* Values that f32 does not have. */
static void whole_numbers_are_copied_as_they_are(void **state)
{
    struct typed src = typed_make_tag(engine, NEO_S32, NDIMS, dims, "abc");
    struct typed dst = typed_make_tag(engine, NEO_S32, NDIMS, dims, "cba");
    neo_dim at[NDIMS] = {0};
    (void)state;
    do
        typed_put(&src, at, 2147483647. - (double)(at[0] * 1000 + at[1] * 100 + at[2]));
    while (typed_next(NDIMS, dims, at));
    reorder(&src, &dst, NULL, NULL);
    do
        assert_element(&dst, at, typed_get(&src, at));
    while (typed_next(NDIMS, dims, at));
    typed_free(&src);
    typed_free(&dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_types_is_exact),
        cmocka_unit_test(whole_numbers_are_copied_as_they_are),
    };
    return cmocka_run_group_tests_name("types", tests, session_setup, session_teardown);
}
