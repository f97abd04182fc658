/* Concatenation: exact copies between any types, axes and layouts. */
#include "tests/support/test.h"

#include <limits.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static int axis_of(const struct operation_case *row)
{
    return *(const int *)row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    neo_memory_desc sources[OPERATION_MOST_TENSORS];
    for (int i = 1; i < row->count; i++)
        sources[i - 1] = row->tensors[i].desc;
    return neo_concat_primitive_desc_create(out, on, &row->tensors[0].desc, row->count - 1,
                                            axis_of(row), sources, attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    neo_dim at[NEO_MAX_NDIMS];
    int source = 1, axis = axis_of(row);
    (void)output;
    for (int i = 0; i < t[0].desc.ndims; i++)
        at[i] = position[i];
    while (at[axis] >= t[source].desc.dims[axis])
        at[axis] -= t[source++].desc.dims[axis];
    return typed_get(&t[source], at);
}

static void check(int axis, int count, const neo_dim *lengths, neo_data_type from, neo_data_type to)
{
    static const char *const tags[] = {"abc", "acb", "cab"};
    neo_dim dims[] = {2, 3, 5}, all = 0;
    struct operation_case row = {.name = "concat",
                                 .create = create,
                                 .want = want,
                                 .context = &axis,
                                 .count = count + 1,
                                 .in_place = -1,
                                 .no_chains = true};
    for (int i = 0; i < count; i++) {
        dims[axis] = lengths[i];
        all += lengths[i];
        row.tensors[i + 1] = (struct operation_tensor){
            NEO_ARG_MULTIPLE_SRC + i,
            typed_gaps(3, dims, i % 2 ? to : from, tags[i % 3], lengths[i] % 2), false};
        row.scales[i + 1] = i % 2 && i < 16 ? 0.5f : 0; /* no more than eight */
    }
    dims[axis] = all;
    row.tensors[0] =
        (struct operation_tensor){NEO_ARG_DST, typed_gaps(3, dims, to, tags[axis], to % 2), true};
    operation_case_check(&row);
}

static void every_axis_and_pair_of_types(void **state)
{
    static const neo_dim lengths[] = {3, 1, 0, 4};
    (void)state;
    for (neo_data_type from = NEO_F32; from <= NEO_U8; from++)
        for (neo_data_type to = NEO_F32; to <= NEO_U8; to++)
            check((int)(from + to) % 3, 4, lengths, from, to);
}

static void one_and_many_sources(void **state)
{
    neo_dim lengths[NEO_MAX_SOURCES];
    (void)state;
    for (int i = 0; i < NEO_MAX_SOURCES; i++)
        lengths[i] = 1 + i % 3;
    for (int axis = 0; axis < 3; axis++) {
        check(axis, NEO_MAX_SOURCES, lengths, NEO_F32, NEO_F32);
        check(axis, 1, lengths, NEO_BF16, NEO_BF16);
    }
}

static neo_memory_desc vector(neo_dim size, neo_data_type type)
{
    return typed_desc(1, &size, type, "a");
}

/* f32 has no place for all bits of an s32. */
static void integers_are_copied_as_they_are(void **state)
{
    int32_t from[] = {INT_MAX - 1, -INT_MAX, 16777217, 5}, to[4] = {0};
    neo_memory_desc src = vector(4, NEO_S32), dst = src;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_memory *memories[2];
    (void)state;
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 1, 0, &src, NULL), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    assert_int_equal(neo_memory_create(&memories[0], &src, engine, from), NEO_OK);
    assert_int_equal(neo_memory_create(&memories[1], &dst, engine, to), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_MULTIPLE_SRC, memories[0]}, {NEO_ARG_DST, memories[1]}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_OK);
    assert_memory_equal(from, to, sizeof to);
    assert_int_equal(neo_primitive_execute(primitive, stream, 1, args), NEO_INVALID_ARGUMENT);
    args[0].arg = NEO_ARG_SRC;
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_INVALID_ARGUMENT);
    args[0] = args[1];
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_INVALID_ARGUMENT);
    neo_memory_destroy(memories[0]);
    neo_memory_destroy(memories[1]);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc dst = vector(5, NEO_F32);
    neo_memory_desc two[] = {vector(2, NEO_F32), vector(2, NEO_F32)};
    neo_memory_desc three[] = {vector(3, NEO_F32), vector(3, NEO_F32)};
    neo_attributes *attributes;
    (void)state;
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 2, 0, two, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 2, 0, three, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 2, 1, two, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 0, 0, two, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 33, 0, two, NULL),
                     NEO_INVALID_ARGUMENT);
    dst = vector(4, NEO_F32);
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_RELU, 0, 0), NEO_OK);
    assert_int_equal(neo_concat_primitive_desc_create(&pd, engine, &dst, 2, 0, two, attributes),
                     NEO_UNSUPPORTED);
    neo_attributes_destroy(attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_axis_and_pair_of_types),
        cmocka_unit_test(one_and_many_sources),
        cmocka_unit_test(integers_are_copied_as_they_are),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("concat", tests, session_setup, session_teardown);
}
