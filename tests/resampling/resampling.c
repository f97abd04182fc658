/* Resampling: both kinds, one to three dimensions, larger and smaller, types, layouts. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    return neo_resampling_primitive_desc_create(
        out, on, NEO_FORWARD_INFERENCE, *(const neo_resampling *)row->context, NULL,
        &row->tensors[0].desc, &row->tensors[1].desc, attributes);
}

/* Along dimension d and those after it; at has the positions before it. */
static double sample(const struct operation_case *row, const struct typed *t,
                     const neo_dim *position, int d, neo_dim *at)
{
    if (d == t[0].desc.ndims)
        return typed_get(&t[0], at);
    double in = (double)t[0].desc.dims[d], out = (double)t[1].desc.dims[d];
    double x = ((double)position[d] + 0.5) * in / out - 0.5, left = floor(x);
    if (*(const neo_resampling *)row->context == NEO_RESAMPLING_NEAREST) {
        at[d] = (neo_dim)round(x);
        return sample(row, t, position, d + 1, at);
    }
    at[d] = (neo_dim)fmax(left, 0);
    double low = sample(row, t, position, d + 1, at);
    at[d] = (neo_dim)fmin(left + 1, in - 1);
    return low * (1 - (x - left)) + sample(row, t, position, d + 1, at) * (x - left);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    neo_dim at[NEO_MAX_NDIMS] = {position[0], position[1]};
    (void)output;
    return sample(row, t, position, 2, at);
}

static void every_kind_type_and_layout(void **state)
{
    static const struct {
        int ndims;
        neo_dim src[5], dst[5];
    } shapes[] = {{3, {2, 3, 7}, {2, 3, 13}},
                  {4, {2, 5, 4, 6}, {2, 5, 8, 12}},
                  {4, {1, 4, 9, 5}, {1, 4, 3, 10}},
                  {5, {1, 3, 2, 3, 4}, {1, 3, 5, 3, 2}}};
    static const char *const rows[] = {"abc", "abcd", "abcde"};
    static const char *const last[] = {"acb", "acdb", "acdeb"};
    (void)state;
    for (size_t i = 0; i < count_of(shapes); i++)
        for (int j = 0; j < 8; j++) {
            neo_resampling algorithm = (neo_resampling)(j % 2);
            neo_data_type from = (neo_data_type)(NEO_F32 + (j + (int)i) % 6);
            const char *const *src = j / 2 % 2 ? rows : last, *const *dst = j / 4 ? rows : last;
            int n = shapes[i].ndims;
            struct operation_case row = {.name = "resampling",
                                         .create = create,
                                         .want = want,
                                         .context = &algorithm,
                                         .count = 2,
                                         .error = 2e-6,
                                         .in_place = -1};
            row.tensors[0] = (struct operation_tensor){
                NEO_ARG_SRC, typed_gaps(n, shapes[i].src, from, src[n - 3], 1), false};
            row.tensors[1] = (struct operation_tensor){
                NEO_ARG_DST, typed_gaps(n, shapes[i].dst, j % 3 ? from : NEO_F32, dst[n - 3], 1),
                true};
            operation_case_check(&row);
        }
}

static void resample(neo_resampling algorithm, neo_memory *src, neo_memory *dst)
{
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src}, {NEO_ARG_DST, dst}};
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_resampling_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                          algorithm, NULL, neo_memory_get_desc(src),
                                                          neo_memory_get_desc(dst), NULL),
                     NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_OK);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

/* A pixel that has no part in another one does not become one by being infinite. */
static void infinity_stays_where_it_is(void **state)
{
    static const char *const tags[] = {"abc", "acb"};
    const neo_dim dims[] = {1, 1, 4}, place[] = {0, 0, 2};
    (void)state;
    for (size_t i = 0; i < count_of(tags); i++) {
        struct typed src = typed_make_tag(engine, NEO_F32, 3, dims, tags[i]);
        struct typed dst = typed_make_tag(engine, NEO_F32, 3, dims, tags[i]);
        uint32_t seed = 1;
        typed_fill(&src, -9, 9, &seed);
        typed_put(&src, place, (double)INFINITY);
        resample(NEO_RESAMPLING_LINEAR, src.memory, dst.memory);
        neo_dim position[3] = {0};
        do
            assert_true(typed_get(&dst, position) == typed_get(&src, position));
        while (typed_next(3, dims, position));
        typed_free(&dst);
        typed_free(&src);
    }
}

/* f32 rounds such positions to what is before the first pixel, or behind the last one. */
static void nothing_beside_src_is_read(void **state)
{
    static const struct {
        neo_resampling algorithm;
        neo_dim in, out;
    } cases[] = {{NEO_RESAMPLING_NEAREST, 1, 1 << 25}, {NEO_RESAMPLING_LINEAR, 1 << 24, 1 << 24}};
    signed char *buffer = malloc((1 << 24) + 2), *result = malloc(1 << 25);
    (void)state;
    assert_true(buffer && result);
    for (size_t i = 0; i < count_of(cases); i++) {
        neo_memory_desc a = typed_desc(3, (neo_dim[]){1, 1, cases[i].in}, NEO_S8, "abc");
        neo_memory_desc b = typed_desc(3, (neo_dim[]){1, 1, cases[i].out}, NEO_S8, "abc");
        neo_memory *src, *dst;
        memset(buffer, 5, (1 << 24) + 2);
        buffer[0] = buffer[1 + cases[i].in] = 77;
        assert_int_equal(neo_memory_create(&src, &a, engine, buffer + 1), NEO_OK);
        assert_int_equal(neo_memory_create(&dst, &b, engine, result), NEO_OK);
        resample(cases[i].algorithm, src, dst);
        assert_int_equal(result[0], 5);
        assert_int_equal(result[cases[i].out - 1], 5);
        neo_memory_destroy(dst);
        neo_memory_destroy(src);
    }
    free(result);
    free(buffer);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(3, (neo_dim[]){2, 3, 5}, NEO_F32, "abc");
    neo_memory_desc b = typed_desc(3, (neo_dim[]){2, 3, 10}, NEO_F32, "abc");
    neo_memory_desc c = typed_desc(3, (neo_dim[]){2, 4, 10}, NEO_F32, "abc");
    static const float two[] = {2}, three[] = {3};
    const struct {
        neo_resampling algorithm;
        const float *factors;
        const neo_memory_desc *dst;
        neo_status status;
    } rows[] = {{NEO_RESAMPLING_LINEAR, two, &b, NEO_OK},
                {NEO_RESAMPLING_LINEAR, three, &b, NEO_INVALID_ARGUMENT},
                {NEO_RESAMPLING_LINEAR, NULL, &c, NEO_INVALID_ARGUMENT},
                {(neo_resampling)2, NULL, &b, NEO_INVALID_ARGUMENT}};
    (void)state;
    for (size_t i = 0; i < count_of(rows); i++) {
        assert_int_equal(neo_resampling_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                              rows[i].algorithm, rows[i].factors,
                                                              &a, rows[i].dst, NULL),
                         rows[i].status);
        neo_primitive_desc_destroy(pd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_type_and_layout),
        cmocka_unit_test(infinity_stays_where_it_is),
        cmocka_unit_test(nothing_beside_src_is_read),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("resampling", tests, session_setup, session_teardown);
}
