/* Convolution of planes in their own order: what is nested. */
#include "tests/support/test.h"

#include "src/convolution/convolution.h"
#include "src/primitive/primitive.h"
#include "tests/support/session.h"

static neo_memory_desc tensor_of(const neo_dim *dims, const char *tag)
{
    neo_memory_desc desc;
    assert_int_equal(neo_memory_desc_init_tag(&desc, 4, dims, NEO_F32, tag), NEO_OK);
    return desc;
}

/* What the algorithm of planes nests for these sizes, or NULL. */
static const struct algorithm *nested_for(neo_dim channels, neo_dim outputs, neo_dim width)
{
    neo_convolution_desc desc = {
        .prop_kind = NEO_FORWARD_INFERENCE,
        .algorithm = NEO_CONVOLUTION_AUTO,
        .src = tensor_of((neo_dim[]){1, channels, 20, width}, "nchw"),
        .weights = tensor_of((neo_dim[]){outputs, channels, 3, 3}, "any"),
        .dst = tensor_of((neo_dim[]){1, outputs, 20, width}, "nchw"),
        .strides = {1, 1},
        .padding_left = {1, 1},
        .padding_right = {1, 1},
    };
    const struct algorithm *nested = NULL;
    neo_primitive_desc *pd;
    assert_int_equal(neo_convolution_primitive_desc_create(&pd, engine, &desc, NULL), NEO_OK);
    do
        if (pd->implementation->algorithm == &convolution_planes_f32)
            nested = pd->implementation->nested[0]->algorithm;
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return nested;
}

/* Also where another one would be estimated to be faster: the estimate is that of this one. */
static void planes_are_always_a_depthwise_convolution(void **state)
{
    (void)state;
    assert_ptr_equal(nested_for(3, 16, 100), &convolution_depthwise_f32);
    assert_ptr_equal(nested_for(3, 64, 224), &convolution_depthwise_f32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_always_a_depthwise_convolution),
    };
    return cmocka_run_group_tests_name("convolution_planes", tests, session_setup,
                                       session_teardown);
}
