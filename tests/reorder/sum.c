/* Reorders that add to what dst has. */
#include "tests/support/test.h"

#include "tests/support/cases/typed.h"
#include "tests/support/fill.h"
#include "tests/support/require.h"
#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { ROWS = 3, COLUMNS = 700 };

/* dst = src + 2 dst, where dst's columns are so far apart: more than one chunk of a line is read.
 */
static void add_to(neo_dim stride)
{
    neo_memory_desc src_desc = tensor_matrix(ROWS, COLUMNS, "ab"), dst_desc;
    neo_dim sizes[] = {ROWS, COLUMNS}, strides[] = {stride * COLUMNS, stride};
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    float wanted[ROWS][COLUMNS];
    assert_int_equal(neo_memory_desc_init_strides(&dst_desc, 2, sizes, NEO_F32, strides), NEO_OK);
    struct tensor src = tensor_make(engine, &src_desc, 1), dst = tensor_make(engine, &dst_desc, 2);
    for (neo_dim i = 0; i < ROWS; i++)
        for (neo_dim j = 0; j < COLUMNS; j++)
            wanted[i][j] =
                *tensor_at(&src, (neo_dim[]){i, j}) + 2 * *tensor_at(&dst, (neo_dim[]){i, j});
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_append_sum(attributes, 2, 0, NEO_DATA_TYPE_UNDEF), NEO_OK);
    assert_int_equal(
        neo_reorder_primitive_desc_create(&pd, engine, &src_desc, &dst_desc, attributes), NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory}, {NEO_ARG_DST, dst.memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 2, args), NEO_OK);
    for (neo_dim i = 0; i < ROWS; i++)
        for (neo_dim j = 0; j < COLUMNS; j++)
            if (*tensor_at(&dst, (neo_dim[]){i, j}) != wanted[i][j])
                fail_msg("stride %d, row %d, column %d: %g, not %g", (int)stride, (int)i, (int)j,
                         (double)*tensor_at(&dst, (neo_dim[]){i, j}), (double)wanted[i][j]);
    tensor_check_gaps(&dst);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    tensor_free(&dst);
    tensor_free(&src);
}

static void old_values_may_be_apart(void **state)
{
    (void)state;
    for (neo_dim stride = 1; stride <= 3; stride++)
        add_to(stride);
}

/* dst = src + dst / 2, of halves of bytes, which are read from the middle of bytes, too: rows are
 * odd. */
static void add_to_halves(neo_data_type type, const char *tag, uint32_t *seed)
{
    const neo_dim dims[] = {ROWS, COLUMNS + 1};
    struct typed src = typed_make_tag(engine, NEO_S8, 2, dims, "ab");
    struct typed old = typed_make_tag(engine, type, 2, dims, "ab");
    struct typed dst = typed_make_tag(engine, type, 2, dims, tag);
    neo_attributes *attributes;
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    neo_dim at[2] = {0};
    typed_fill(&src, -6, 6, seed);
    typed_fill(&old, -8, 15, seed);
    do
        typed_put(&dst, at, typed_get(&old, at));
    while (typed_next(2, dims, at));
    require(neo_attributes_create(&attributes) == NEO_OK);
    require(neo_attributes_append_sum(attributes, .5f, 0, NEO_DATA_TYPE_UNDEF) == NEO_OK);
    require(neo_reorder_primitive_desc_create(&pd, engine, &src.desc, &dst.desc, attributes) ==
            NEO_OK);
    require(neo_primitive_create(&primitive, pd) == NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, src.memory}, {NEO_ARG_DST, dst.memory}};
    require(neo_primitive_execute(primitive, stream, 2, args) == NEO_OK);
    do {
        double want = typed_round(type, typed_get(&src, at) + typed_get(&old, at) / 2);
        if (typed_get(&dst, at) != want)
            fail_msg("%s of %s, %d,%d: %g, not %g", tag, neo_data_type_name(type), (int)at[0],
                     (int)at[1], typed_get(&dst, at), want);
    } while (typed_next(2, dims, at));
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    neo_attributes_destroy(attributes);
    typed_free(&dst);
    typed_free(&old);
    typed_free(&src);
}

static void halves_of_bytes_are_added_to(void **state)
{
    uint32_t seed = fill_seed();
    (void)state;
    for (int type = NEO_S4; type <= NEO_U4; type++) {
        add_to_halves((neo_data_type)type, "ab", &seed);
        add_to_halves((neo_data_type)type, "ba", &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_values_may_be_apart),
        cmocka_unit_test(halves_of_bytes_are_added_to),
    };
    return cmocka_run_group_tests_name("reorder_sum", tests, session_setup_single,
                                       session_teardown);
}
