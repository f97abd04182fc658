/* Batches whose dimensions lie in another order in one tensor than in the others. */
#include "tests/support/test.h"

#include "tests/support/session.h"
#include "tests/support/tensor.h"

static const neo_dim src_dims[] = {2, 3, 4, 5}, weights_dims[] = {2, 3, 5, 6},
                     dst_dims[] = {2, 3, 4, 6};

struct product {
    struct tensor tensors[3]; /* src, weights, dst */
};

static void compare(void *context, const neo_dim *p)
{
    const struct product *product = context;
    float sum = 0;
    for (neo_dim k = 0; k < src_dims[3]; k++)
        sum += *tensor_at(&product->tensors[0], (neo_dim[]){p[0], p[1], p[2], k}) *
               *tensor_at(&product->tensors[1], (neo_dim[]){p[0], p[1], k, p[3]});
    assert_true(*tensor_at(&product->tensors[2], p) == sum);
}

static void multiply(const neo_matmul_desc *desc, neo_primitive_desc *pd)
{
    struct product product = {{tensor_make(engine, &desc->src, 1),
                               tensor_make(engine, &desc->weights, 2),
                               tensor_make(engine, &desc->dst, 3)}};
    neo_primitive *primitive;
    assert_int_equal(neo_primitive_create(&primitive, pd), NEO_OK);
    const neo_exec_arg args[] = {{NEO_ARG_SRC, product.tensors[0].memory},
                                 {NEO_ARG_WEIGHTS, product.tensors[1].memory},
                                 {NEO_ARG_DST, product.tensors[2].memory}};
    assert_int_equal(neo_primitive_execute(primitive, stream, 3, args), NEO_OK);
    tensor_for_each(4, dst_dims, compare, &product);
    neo_primitive_destroy(primitive);
    for (int t = 0; t < 3; t++)
        tensor_free(&product.tensors[t]);
}

/* By every algorithm: batch loops are merged only where all three tensors allow it. */
static void one_tensor_may_have_an_order_of_its_own(void **state)
{
    (void)state;
    for (int odd = 0; odd < 3; odd++) {
        const char *tags[] = {"abcd", "abcd", "abcd"};
        tags[odd] = "bacd";
        const neo_matmul_desc desc = {.src = tensor_desc(4, src_dims, tags[0]),
                                      .weights = tensor_desc(4, weights_dims, tags[1]),
                                      .dst = tensor_desc(4, dst_dims, tags[2])};
        neo_primitive_desc *pd;
        assert_int_equal(neo_matmul_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
        do
            multiply(&desc, pd);
        while (neo_primitive_desc_next(pd) == NEO_OK);
        neo_primitive_desc_destroy(pd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_tensor_may_have_an_order_of_its_own)};
    return cmocka_run_group_tests_name("matmul_orders", tests, session_setup_single,
                                       session_teardown);
}
