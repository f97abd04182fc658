/* The binary operation: every function, broadcast of either side, types, strides, in place. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static neo_binary algorithm_of(const struct operation_case *row)
{
    return *(const neo_binary *)row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    return neo_binary_primitive_desc_create(
        out, on, algorithm_of(row), &row->tensors[1].desc, &row->tensors[2].desc,
        row->count == 4 ? &row->tensors[3].desc : NULL, &row->tensors[0].desc, attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    double a = typed_get(&t[1], position), b = typed_get(&t[2], position);
    (void)output;
    if (algorithm_of(row) == NEO_BINARY_SELECT)
        return typed_get(&t[3], position) != 0 ? a : b;
    const double all[] = {a + b,  a - b, a * b,  a / b, fmin(a, b), fmax(a, b),
                          a >= b, a > b, a <= b, a < b, a == b,     a != b};
    return all[algorithm_of(row)];
}

/* dst and sources of these sizes; a size of 1 is broadcast. */
static void check(neo_binary algorithm, const neo_dim sizes[4][3], const neo_data_type types[4],
                  const char *const tags[4], neo_dim gap, int in_place)
{
    static const int args[] = {NEO_ARG_DST, NEO_ARG_SRC, NEO_ARG_SRC_1, NEO_ARG_SRC_2};
    struct operation_case row = {.name = neo_binary_name(algorithm),
                                 .create = create,
                                 .want = want,
                                 .context = &algorithm,
                                 .count = algorithm == NEO_BINARY_SELECT ? 4 : 3,
                                 .error = 1e-6,
                                 .in_place = in_place,
                                 .scales = {0, 0.5f, -2}};
    for (int i = 0; i < row.count; i++)
        row.tensors[i] = (struct operation_tensor){
            args[i], typed_gaps(3, sizes[i], types[i], tags[i], gap), i == 0};
    operation_case_check(&row);
}

static void every_function(void **state)
{
    static const neo_dim sizes[4][3] = {{2, 5, 9}, {2, 5, 9}, {2, 5, 9}, {2, 5, 9}};
    static const neo_data_type types[] = {NEO_F32, NEO_F32, NEO_F32, NEO_S8};
    static const char *const tags[] = {"abc", "abc", "abc", "abc"};
    (void)state;
    for (int a = 0; a <= NEO_BINARY_SELECT; a++)
        check((neo_binary)a, sizes, types, tags, 0, 1 + a % 2);
}

static void broadcasts_of_all_types(void **state)
{
    static const neo_dim sizes[][4][3] = {
        {{3, 4, 5}, {3, 4, 5}, {1, 4, 1}, {1, 1, 5}},
        {{3, 4, 5}, {3, 1, 5}, {3, 4, 1}, {3, 4, 5}},
        {{3, 4, 5}, {1, 1, 1}, {3, 4, 5}, {1, 4, 5}},
        {{3, 4, 5}, {1, 4, 5}, {3, 1, 1}, {1, 1, 1}},
    };
    static const char *const tags[][4] = {{"abc", "abc", "acb", "abc"},
                                          {"acb", "acb", "abc", "cba"}};
    static const neo_binary algorithms[] = {NEO_BINARY_SUB, NEO_BINARY_GE, NEO_BINARY_SELECT};
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (size_t i = 0; i < count_of(sizes); i++) {
            neo_data_type next = type == NEO_U8 ? NEO_F32 : (neo_data_type)(type + 1);
            const neo_data_type types[] = {type, next, type, NEO_S8};
            check(algorithms[(i + (size_t)type) % 3], sizes[i], types, tags[i % 2], (neo_dim)i % 3,
                  -1);
        }
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 3}, NEO_F32, "ab");
    neo_memory_desc b = typed_desc(2, (neo_dim[]){2, 2}, NEO_F32, "ab");
    neo_memory_desc c = typed_desc(1, (neo_dim[]){3}, NEO_F32, "a");
    const struct {
        neo_binary algorithm;
        const neo_memory_desc *src0, *src1, *src2;
    } wrong[] = {{NEO_BINARY_ADD, &a, &b, NULL}, {NEO_BINARY_ADD, &a, &c, NULL},
                 {NEO_BINARY_ADD, &b, &a, NULL}, {NEO_BINARY_SELECT, &a, &a, NULL},
                 {NEO_BINARY_ADD, &a, &a, &a},   {(neo_binary)77, &a, &a, NULL},
                 {NEO_BINARY_SELECT, &a, &a, &b}};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++) {
        assert_int_equal(neo_binary_primitive_desc_create(&pd, engine, wrong[i].algorithm,
                                                          wrong[i].src0, wrong[i].src1,
                                                          wrong[i].src2, &a, NULL),
                         NEO_INVALID_ARGUMENT);
        assert_null(pd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function),
        cmocka_unit_test(broadcasts_of_all_types),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("binary", tests, session_setup, session_teardown);
}
