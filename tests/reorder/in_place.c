/* Reorders whose src is dst's buffer: the same bytes as into another one. */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/session.h"
#include "tests/support/tensor.h"

enum { ROWS = 3, COLUMNS = 701 }; /* more than one chunk of a line, and half a byte of two rows */

static neo_attributes *scaled_and_clipped(void)
{
    neo_attributes *attributes;
    assert_int_equal(neo_attributes_create(&attributes), NEO_OK);
    assert_int_equal(neo_attributes_set_scales(attributes, NEO_ARG_SRC, 0, 0, NULL, NEO_F32),
                     NEO_OK);
    assert_int_equal(neo_attributes_append_eltwise(attributes, NEO_ELTWISE_CLIP, -3, 5), NEO_OK);
    return attributes;
}

static void run(const neo_primitive *primitive, const struct tensor *from, const struct tensor *to,
                bool is_scaled)
{
    static float scale = 2;
    neo_memory_desc one = tensor_matrix(1, 1, "ab");
    neo_memory *scales;
    one.ndims = 1;
    assert_int_equal(neo_memory_create(&scales, &one, engine, &scale), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, from->memory},
                                 {NEO_ARG_DST, to->memory},
                                 {NEO_ARG_ATTR_SCALES | NEO_ARG_SRC, scales}};
    assert_int_equal(neo_primitive_execute(primitive, stream, is_scaled ? 3 : 2, args), NEO_OK);
    neo_memory_destroy(scales);
}

static void fill(const struct tensor *tensor, size_t bytes)
{
    unsigned char *data = neo_memory_get_handle(tensor->memory);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 7 % 64); /* f16, bf16 and f32 of these are finite */
}

static void check(const neo_memory_desc *desc, neo_attributes *attributes)
{
    size_t bytes = neo_memory_desc_size(desc);
    struct tensor src = tensor_make(engine, desc, 0), dst = tensor_make(engine, desc, 0);
    neo_primitive_desc *pd;
    neo_primitive *primitive;
    assert_int_equal(neo_reorder_primitive_desc_create(&pd, engine, desc, desc, attributes),
                     NEO_OK);
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    fill(&src, bytes);
    fill(&dst, bytes); /* half a byte may be of no element */
    run(primitive, &src, &dst, attributes != NULL);
    if (attributes)
        assert_memory_not_equal(neo_memory_get_handle(src.memory),
                                neo_memory_get_handle(dst.memory), bytes);
    run(primitive, &src, &src, attributes != NULL);
    assert_memory_equal(neo_memory_get_handle(src.memory), neo_memory_get_handle(dst.memory),
                        bytes);
    neo_primitive_destroy(primitive);
    neo_primitive_desc_destroy(pd);
    tensor_free(&dst);
    tensor_free(&src);
}

static void plain_tensors_of_every_type(void **state)
{
    (void)state;
    static const neo_data_type types[] = {NEO_F32, NEO_F16, NEO_BF16, NEO_S32,
                                          NEO_S8,  NEO_U8,  NEO_S4,   NEO_U4};
    static const char *const tags[] = {"ab", "ba"};
    neo_attributes *attributes = scaled_and_clipped();
    for (size_t t = 0; t < count_of(types); t++)
        for (size_t i = 0; i < count_of(tags); i++) {
            neo_memory_desc desc = tensor_matrix(ROWS, COLUMNS, tags[i]);
            desc.data_type = types[t];
            check(&desc, NULL);
            check(&desc, attributes);
        }
    neo_attributes_destroy(attributes);
}

static void packed_weights(void **state)
{
    (void)state;
    neo_matmul_desc product = {.src = tensor_matrix(4, 40, "ab"),
                               .weights = tensor_matrix(40, 24, "any"),
                               .dst = tensor_matrix(4, 24, "ab")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &product, NULL), NEO_OK);
    check(neo_primitive_desc_query(pd, NEO_ARG_WEIGHTS), NULL);
    neo_primitive_desc_destroy(pd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_tensors_of_every_type),
        cmocka_unit_test(packed_weights),
    };
    return cmocka_run_group_tests_name("reorder_in_place", tests, session_setup, session_teardown);
}
