/* Leaky relu with a tensor of slopes: types, layouts, broadcast. */
#include "tests/support/test.h"

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    return neo_prelu_primitive_desc_create(out, on, NEO_FORWARD_INFERENCE, &row->tensors[1].desc,
                                           &row->tensors[2].desc, &row->tensors[0].desc,
                                           attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    double x = typed_get(&t[1], position);
    (void)row, (void)output;
    return x > 0 ? x : x * typed_get(&t[2], position);
}

static void every_type_and_broadcast(void **state)
{
    static const neo_dim slopes[][3] = {{2, 5, 7}, {1, 5, 1}, {1, 1, 1}, {2, 1, 7}, {1, 1, 7}};
    static const char *const tags[] = {"abc", "acb", "cab"};
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (size_t i = 0; i < count_of(slopes); i++) {
            const neo_dim dims[] = {2, 5, 7};
            bool in_place = i % 2 == 0;
            struct operation_case row = {.name = "prelu",
                                         .create = create,
                                         .want = want,
                                         .count = 3,
                                         .error = 1e-6,
                                         .in_place = in_place ? 1 : -1};
            row.tensors[0] = (struct operation_tensor){
                NEO_ARG_DST, typed_gaps(3, dims, type, tags[i % 3], 1), true};
            row.tensors[1] = (struct operation_tensor){
                NEO_ARG_SRC, typed_gaps(3, dims, type, tags[in_place ? i % 3 : 0], 1), false};
            row.tensors[2] = (struct operation_tensor){
                NEO_ARG_WEIGHTS,
                typed_desc(3, slopes[i], type == NEO_U8 ? NEO_F32 : type, tags[(i + 1) % 3]),
                false};
            operation_case_check(&row);
        }
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 3}, NEO_F32, "ab");
    neo_memory_desc b = typed_desc(2, (neo_dim[]){2, 2}, NEO_F32, "ab");
    neo_memory_desc c = typed_desc(1, (neo_dim[]){3}, NEO_F32, "a");
    const neo_memory_desc *wrong[] = {&b, &c, NULL};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_prelu_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE, &a,
                                                         wrong[i], &a, NULL),
                         NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_broadcast),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("prelu", tests, session_setup, session_teardown);
}
