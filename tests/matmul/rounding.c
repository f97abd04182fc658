/* Products of real numbers of other types than f32: errors are within bounds, and what may be
 * rounded is rounded where that pays. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "arch/cpu.h"
#include "kernels/gemm/types.h"
#include "tests/support/cases/typed_product.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

static void fill_reals_of_type(const struct typed *typed, uint32_t *seed)
{
    neo_dim at[NDIMS] = {0};
    do
        typed_put(typed, at,
                  typed_round(typed->desc.data_type,
                              ((double)((fill_next(seed) >> 4) % 4001) - 2000) / 777));
    while (typed_next(NDIMS, typed->desc.dims, at));
}

/* Of the sum of the products' sizes. Rounding both factors to bf16 changes a product by up to
 * 2^-8 + 2^-18 of itself. */
static void assert_within_bound(const struct typed_product *p)
{
    double factors = p->fpmath == NEO_FPMATH_STRICT ? 0 : 0x1p-8 + 0x1p-17;
    if (p->accumulation == NEO_ACCUMULATION_F16)
        factors += fmin((double)p->k + 1, 1025) * 0x1p-11;
    neo_dim at[NDIMS] = {0};
    do {
        double sum = 0, sizes = 0;
        for (neo_dim k = 0; k < p->k; k++) {
            double a = typed_get(&p->sides[SRC], (neo_dim[]){0, at[1], k});
            double b = typed_get(&p->sides[WEIGHTS], (neo_dim[]){0, k, at[2]});
            sum += a * b, sizes += fabs(a * b);
        }
        assert_true(fabs(typed_get(&p->sides[DST], at) - sum) <=
                    ((double)(p->k + 1) * 0x1p-23 + factors) * sizes);
    } while (typed_next(NDIMS, p->dims[DST], at));
}

static const neo_data_type no_zeros[2] = {NEO_DATA_TYPE_UNDEF, NEO_DATA_TYPE_UNDEF};

/* Is a product of f32 multiplied as another type by one of its implementations? */
static int is_offered(neo_fpmath_mode mode)
{
    static const neo_data_type types[] = {NEO_F32, NEO_F32, NEO_F32};
    struct typed_product p = typed_product_long(types, no_zeros, 300);
    uint32_t seed = fill_seed();
    int found = 0;
    p.fpmath = mode;
    typed_product_make(&p, &seed);
    neo_primitive_desc *pd = typed_product_describe(&p);
    require(pd);
    do
        found |= strstr(neo_primitive_desc_implementation(pd), "typed") != NULL;
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    typed_product_discard(&p);
    return found;
}

/* What f32 may be rounded to is used where the core multiplies it faster, and only where it may. */
static void modes_are_used_where_they_pay(void **state)
{
    (void)state;
    const struct gemm_type *type = gemm_type_choose(cpu_get(), ELEMENT_BF16, ELEMENT_F32);
    int pays = type != &gemm_types[GEMM_F32] && gemm_kernel_find(cpu_get(), type)->needs;
    assert_int_equal(is_offered(NEO_FPMATH_BF16), pays);
    assert_int_equal(is_offered(NEO_FPMATH_ANY), pays);
    assert_int_equal(is_offered(NEO_FPMATH_STRICT), 0);
    assert_int_equal(is_offered(NEO_FPMATH_TF32), 0);
}

/* So are sums of f16. */
static void short_sums_are_made_where_they_pay(void **state)
{
    static const neo_data_type types[] = {NEO_F16, NEO_F16, NEO_F16};
    const struct gemm_type *type = gemm_type_choose(cpu_get(), ELEMENT_F16, ELEMENT_F16);
    uint32_t seed = fill_seed();
    (void)state;
    for (int mode = NEO_ACCUMULATION_STRICT; mode <= NEO_ACCUMULATION_F32; mode++) {
        struct typed_product p = typed_product_long(types, no_zeros, 300);
        p.accumulation = (neo_accumulation_mode)mode;
        typed_product_make(&p, &seed);
        neo_primitive_desc *pd = typed_product_describe(&p);
        require(pd);
        bool may = mode == NEO_ACCUMULATION_RELAXED || mode == NEO_ACCUMULATION_ANY;
        bool are_short = !strcmp(neo_primitive_desc_kernel(pd), "gemm_f16_fp16");
        assert_int_equal(are_short, may && type->within == ELEMENT_F16);
        neo_primitive_desc_destroy(pd);
        typed_product_discard(&p);
    }
}

static void reals_are_within_the_bound(void **state)
{
    static const neo_data_type types[][3] = {
        {NEO_F16, NEO_F16, NEO_F32}, {NEO_BF16, NEO_BF16, NEO_F32}, {NEO_F32, NEO_BF16, NEO_F32},
        {NEO_F16, NEO_S8, NEO_F32},  {NEO_F32, NEO_F32, NEO_F32},   {NEO_F32, NEO_BF16, NEO_F32},
        {NEO_F32, NEO_S8, NEO_F32},  {NEO_F16, NEO_F16, NEO_F32}};
    enum { STRICT = 4, SHORT_SUMS = 7 };
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t t = 0; t < count_of(types); t++) {
        struct typed_product p =
            typed_product_long(types[t], no_zeros, t == SHORT_SUMS ? 1500 : 700);
        p.fpmath = t < STRICT || t == SHORT_SUMS ? NEO_FPMATH_STRICT
                   : t % 2                       ? NEO_FPMATH_BF16
                                                 : NEO_FPMATH_ANY;
        p.accumulation = t == SHORT_SUMS ? NEO_ACCUMULATION_F16 : NEO_ACCUMULATION_STRICT;
        neo_exec_arg list[TYPED_PRODUCT_ARGUMENTS];
        typed_product_make(&p, &seed);
        fill_reals_of_type(&p.sides[SRC], &seed);
        fill_reals_of_type(&p.sides[WEIGHTS], &seed);
        neo_primitive_desc *pd = typed_product_describe(&p);
        require(pd);
        do {
            typed_run(stream, pd, typed_product_arguments(&p, p.sides[WEIGHTS].memory, list), list);
            assert_within_bound(&p);
        } while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
        typed_product_discard(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_within_the_bound),
        cmocka_unit_test(modes_are_used_where_they_pay),
        cmocka_unit_test(short_sums_are_made_where_they_pay),
    };
    return cmocka_run_group_tests_name("rounding", tests, session_setup, session_teardown);
}
