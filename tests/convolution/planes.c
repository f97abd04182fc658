/* Convolution of planes in their own order: what is nested. */
#include "tests/support/test.h"

#include "arch/cores.h"
#include "src/convolution/convolution.h"
#include "src/primitive/primitive.h"
#include "src/primitive/selection.h"
#include "tests/support/session.h"
#include "tests/support/stated_cpu.h"

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
        if (pd->implementation->algorithm == &convolution_planes)
            nested = pd->implementation->nested[0]->algorithm;
    while (neo_primitive_desc_next(pd) == NEO_OK);
    neo_primitive_desc_destroy(pd);
    return nested;
}

/* Also where another one would be estimated to be faster: the estimate is that of this one. */
static void planes_are_always_a_depthwise_convolution(void **state)
{
    (void)state;
    assert_ptr_equal(nested_for(3, 16, 100), &convolution_depthwise);
    assert_ptr_equal(nested_for(3, 64, 224), &convolution_depthwise);
}

/* The best algorithm of a square image with channels last, on that core. */
static const struct algorithm *best_on(const char *core, neo_dim groups, neo_dim channels,
                                       neo_dim outputs, neo_dim size, neo_dim kernel)
{
    struct cpu cpu = stated_cpu(core, core_named(core)->l1_bytes);
    struct problem problem = {.operation = &convolution_operation,
                              .convolution_algorithm = NEO_CONVOLUTION_AUTO};
    const neo_dim weights[] = {groups, outputs, channels, kernel, kernel};
    problem.tensors[SRC] = tensor_of((neo_dim[]){1, groups * channels, size, size}, "nhwc");
    problem.tensors[DST] = tensor_of((neo_dim[]){1, groups * outputs, size, size}, "nhwc");
    assert_int_equal(
        neo_memory_desc_init_tag(&problem.tensors[WEIGHTS], 5, weights, NEO_F32, "any"), NEO_OK);
    for (int i = 0; i < 2; i++) {
        problem.window.strides[i] = 1;
        problem.window.left[i] = problem.window.right[i] = kernel / 2;
    }
    cpu.features |= CPU_NEON; /* portable builds choose otherwise */
    cpu.l2_bytes = core_named(core)->l2_bytes;
    convolution_derive(&problem);
    return selection_best(&problem, NULL, &cpu).algorithm;
}

/* Where they fill no vector, and their weights are no vectors either, the pixels of planes do. */
static void few_channels_last_become_planes(void **state)
{
    (void)state;
    static const char *const core_names[] = {"cortex-a55", "cortex-a510", "neoverse-n1",
                                             "neoverse-v2", "m1-firestorm"};
    static const struct {
        neo_dim groups, channels, outputs, size, kernel;
        bool are_planes;
    } rows[] = {
        {8, 2, 2, 28, 3, true},
        {4, 2, 2, 14, 1, true},
        {4, 3, 6, 28, 1, true},
        {4, 3, 6, 28, 3, true},
        {8, 2, 6, 14, 1, true},
        {4, 4, 4, 28, 1, false},
        {32, 8, 8, 14, 1, false},
        {32, 8, 8, 14, 3, false},
        {2, 32, 32, 14, 3, false},
        {1, 64, 64, 28, 1, false},
        {1, 64, 128, 14, 3, false},
        {3, 7, 9, 13, 3, false}, /* rectangles of nine sums would wait for each other */
    };
    for (size_t i = 0; i < count_of(rows); i++)
        for (size_t c = 0; c < count_of(core_names); c++) {
            const struct algorithm *best = best_on(core_names[c], rows[i].groups, rows[i].channels,
                                                   rows[i].outputs, rows[i].size, rows[i].kernel);
            if ((best == &convolution_transposed_planes) != rows[i].are_planes)
                fail_msg("row %zu on %s: %s", i, core_names[c], best->name);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_always_a_depthwise_convolution),
        cmocka_unit_test(few_channels_last_become_planes),
    };
    return cmocka_run_group_tests_name("convolution_planes", tests, session_setup,
                                       session_teardown);
}
