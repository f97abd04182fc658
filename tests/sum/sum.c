/* The sum of tensors: types, layouts, scales, many sources. */
#include "tests/support/test.h"

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static const float *scales_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    neo_memory_desc sources[OPERATION_MOST_TENSORS];
    for (int i = 1; i < row->count; i++)
        sources[i - 1] = row->tensors[i].desc;
    return neo_sum_primitive_desc_create(out, on, &row->tensors[0].desc, row->count - 1,
                                         scales_of(row), sources, attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    double sum = 0;
    (void)output;
    for (int i = 1; i < row->count; i++)
        sum += (scales_of(row) ? (double)scales_of(row)[i - 1] : 1) * typed_get(&t[i], position);
    return sum;
}

static void check(int count, const float *scales, neo_data_type type, neo_data_type other,
                  neo_dim gap, int in_place)
{
    static const char *const tags[] = {"abc", "acb", "cab"};
    const neo_dim dims[] = {2, 3, 7};
    struct operation_case row = {.name = "sum",
                                 .create = create,
                                 .want = want,
                                 .context = scales,
                                 .count = count + 1,
                                 .error = 1e-6,
                                 .in_place = in_place};
    for (int i = 0; i <= count; i++)
        row.tensors[i] = (struct operation_tensor){
            i ? NEO_ARG_MULTIPLE_SRC + i - 1 : NEO_ARG_DST,
            typed_gaps(3, dims, i % 2 ? other : type, tags[in_place >= 0 ? 0 : i % 3], gap),
            i == 0};
    operation_case_check(&row);
}

static void every_pair_of_types(void **state)
{
    static const float scales[] = {1, -0.5f, 2};
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (neo_data_type other = NEO_F32; other <= NEO_U8; other++)
            check(3, scales, type, other, (neo_dim)(type + other) % 3, -1);
}

static void in_the_place_of_any_source(void **state)
{
    (void)state;
    for (int place = 1; place <= 3; place++)
        check(3, NULL, NEO_F32, NEO_F32, 0, place);
}

static void one_and_many_sources(void **state)
{
    (void)state;
    check(1, NULL, NEO_F32, NEO_F32, 0, -1);
    check(NEO_MAX_SOURCES, NULL, NEO_F32, NEO_F32, 1, -1);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc dst = typed_desc(1, (neo_dim[]){4}, NEO_F32, "a"), sources[2] = {dst, dst};
    (void)state;
    sources[1].dims[0] = 5;
    assert_int_equal(neo_sum_primitive_desc_create(&pd, engine, &dst, 2, NULL, sources, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_sum_primitive_desc_create(&pd, engine, &dst, 0, NULL, sources, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_sum_primitive_desc_create(&pd, engine, NULL, 1, NULL, sources, NULL),
                     NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_types),
        cmocka_unit_test(in_the_place_of_any_source),
        cmocka_unit_test(one_and_many_sources),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("sum", tests, session_setup, session_teardown);
}
