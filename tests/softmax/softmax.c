/* Softmax: both kinds, every axis and type, rows of infinities, in place. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

struct softmax {
    neo_softmax algorithm;
    int axis;
};

static const struct softmax *softmax_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    return neo_softmax_primitive_desc_create(
        out, on, NEO_FORWARD_INFERENCE, softmax_of(row)->algorithm, &row->tensors[0].desc,
        &row->tensors[1].desc, softmax_of(row)->axis, attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    int axis = softmax_of(row)->axis;
    neo_dim at[NEO_MAX_NDIMS];
    const double lowest = -HUGE_VAL;
    double max = lowest, sum = 0;
    (void)output;
    for (int i = 0; i < t[0].desc.ndims; i++)
        at[i] = position[i];
    for (at[axis] = 0; at[axis] < t[0].desc.dims[axis]; at[axis]++)
        max = fmax(max, typed_get(&t[0], at));
    if (max == lowest && softmax_of(row)->algorithm == NEO_SOFTMAX_ACCURATE_INF_AS_ZERO)
        return 0;
    for (at[axis] = 0; at[axis] < t[0].desc.dims[axis]; at[axis]++)
        sum += exp(typed_get(&t[0], at) - max);
    double x = typed_get(&t[0], position) - max;
    return softmax_of(row)->algorithm == NEO_SOFTMAX_LOG ? x - log(sum) : exp(x) / sum;
}

/* The definition of what was overwritten is not there any more: so src is kept by a copy. */
static void check(const struct softmax *s, int ndims, const neo_dim *dims, neo_data_type from,
                  neo_data_type to, const char *src, const char *dst, operation_fill_fn *fill)
{
    struct operation_case row = {.name = "softmax",
                                 .create = create,
                                 .want = want,
                                 .fill = fill,
                                 .context = s,
                                 .count = 2,
                                 .error = 1e-6,
                                 .scales = {0.5f, 0.25f},
                                 .scales_result = true,
                                 .in_place = from == to && src == dst ? 0 : -1};
    row.tensors[0] = (struct operation_tensor){
        NEO_ARG_SRC, typed_gaps(ndims, dims, from, src, src == dst ? 0 : 1), false};
    row.tensors[1] = (struct operation_tensor){NEO_ARG_DST, typed_desc(ndims, dims, to, dst), true};
    operation_case_check(&row);
}

static void every_axis_and_type(void **state)
{
    static const neo_dim dims[] = {3, 5, 4, 7};
    static const char *const tags[] = {"abcd", "acdb", "dcba"};
    (void)state;
    for (neo_data_type type = NEO_F32; type <= NEO_U8; type++)
        for (int axis = 0; axis < 4; axis++) {
            struct softmax s = {(neo_softmax)((type + (neo_data_type)axis) % 3), axis};
            const char *src = tags[type % 3], *dst = tags[(type + (neo_data_type)axis) % 3];
            check(&s, 4, dims, type, type == NEO_S32 ? NEO_F32 : type, src, dst, NULL);
        }
}

static void long_rows(void **state)
{
    static const struct softmax all[] = {{NEO_SOFTMAX_ACCURATE, 1}, {NEO_SOFTMAX_LOG, 1}};
    (void)state;
    for (size_t i = 0; i < count_of(all); i++) {
        check(&all[i], 2, (neo_dim[]){1, 1030}, NEO_F32, NEO_F32, "ab", "ab", NULL);
        check(&all[i], 2, (neo_dim[]){2, 1}, NEO_BF16, NEO_F32, "ab", "ba", NULL);
    }
}

static void fill_infinities(const struct operation_case *row, struct typed *tensors)
{
    const neo_dim *dims = tensors[0].desc.dims;
    (void)row;
    for (neo_dim i = 0; i < dims[0]; i++)
        for (neo_dim j = i == 0 ? 0 : 1; j < dims[1]; j++)
            typed_put(&tensors[0], (neo_dim[]){i, j}, -HUGE_VAL);
}

static void masked_rows(void **state)
{
    static const struct softmax s = {NEO_SOFTMAX_ACCURATE_INF_AS_ZERO, 1};
    static const struct softmax nan = {NEO_SOFTMAX_ACCURATE, 1};
    (void)state;
    check(&s, 2, (neo_dim[]){2, 9}, NEO_F32, NEO_F32, "ab", "ba", fill_infinities);
    check(&nan, 2, (neo_dim[]){2, 9}, NEO_F16, NEO_F16, "ab", "ba", fill_infinities);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 3}, NEO_F32, "ab");
    static const struct softmax wrong[] = {
        {NEO_SOFTMAX_LOG, 2}, {NEO_SOFTMAX_LOG, -1}, {(neo_softmax)3, 0}};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_softmax_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                           wrong[i].algorithm, &a, &a,
                                                           wrong[i].axis, NULL),
                         NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_axis_and_type),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(masked_rows),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("softmax", tests, session_setup, session_teardown);
}
