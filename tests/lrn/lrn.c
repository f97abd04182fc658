/* Local response normalisation: across and within channels, types, layouts. */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

struct lrn {
    neo_lrn algorithm;
    neo_dim local_size;
    float alpha, beta, k;
};

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    const struct lrn *l = row->context;
    return neo_lrn_primitive_desc_create(out, on, NEO_FORWARD_INFERENCE, l->algorithm,
                                         &row->tensors[0].desc, &row->tensors[1].desc,
                                         l->local_size, l->alpha, l->beta, l->k, attributes);
}

/* Squares of all that is near in the dimensions from d to last. */
static double sum_near(const struct typed *src, const neo_dim *position, int d, int last,
                       neo_dim half, neo_dim *at)
{
    if (d > last)
        return typed_get(src, at) * typed_get(src, at);
    double sum = 0;
    for (at[d] = position[d] - half; at[d] <= position[d] + half; at[d]++)
        if (at[d] >= 0 && at[d] < src->desc.dims[d])
            sum += sum_near(src, position, d + 1, last, half, at);
    return sum;
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const struct lrn *l = row->context;
    int ndims = t[0].desc.ndims;
    bool across = l->algorithm == NEO_LRN_ACROSS_CHANNELS;
    neo_dim at[NEO_MAX_NDIMS];
    (void)output;
    for (int i = 0; i < ndims; i++)
        at[i] = position[i];
    double sum = sum_near(&t[0], position, across ? 1 : 2, across ? 1 : ndims - 1,
                          (l->local_size - 1) / 2, at);
    double n = pow((double)l->local_size, across ? 1 : ndims - 2);
    double base = (double)l->k + (double)l->alpha * sum / n;
    return typed_get(&t[0], position) * pow(base, -(double)l->beta);
}

static void every_kind_type_and_layout(void **state)
{
    static const struct lrn all[] = {{NEO_LRN_ACROSS_CHANNELS, 5, 0.25f, 0.75f, 1},
                                     {NEO_LRN_ACROSS_CHANNELS, 4, 1, 0.5f, 2},
                                     {NEO_LRN_WITHIN_CHANNEL, 3, 0.5f, 0.75f, 1},
                                     {NEO_LRN_WITHIN_CHANNEL, 1, 0.5f, 1, 1}};
    static const char *const tags[] = {"abcd", "acdb", "dcba"};
    static const neo_dim dims[] = {2, 7, 4, 5};
    (void)state;
    for (size_t i = 0; i < count_of(all); i++)
        for (neo_data_type type = NEO_F32; type <= NEO_U8; type++) {
            struct operation_case row = {.name = "lrn",
                                         .create = create,
                                         .want = want,
                                         .context = &all[i],
                                         .count = 2,
                                         .error = 2e-6,
                                         .in_place = -1};
            row.tensors[0] = (struct operation_tensor){
                NEO_ARG_SRC, typed_gaps(4, dims, type, tags[(i + type) % 3], 1), false};
            row.tensors[1] = (struct operation_tensor){
                NEO_ARG_DST, typed_gaps(4, dims, type, tags[type % 3], 1), true};
            operation_case_check(&row);
        }
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(3, (neo_dim[]){2, 3, 5}, NEO_F32, "abc");
    static const struct lrn wrong[] = {{(neo_lrn)2, 3, 1, 1, 1},
                                       {NEO_LRN_WITHIN_CHANNEL, 0, 1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_lrn_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                       wrong[i].algorithm, &a, &a,
                                                       wrong[i].local_size, 1, 1, 1, NULL),
                         NEO_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_type_and_layout),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("lrn", tests, session_setup, session_teardown);
}
