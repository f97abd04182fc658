/* Shuffling: every axis, type and layout. */
#include "tests/support/test.h"

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

struct shuffle {
    int axis;
    neo_dim group_size;
};

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    const struct shuffle *s = row->context;
    return neo_shuffle_primitive_desc_create(out, on, NEO_FORWARD_INFERENCE, &row->tensors[0].desc,
                                             &row->tensors[1].desc, s->axis, s->group_size,
                                             attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const struct shuffle *s = row->context;
    neo_dim at[NEO_MAX_NDIMS], rows = t[0].desc.dims[s->axis] / s->group_size;
    (void)output;
    for (int i = 0; i < t[0].desc.ndims; i++)
        at[i] = position[i];
    at[s->axis] = position[s->axis] % rows * s->group_size + position[s->axis] / rows;
    return typed_get(&t[0], at);
}

static void every_axis_type_and_layout(void **state)
{
    static const struct shuffle all[] = {{0, 2}, {1, 3}, {1, 12}, {1, 1}, {2, 5}, {3, 2}};
    static const char *const tags[] = {"abcd", "acdb", "dcab"};
    const neo_dim dims[] = {4, 12, 5, 6};
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (size_t i = 0; i < count_of(all); i++) {
            struct operation_case row = {.name = "shuffle",
                                         .create = create,
                                         .want = want,
                                         .context = &all[i],
                                         .count = 2,
                                         .in_place = -1,
                                         .no_chains = true};
            row.tensors[0] = (struct operation_tensor){
                NEO_ARG_SRC, typed_gaps(4, dims, type, tags[i % 3], 1), false};
            row.tensors[1] = (struct operation_tensor){
                NEO_ARG_DST, typed_gaps(4, dims, type, tags[(i / 2) % 3], i % 2), true};
            operation_case_check(&row);
        }
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 6}, NEO_F32, "ab");
    static const struct shuffle wrong[] = {{2, 1}, {-1, 1}, {1, 4}, {1, 0}};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_shuffle_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE, &a,
                                                           &a, wrong[i].axis, wrong[i].group_size,
                                                           NULL),
                         NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_axis_type_and_layout),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("shuffle", tests, session_setup, session_teardown);
}
