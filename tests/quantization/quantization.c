/* Dynamic quantisation against its definition, element by element: all modes, types, ways to share
 * a scale, strides; values that are no numbers; memory that runs out; what is refused. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/typed.h"
#include "tests/support/fault.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"

enum { NDIMS = 3 };

struct problem {
    neo_quantization algorithm;
    neo_dim dims[NDIMS], scales[NDIMS];
    struct typed src, dst, scale, zero; /* zero: no memory if there are no zero points */
};

static size_t below(uint32_t *seed, size_t limit)
{
    return (fill_next(seed) >> 8) % limit;
}

/* ---- the definition ---- */

static int in_region(const struct problem *p, const neo_dim *at, const neo_dim *region)
{
    for (int d = 0; d < NDIMS; d++)
        if (at[d] / (p->dims[d] / p->scales[d]) != region[d])
            return 0;
    return 1;
}

static double saturate(double value, double least)
{
    return fmin(fmax(value, least), least + 255);
}

static void check_region(const struct problem *p, const neo_dim *region)
{
    double least = p->dst.desc.data_type == NEO_S8 ? -128 : 0;
    float low = 0, high = 0;
    neo_dim at[NDIMS] = {0};
    do
        if (in_region(p, at, region)) {
            low = fminf(low, (float)typed_get(&p->src, at));
            high = fmaxf(high, (float)typed_get(&p->src, at));
        }
    while (typed_next(NDIMS, p->dims, at));
    int is_symmetric = p->algorithm == NEO_QUANTIZATION_SYMMETRIC;
    volatile float scale = is_symmetric ? fmaxf(high, -low) / 127 : (high - low) / 255;
    if (scale == 0)
        scale = 1;
    volatile float place = (float)least - low / scale, factor = 1 / scale;
    double zero = is_symmetric ? least + 128 : saturate(rint((double)place), least);
    assert_true((float)typed_get(&p->scale, region) == scale);
    if (p->zero.memory)
        assert_true(typed_get(&p->zero, region) == zero);
    do {
        float x = (float)typed_get(&p->src, at);
        volatile float y = p->algorithm == NEO_QUANTIZATION_DIVIDE ? x / scale : x * factor;
        double want = isnan(x) ? zero : saturate(rint((double)y) + zero, least);
        if (in_region(p, at, region))
            assert_true(typed_get(&p->dst, at) == want);
    } while (typed_next(NDIMS, p->dims, at));
}

static void check(const struct problem *p)
{
    neo_dim region[NDIMS] = {0};
    do
        check_region(p, region);
    while (typed_next(NDIMS, p->scales, region));
}

/* ---- problems ---- */

static void make(struct problem *p, neo_data_type src, neo_data_type dst, neo_data_type zero,
                 uint32_t *seed)
{
    neo_memory_desc gaps = typed_gaps(NDIMS, p->dims, dst, "bac", 2);
    neo_dim at[NDIMS] = {0};
    p->src = typed_make_tag(engine, src, NDIMS, p->dims, below(seed, 2) ? "abc" : "cab");
    p->dst = below(seed, 2)
                 ? typed_make(engine, &gaps)
                 : typed_make_tag(engine, dst, NDIMS, p->dims, below(seed, 2) ? "abc" : "acb");
    p->scale = typed_make_tag(engine, NEO_F32, NDIMS, p->scales, "cba");
    p->zero = (struct typed){.memory = NULL};
    if (zero)
        p->zero = typed_make_tag(engine, zero, NDIMS, p->scales, "abc");
    double shift = (double)below(seed, 5) - 2; /* ranges with and without 0 */
    do
        typed_put(&p->src, at,
                  typed_round(src, ((double)below(seed, 4001) - 2000) / 777 + 2 * shift));
    while (typed_next(NDIMS, p->dims, at));
    typed_mark(&p->dst);
}

static void discard(struct problem *p)
{
    typed_free(&p->src);
    typed_free(&p->dst);
    typed_free(&p->scale);
    if (p->zero.memory)
        typed_free(&p->zero);
}

static neo_status describe(neo_primitive_desc **pd, const struct problem *p)
{
    return neo_quantization_primitive_desc_create(pd, engine, p->algorithm, &p->src.desc,
                                                  &p->dst.desc, &p->scale.desc,
                                                  p->zero.memory ? &p->zero.desc : NULL, NULL);
}

static neo_status run(const struct problem *p)
{
    neo_primitive_desc *pd;
    neo_primitive *primitive = NULL;
    neo_exec_arg args[] = {{NEO_ARG_SRC, p->src.memory},
                           {NEO_ARG_DST, p->dst.memory},
                           {NEO_ARG_SCALE, p->scale.memory},
                           {NEO_ARG_SHIFT, p->zero.memory}};
    neo_status status = describe(&pd, p);
    if (status == NEO_OK)
        status = neo_primitive_create(&primitive, pd);
    if (status == NEO_OK)
        status = neo_primitive_execute(primitive, stream, p->zero.memory ? 4 : 3, args);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    return status;
}

/* By row, for all, by groups of a row, by columns, by blocks of all dimensions. */
static void all_modes_follow_the_definition(void **state)
{
    static const neo_dim sizes[][2][NDIMS] = {{{2, 5, 33}, {2, 5, 1}},  {{2, 5, 33}, {1, 1, 1}},
                                              {{1, 7, 96}, {1, 7, 3}},  {{3, 4, 5}, {1, 1, 5}},
                                              {{4, 6, 8}, {2, 3, 2}},   {{1, 1, 1}, {1, 1, 1}},
                                              {{1, 2, 2500}, {1, 2, 1}}};
    static const neo_data_type floats[] = {NEO_F32, NEO_F16, NEO_BF16};
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t i = 0; i < count_of(sizes) * 18; i++) {
        struct problem p = {.algorithm = (neo_quantization)(i % 3)};
        neo_data_type dst = i / 3 % 2 ? NEO_S8 : NEO_U8;
        for (int d = 0; d < NDIMS; d++) {
            p.dims[d] = sizes[i / 18][0][d];
            p.scales[d] = sizes[i / 18][1][d];
        }
        int has_zeros = i % 3 != NEO_QUANTIZATION_SYMMETRIC || below(&seed, 2);
        make(&p, floats[i / 6 % 3], dst,
             !has_zeros        ? NEO_DATA_TYPE_UNDEF
             : below(&seed, 2) ? NEO_S32
                               : dst,
             &seed);
        assert_int_equal(run(&p), NEO_OK);
        check(&p);
        typed_check_gaps(&p.dst);
        discard(&p);
    }
}

/* What ONNX's own examples of DynamicQuantizeLinear give. */
static void onnx_examples_come_out(void **state)
{
    static const struct {
        size_t count;
        float src[6], scale;
        int zero, dst[6];
    } examples[] = {
        {6, {0, 2, -3, -2.5f, 1.34f, 0.5f}, 0.0196078438f, 153, {153, 255, 0, 26, 221, 179}},
        {6, {-1, -2.1f, -1.3f, -2.5f, -3.34f, -4}, 0.0156862754f, 255, {191, 121, 172, 96, 42, 0}},
    };
    uint32_t seed = fill_seed();
    (void)state;
    for (size_t e = 0; e < count_of(examples); e++) {
        struct problem p = {
            .algorithm = NEO_QUANTIZATION_DIVIDE, .dims = {1, 1, 6}, .scales = {1, 1, 1}};
        make(&p, NEO_F32, NEO_U8, NEO_U8, &seed);
        for (neo_dim i = 0; i < 6; i++)
            typed_put(&p.src, (neo_dim[]){0, 0, i}, (double)examples[e].src[i]);
        assert_int_equal(run(&p), NEO_OK);
        assert_true(fabsf((float)typed_get(&p.scale, (neo_dim[]){0, 0, 0}) - examples[e].scale) <
                    1e-8f);
        assert_int_equal((int)typed_get(&p.zero, (neo_dim[]){0, 0, 0}), examples[e].zero);
        for (neo_dim i = 0; i < 6; i++)
            assert_int_equal((int)typed_get(&p.dst, (neo_dim[]){0, 0, i}), examples[e].dst[i]);
        discard(&p);
    }
}

static void zeros_and_nan_are_as_stated(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct problem p = {
            .algorithm = (neo_quantization)i, .dims = {1, 2, 20}, .scales = {1, 2, 1}};
        make(&p, NEO_F32, NEO_U8, NEO_S32, &seed);
        for (neo_dim k = 0; k < 20; k++)
            typed_put(&p.src, (neo_dim[]){0, 0, k}, 0);
        typed_put(&p.src, (neo_dim[]){0, 1, 7}, (double)NAN);
        assert_int_equal(run(&p), NEO_OK);
        check(&p);
        discard(&p);
    }
}

static void every_allocation_may_fail(void **state)
{
    uint32_t seed = fill_seed();
    struct problem p = {
        .algorithm = NEO_QUANTIZATION_DIVIDE, .dims = {1, 2, 20}, .scales = {1, 2, 1}};
    (void)state;
    make(&p, NEO_F32, NEO_U8, NEO_U8, &seed);
    bool failed = true;
    size_t n = 0;
    while (failed) {
        require(neo_engine_set_cache_capacity(engine, (neo_cache_capacity){0}) == NEO_OK);
        fault_arm(++n);
        neo_status status = run(&p);
        failed = fault_disarm();
        assert_true(status == NEO_OK || (failed && status == NEO_OUT_OF_MEMORY));
    }
    assert_true(n > 3);
    check(&p);
    discard(&p);
}

static void wrong_ones_are_refused(void **state)
{
    uint32_t seed = fill_seed();
    struct problem p = {
        .algorithm = NEO_QUANTIZATION_DIVIDE, .dims = {1, 2, 20}, .scales = {1, 2, 1}};
    neo_primitive_desc *pd;
    (void)state;
    make(&p, NEO_F32, NEO_U8, NEO_U8, &seed);
    struct problem wrong = p;
    wrong.zero.memory = NULL;
    assert_int_equal(describe(&pd, &wrong), NEO_INVALID_ARGUMENT);
    wrong = p, wrong.algorithm = (neo_quantization)3;
    assert_int_equal(describe(&pd, &wrong), NEO_INVALID_ARGUMENT);
    wrong = p, wrong.scale.desc.dims[2] = 3;
    assert_int_equal(describe(&pd, &wrong), NEO_INVALID_ARGUMENT);
    wrong = p, wrong.zero.desc.data_type = NEO_S8;
    assert_int_equal(describe(&pd, &wrong), NEO_INVALID_ARGUMENT);
    wrong = p, wrong.src.desc.data_type = NEO_S8;
    assert_int_equal(describe(&pd, &wrong), NEO_UNSUPPORTED);
    wrong = p, wrong.src.desc.dims[2] = 19;
    assert_int_equal(describe(&pd, &wrong), NEO_INVALID_ARGUMENT);
    assert_null(pd);
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_modes_follow_the_definition),
        cmocka_unit_test(onnx_examples_come_out),
        cmocka_unit_test(zeros_and_nan_are_as_stated),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, session_setup, session_teardown);
}
