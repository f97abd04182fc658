/* Packed weights of a product, and what is done with them. */
#include "tests/support/packed/packed.h"

#include "tests/support/test.h"

neo_primitive_desc *packed_describe(neo_engine *where, neo_dim m, const neo_attributes *attributes)
{
    neo_matmul_desc desc = {.src = tensor_matrix(m, 40, "ab"),
                            .weights = tensor_matrix(40, 30, "any"),
                            .dst = tensor_matrix(m, 30, "ab")};
    neo_primitive_desc *pd;
    assert_int_equal(neo_matmul_primitive_desc_create(&pd, where, &desc, attributes), NEO_OK);
    return pd;
}

struct tensor packed_source(neo_engine *where, const char *tag, unsigned seed)
{
    neo_memory_desc desc = tensor_matrix(40, 30, tag);
    return tensor_make(where, &desc, seed);
}

neo_packed_weights *packed_make(neo_stream *in, const neo_primitive_desc *pd,
                                const struct tensor *plain)
{
    neo_packed_weights *weights;
    assert_int_equal(neo_weights_pack(&weights, pd, in, plain->memory), NEO_OK);
    return weights;
}

neo_weights_statistics packed_statistics(neo_engine *where)
{
    neo_weights_statistics s;
    assert_int_equal(neo_engine_get_weights_statistics(where, &s), NEO_OK);
    return s;
}

const void *packed_data(const neo_packed_weights *weights)
{
    return neo_memory_get_handle(neo_packed_weights_memory(weights));
}

void packed_multiply(const neo_primitive_desc *pd, neo_stream *in,
                     const neo_packed_weights *weights, const struct tensor *src,
                     const struct tensor *dst)
{
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    neo_exec_arg args[] = {{NEO_ARG_SRC, src->memory},
                           {NEO_ARG_WEIGHTS, neo_packed_weights_memory(weights)},
                           {NEO_ARG_DST, dst->memory}};
    assert_int_equal(neo_primitive_execute(primitive, in, 3, args), NEO_OK);
    neo_primitive_destroy(primitive);
}
