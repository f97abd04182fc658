/* Products whose rows of src are quantised, by weights of integers whose scales are attributes: the
 * definition's bits. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/gemm/types.h"
#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { NDIMS = 3, MOST_K = 2100 };

struct product {
    neo_dim batch, m, n, k;
    neo_data_type src_type, weights_type, dst_type;
    int scale_mask, zero_mask; /* -1: none */
    bool has_bias, relu, gelu; /* gelu: results are finished line by line */
    const char *src_tag;
    struct typed src, weights, bias, dst, scales, zeros;
    neo_attributes *attributes;
};

/* ---- the definition ---- */

static double value_of(const struct typed *values, int mask, neo_dim n, double otherwise)
{
    return mask < 0 ? otherwise : typed_get(values, &(neo_dim){mask ? n : 0});
}

static float size_of_row(const struct product *p, neo_dim batch, neo_dim m)
{
    float size = 0;
    for (neo_dim k = 0; k < p->k; k++)
        size = fmaxf(size, fabsf((float)typed_get(&p->src, (neo_dim[]){batch, m, k})));
    return size;
}

static double want(const struct product *p, const neo_dim *at)
{
    float size = size_of_row(p, at[0], at[1]), factor = size > 0 ? 127 / size : 0;
    int zero = (int)value_of(&p->zeros, p->zero_mask, at[2], 0), sum = 0;
    for (neo_dim k = 0; k < p->k; k++) {
        float x = (float)typed_get(&p->src, (neo_dim[]){at[0], at[1], k}) * factor;
        sum += (int)rintf(x) * ((int)typed_get(&p->weights, (neo_dim[]){0, k, at[2]}) - zero);
    }
    volatile float value = (float)sum * (size / 127);
    value *= (float)value_of(&p->scales, p->scale_mask, at[2], 1);
    if (p->has_bias)
        value += (float)typed_get(&p->bias, &at[2]);
    return p->relu && value < 0 ? 0 : (double)value;
}

static void check(const struct product *p)
{
    neo_dim at[NDIMS] = {0};
    do {
        double got = typed_get(&p->dst, at), value = want(p, at), expected;
        if (p->gelu)
            value *= 0.5 * (1 + erf(value * sqrt(0.5)));
        expected = typed_round(p->dst_type, value);
        if (got == expected || (p->gelu && fabs(got - expected) <= 1e-5 * (1 + fabs(expected))))
            continue;
        print_error("%s by %s to %s, %dx%d by k %d at %d,%d,%d is %.9g, not %.9g\n",
                    neo_data_type_name(p->src_type), neo_data_type_name(p->weights_type),
                    neo_data_type_name(p->dst_type), (int)p->m, (int)p->n, (int)p->k, (int)at[0],
                    (int)at[1], (int)at[2], got, expected);
        fail();
    } while (typed_next(NDIMS, p->dst.desc.dims, at));
}

/* ---- making one ---- */

static struct typed values_of(neo_data_type type, int mask, neo_dim n, int low, int high,
                              uint32_t *seed)
{
    neo_dim count = mask > 0 ? n : 1;
    struct typed values = typed_make_tag(engine, type, 1, &count, "a");
    typed_fill(&values, low, high, seed);
    return values;
}

static void make_attributes(struct product *p)
{
    require(neo_attributes_create(&p->attributes) == NEO_OK);
    require(neo_attributes_set_dynamic_src(p->attributes, NEO_S8) == NEO_OK);
    if (p->scale_mask >= 0)
        require(neo_attributes_set_scales(p->attributes, NEO_ARG_WEIGHTS, p->scale_mask, 0, NULL,
                                          NEO_F32) == NEO_OK);
    if (p->zero_mask >= 0)
        require(neo_attributes_set_zero_points(p->attributes, NEO_ARG_WEIGHTS, p->zero_mask, 0,
                                               NULL, NEO_S32) == NEO_OK);
    if (p->relu || p->gelu)
        require(neo_attributes_append_eltwise(p->attributes,
                                              p->relu ? NEO_ELTWISE_RELU : NEO_ELTWISE_GELU_ERF, 0,
                                              0) == NEO_OK);
}

static void make(struct product *p, uint32_t *seed)
{
    p->src =
        typed_make_tag(engine, p->src_type, NDIMS, (neo_dim[]){p->batch, p->m, p->k}, p->src_tag);
    p->weights = typed_make_tag(engine, p->weights_type, NDIMS, (neo_dim[]){1, p->k, p->n}, "abc");
    p->dst = typed_make_tag(engine, p->dst_type, NDIMS, (neo_dim[]){p->batch, p->m, p->n}, "abc");
    p->bias = values_of(NEO_F32, 1, p->n, -9, 9, seed);
    p->scales = values_of(NEO_F32, p->scale_mask, p->n, 1, 5, seed);
    p->zeros = values_of(NEO_S32, p->zero_mask, p->n, -3, 3, seed);
    typed_fill(&p->src, -100, 100, seed);
    typed_fill(&p->weights, -128, 255, seed);
    make_attributes(p);
}

static void discard(struct product *p)
{
    struct typed *all[] = {&p->src, &p->weights, &p->bias, &p->dst, &p->scales, &p->zeros};
    for (size_t i = 0; i < count_of(all); i++)
        typed_free(all[i]);
    neo_attributes_destroy(p->attributes);
}

/* ---- running it ---- */

static void execute(const struct product *p, const neo_primitive_desc *pd)
{
    const neo_memory_desc *wanted = neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS);
    struct typed packed = {0};
    bool is_packed = wanted->format_kind == NEO_FORMAT_PACKED;
    if (is_packed) {
        packed = typed_make(engine, wanted);
        typed_reorder(engine, stream, &p->weights, &packed);
    }
    neo_exec_arg list[6] = {{NEO_ARG_SRC, p->src.memory},
                            {NEO_ARG_WEIGHTS, is_packed ? packed.memory : p->weights.memory},
                            {NEO_ARG_DST, p->dst.memory}};
    int count = 3;
    if (p->has_bias)
        list[count++] = (neo_exec_arg){NEO_ARG_BIAS, p->bias.memory};
    if (p->scale_mask >= 0)
        list[count++] = (neo_exec_arg){NEO_ARG_ATTR_SCALES | NEO_ARG_WEIGHTS, p->scales.memory};
    if (p->zero_mask >= 0)
        list[count++] = (neo_exec_arg){NEO_ARG_ATTR_ZERO_POINTS | NEO_ARG_WEIGHTS, p->zeros.memory};
    memset(p->dst.data, 0x55, neo_memory_desc_size(&p->dst.desc));
    typed_run(stream, pd, count, list);
    if (is_packed)
        typed_free(&packed);
}

/* late: M is known at execution only. */
static neo_primitive_desc *describe(const struct product *p, bool any_weights, bool late)
{
    neo_matmul_desc desc = {.src = p->src.desc, .weights = p->weights.desc, .dst = p->dst.desc};
    neo_primitive_desc *pd;
    if (any_weights)
        desc.weights.format_kind = NEO_FORMAT_ANY;
    if (p->has_bias)
        desc.bias = p->bias.desc;
    if (late) {
        desc.src.dims[1] = desc.dst.dims[1] = NEO_RUNTIME_DIM;
        desc.src.strides[0] = desc.dst.strides[0] = NEO_RUNTIME_DIM;
    }
    require(neo_matmul_primitive_desc_create(&pd, engine, &desc, p->attributes) == NEO_OK);
    return pd;
}

/* No implementation multiplies such rows as floats. */
static void check_all(const struct product *p, bool any_weights, bool late)
{
    neo_primitive_desc *pd = describe(p, any_weights, late);
    execute(p, pd);
    check(p);
    assert_int_equal(neo_primitive_desc_next(pd), NEO_LAST_IMPLEMENTATION);
    neo_primitive_desc_destroy(pd);
}

static uint32_t below(uint32_t *seed, uint32_t limit)
{
    return (fill_next(seed) >> 4) % limit;
}

static struct product random_product(uint32_t *seed)
{
    static const neo_dim sizes[] = {1, 2, 3, 7, 8, 9, 13, 17, 24, 33},
                         depths[] = {1, 5, 16, 63, 130};
    static const neo_data_type from[] = {NEO_F32, NEO_F16, NEO_BF16};
    static const neo_data_type weights[] = {NEO_S8, NEO_U8, NEO_S4, NEO_U4};
    static const neo_data_type to[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S8, NEO_U8, NEO_S32};
    static const int masks[] = {-1, 0, 4, 4};
    return (struct product){
        .batch = 1 + below(seed, 2),
        .m = sizes[below(seed, count_of(sizes))],
        .n = sizes[below(seed, count_of(sizes))],
        .k = depths[below(seed, count_of(depths))],
        .src_type = from[below(seed, count_of(from))],
        .weights_type = weights[below(seed, count_of(weights))],
        .dst_type = to[below(seed, count_of(to))],
        .scale_mask = masks[below(seed, count_of(masks))],
        .zero_mask = masks[below(seed, 2) ? 0 : below(seed, count_of(masks))],
        .has_bias = below(seed, 2),
        .relu = below(seed, 3) == 0,
        .src_tag = below(seed, 3) ? "abc" : "acb",
    };
}

static void products_are_those_of_quantised_rows(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int i = 0; i < 80; i++) {
        struct product p = random_product(&seed);
        make(&p, &seed);
        check_all(&p, i % 2, i % 8 == 2);
        discard(&p);
    }
}

/* More than one block of k and of rows; other post-operations than a clamp. */
static void large_ones_too(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct product p = {.batch = 1,
                            .m = i == 1 ? 300 : 9,
                            .n = 14,
                            .k = i == 1 ? 40 : MOST_K,
                            .src_type = NEO_F32,
                            .weights_type = NEO_S8,
                            .dst_type = NEO_F32,
                            .scale_mask = 4,
                            .zero_mask = -1,
                            .has_bias = true,
                            .gelu = i == 2,
                            .src_tag = "abc"};
        make(&p, &seed);
        check_all(&p, true, false);
        discard(&p);
    }
}

/* Scales that differ along k, and src's own, leave floats to be multiplied. */
static void what_has_other_scales_is_not_quantised(void **state)
{
    uint32_t seed = fill_seed();
    struct product p = {.batch = 1, .m = 2, .n = 3, .k = 4, .src_tag = "abc", .scale_mask = -1};
    p.src_type = p.dst_type = NEO_F32, p.weights_type = NEO_S8, p.zero_mask = -1;
    (void)state;
    make(&p, &seed);
    neo_primitive_desc *pd = describe(&p, false, false);
    assert_string_equal(
        neo_primitive_desc_kernel(pd),
        gemm_kernel_find(cpu_get(), gemm_type_choose(cpu_get(), ELEMENT_S8, ELEMENT_S32))->name);
    neo_primitive_desc_destroy(pd);
    for (int side = 0; side < 2; side++) {
        neo_attributes *attributes = p.attributes;
        require(neo_attributes_create(&p.attributes) == NEO_OK);
        require(neo_attributes_set_dynamic_src(p.attributes, NEO_S8) == NEO_OK);
        require(neo_attributes_set_scales(p.attributes, side ? NEO_ARG_WEIGHTS : NEO_ARG_SRC,
                                          side ? 2 : 0, 0, NULL, NEO_F32) == NEO_OK);
        pd = describe(&p, false, false);
        assert_null(strstr(neo_primitive_desc_kernel(pd), "s8"));
        neo_primitive_desc_destroy(pd);
        neo_attributes_destroy(p.attributes);
        p.attributes = attributes;
    }
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_quantised_rows),
        cmocka_unit_test(large_ones_too),
        cmocka_unit_test(what_has_other_scales_is_not_quantised),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
