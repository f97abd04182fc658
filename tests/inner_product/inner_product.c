/* The inner product: orders of src and weights, types, bias, post-operations. */
#include "tests/support/test.h"

#include "tests/support/cases/operation_case.h"
#include "tests/support/session.h"

static const neo_inner_product_desc *inner_product_of(const struct operation_case *row)
{
    return row->context;
}

static neo_status create(neo_primitive_desc **out, neo_engine *on, const struct operation_case *row,
                         const neo_attributes *attributes)
{
    neo_inner_product_desc desc = *inner_product_of(row);
    desc.src = row->tensors[0].desc; /* whose sizes may be known later */
    desc.weights = row->tensors[1].desc;
    desc.dst = row->tensors[2].desc;
    desc.bias = row->tensors[3].desc; /* absent where that is not set */
    return neo_inner_product_primitive_desc_create(out, on, &desc, attributes);
}

static double want(const struct operation_case *row, const struct typed *t, int output,
                   const neo_dim *position)
{
    const struct typed *src = &t[0], *weights = &t[1];
    neo_dim at[NEO_MAX_NDIMS] = {0}, sizes[NEO_MAX_NDIMS];
    double sum = row->count == 4 ? typed_get(&t[3], &position[1]) : 0;
    (void)output;
    for (int i = 0; i < src->desc.ndims; i++)
        sizes[i] = i ? src->desc.dims[i] : 1;
    do {
        neo_dim in_weights[NEO_MAX_NDIMS];
        for (int i = 0; i < src->desc.ndims; i++)
            in_weights[i] = at[i];
        at[0] = position[0];
        in_weights[0] = position[1];
        sum += typed_get(src, at) * typed_get(weights, in_weights);
        at[0] = 0;
    } while (typed_next(src->desc.ndims, sizes, at));
    return sum;
}

struct layout {
    int ndims;
    neo_dim src[5];
    const char *src_tag, *weights_tag;
    neo_dim src_gap, weights_gap;
};

static void check(const struct layout *l, const neo_data_type types[3], bool has_bias)
{
    neo_dim weights[5], columns = 5, dst[] = {l->src[0], columns};
    for (int i = 0; i < l->ndims; i++)
        weights[i] = i ? l->src[i] : columns;
    neo_inner_product_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_gaps(l->ndims, l->src, types[0], l->src_tag, l->src_gap),
        .dst = typed_desc(2, dst, types[2], "any"),
    };
    desc.weights = l->weights_gap
                       ? typed_gaps(l->ndims, weights, types[1], l->weights_tag, l->weights_gap)
                       : typed_desc(l->ndims, weights, types[1], l->weights_tag);
    if (has_bias)
        desc.bias = typed_desc(1, &columns, NEO_F32, "a");
    struct operation_case row = {.name = "inner_product",
                                 .create = create,
                                 .want = want,
                                 .context = &desc,
                                 .count = has_bias ? 4 : 3,
                                 .error = 1e-5,
                                 .scales = {0.5f, 0.25f, 2},
                                 .known = {ALL_KNOWN & ~1, ALL_KNOWN, 1 << 1, ALL_KNOWN},
                                 .in_place = -1};
    row.tensors[0] = (struct operation_tensor){NEO_ARG_SRC, desc.src, false};
    row.tensors[1] = (struct operation_tensor){NEO_ARG_WEIGHTS, desc.weights, false};
    row.tensors[2] = (struct operation_tensor){NEO_ARG_DST, desc.dst, true};
    row.tensors[3] = (struct operation_tensor){NEO_ARG_BIAS, desc.bias, false};
    operation_case_check(&row);
}

static void every_layout_and_type(void **state)
{
    static const struct layout layouts[] = {
        {2, {3, 17}, "ab", "any", 0, 0},         {2, {3, 17}, "ba", "ab", 0, 0},
        {4, {2, 3, 4, 5}, "acdb", "any", 0, 0},  {4, {2, 3, 4, 5}, "acdb", "abcd", 0, 0},
        {4, {2, 3, 4, 5}, "abcd", "acdb", 1, 0}, {5, {1, 2, 3, 2, 3}, "abcde", "acdeb", 0, 2},
        {3, {4, 1, 1}, "abc", "abc", 0, 0},      {4, {2, 6, 1, 1}, "abcd", "acdb", 0, 0},
    };
    static const neo_data_type types[][3] = {{NEO_F32, NEO_F32, NEO_F32},
                                             {NEO_BF16, NEO_BF16, NEO_F32},
                                             {NEO_F16, NEO_F16, NEO_F16},
                                             {NEO_U8, NEO_S8, NEO_S32},
                                             {NEO_S8, NEO_S8, NEO_F32}};
    (void)state;
    for (size_t i = 0; i < count_of(layouts); i++)
        for (size_t j = 0; j < count_of(types); j++)
            check(&layouts[i], types[j], (i + j) % 2);
}

static void refuses(void **state)
{
    neo_primitive_desc *pd;
    const neo_inner_product_desc right = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(3, (neo_dim[]){2, 3, 4}, NEO_F32, "abc"),
        .weights = typed_desc(3, (neo_dim[]){5, 3, 4}, NEO_F32, "abc"),
        .dst = typed_desc(2, (neo_dim[]){2, 5}, NEO_F32, "ab"),
    };
    neo_inner_product_desc wrong[5];
    (void)state;
    for (size_t i = 0; i < count_of(wrong); i++)
        wrong[i] = right;
    wrong[0].weights.dims[2] = 5;
    wrong[1].dst.dims[1] = 4;
    wrong[2].dst.dims[0] = 3;
    wrong[3].bias = typed_desc(1, (neo_dim[]){4}, NEO_F32, "a");
    wrong[4].src.ndims = 2;
    for (size_t i = 0; i < count_of(wrong); i++)
        assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &wrong[i], NULL),
                         NEO_INVALID_ARGUMENT);
    assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &right, NULL), NEO_OK);
    neo_primitive_desc_destroy(pd);
}

static void only_the_batch_may_be_known_late(void **state)
{
    neo_primitive_desc *pd;
    neo_attributes *users;
    neo_inner_product_desc late = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .src = typed_desc(3, (neo_dim[]){NEO_RUNTIME_DIM, 3, 4}, NEO_F32, "any"),
        .weights = typed_desc(3, (neo_dim[]){5, 3, 4}, NEO_F32, "any"),
        .dst = typed_desc(2, (neo_dim[]){NEO_RUNTIME_DIM, 5}, NEO_F32, "any"),
    };
    (void)state;
    assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &late, NULL), NEO_OK);
    assert_true(neo_primitive_desc_query(pd, NEO_ARG_SRC)->strides[0] == 12);
    neo_primitive_desc_destroy(pd);
    assert_int_equal(neo_attributes_create(&users), NEO_OK);
    neo_attributes_set_scratchpad_mode(users, NEO_SCRATCHPAD_USER);
    assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &late, users),
                     NEO_UNSUPPORTED);
    neo_attributes_destroy(users);
    neo_dim *sizes[] = {&late.src.dims[1], &late.weights.dims[0], &late.dst.dims[1]};
    for (size_t i = 0; i < count_of(sizes); i++) {
        neo_dim known = *sizes[i];
        *sizes[i] = NEO_RUNTIME_DIM;
        assert_int_equal(neo_inner_product_primitive_desc_create(&pd, engine, &late, NULL),
                         NEO_UNSUPPORTED);
        *sizes[i] = known;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_and_type),
        cmocka_unit_test(refuses),
        cmocka_unit_test(only_the_batch_may_be_known_late),
    };
    return cmocka_run_group_tests_name("inner_product", tests, session_setup, session_teardown);
}
