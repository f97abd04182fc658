/* The element-wise operation: every function, every pair of types, strides, in place. */
#include "tests/support/test.h"

#include "kernels/elementwise/f32/eltwise.h"
#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

struct function {
    neo_eltwise algorithm;
    float alpha, beta;
};

static const struct function *function_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    const struct function *f = function_of(row);
    return neo_eltwise_primitive_desc_create(out, on, NEO_FORWARD_INFERENCE, f->algorithm,
                                             &row->tensors[0].desc, &row->tensors[1].desc, f->alpha,
                                             f->beta, attributes);
}

/* Kernels are checked against doubles by themselves: here that the right one has the right values.
 */
static double want(const struct operation_case *row, const struct typed *tensors, int output,
                   const neo_dim *position)
{
    const struct function *f = function_of(row);
    float x = (float)typed_get(&tensors[0], position), y;
    (void)output;
    eltwise_f32_ref[f->algorithm].run(1, &x, &y, f->alpha, f->beta);
    return (double)y;
}

/* Values that no function makes infinite or NaN of. */
static void fill_positive(const struct operation_case *row, struct typed *tensors)
{
    const neo_memory_desc *desc = &tensors[0].desc;
    neo_dim position[NEO_MAX_NDIMS] = {0};
    (void)row;
    for (neo_dim i = 0; i < (neo_dim)neo_memory_desc_elements(desc); i++) {
        neo_dim rest = i;
        for (int d = desc->ndims - 1; d >= 0; d--) {
            position[d] = rest % desc->dims[d];
            rest /= desc->dims[d];
        }
        typed_put(&tensors[0], position, (double)(i % 7 + 1) / (desc->data_type < NEO_S32 ? 2 : 1));
    }
}

static struct operation_case case_of(const struct function *f, const char *name)
{
    return (struct operation_case){.name = name,
                                   .create = create,
                                   .want = want,
                                   .fill = fill_positive,
                                   .context = f,
                                   .count = 2,
                                   .error = 2e-6,
                                   .in_place = -1};
}

static void every_function(void **state)
{
    (void)state;
    for (int a = 0; a < ELTWISE_F32_COUNT; a++) {
        struct function f = {(neo_eltwise)a, 0.5f, 2};
        struct operation_case row = case_of(&f, neo_eltwise_name(f.algorithm));
        neo_memory_desc desc = typed_desc(3, (neo_dim[]){2, 3, 7}, NEO_F32, "abc");
        row.tensors[0] = (struct operation_tensor){NEO_ARG_SRC, desc, false};
        row.tensors[1] = (struct operation_tensor){NEO_ARG_DST, desc, true};
        row.in_place = 0;
        operation_case_check(&row);
    }
}

static void every_pair_of_types(void **state)
{
    static const struct function f = {NEO_ELTWISE_RELU, 0.25f, 0};
    (void)state;
    for (neo_data_type from = NEO_F32; from <= NEO_U8; from++)
        for (neo_data_type to = NEO_F32; to <= NEO_U8; to++) {
            struct operation_case row = case_of(&f, neo_data_type_name(to));
            const neo_dim dims[] = {2, 5, 3};
            row.fill = NULL;
            row.tensors[0] = (struct operation_tensor){
                NEO_ARG_SRC, typed_gaps(3, dims, from, from % 2 ? "abc" : "acb", 1), false};
            row.tensors[1] = (struct operation_tensor){
                NEO_ARG_DST, typed_gaps(3, dims, to, "cab", from % 3 ? 2 : 0), true};
            operation_case_check(&row);
        }
}

/* Longer than a chunk; `any`; one element. */
static void other_shapes(void **state)
{
    static const struct function f = {NEO_ELTWISE_TANH, 0, 0};
    static const struct {
        neo_dim dims[2];
        const char *src, *dst;
    } shapes[] = {{{1, 2500}, "ab", "any"}, {{3, 1100}, "ba", "ab"}, {{1, 1}, "ab", "ab"}};
    (void)state;
    for (size_t i = 0; i < count_of(shapes); i++) {
        struct operation_case row = case_of(&f, "shape");
        row.tensors[0].arg = NEO_ARG_SRC;
        row.tensors[0].desc = typed_desc(2, shapes[i].dims, NEO_BF16, shapes[i].src);
        row.tensors[1].arg = NEO_ARG_DST;
        row.tensors[1].desc = typed_desc(2, shapes[i].dims, NEO_F16, shapes[i].dst);
        row.tensors[1].is_output = true;
        operation_case_check(&row);
    }
}

static void refuses(void **state)
{
    (void)state;
    neo_primitive_desc *pd;
    neo_memory_desc a = typed_desc(2, (neo_dim[]){2, 3}, NEO_F32, "ab");
    neo_memory_desc b = typed_desc(2, (neo_dim[]){2, 4}, NEO_F32, "ab");
    static const struct function functions[] = {
        {NEO_ELTWISE_CLIP, 1, 0}, {NEO_ELTWISE_SOFT_RELU, 0, 0}, {(neo_eltwise)99, 0, 0}};
    for (size_t i = 0; i < count_of(functions); i++)
        assert_int_equal(neo_eltwise_primitive_desc_create(
                             &pd, engine, NEO_FORWARD_INFERENCE, functions[i].algorithm, &a, &a,
                             functions[i].alpha, functions[i].beta, NULL),
                         NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_eltwise_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                       NEO_ELTWISE_ABS, &a, &b, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_eltwise_primitive_desc_create(&pd, engine, (neo_prop_kind)9,
                                                       NEO_ELTWISE_ABS, &a, &a, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_eltwise_primitive_desc_create(&pd, engine, NEO_FORWARD_INFERENCE,
                                                       NEO_ELTWISE_ABS, &a, NULL, 0, 0, NULL),
                     NEO_INVALID_ARGUMENT);
    assert_null(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function),
        cmocka_unit_test(every_pair_of_types),
        cmocka_unit_test(other_shapes),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests_name("eltwise", tests, session_setup, session_teardown);
}
