/* Depthwise convolution: which tiles have a place in the L1 cache for each of their lines. */
#include "tests/support/test.h"

#include "src/convolution/convolution_depthwise.h"

static const struct cpu cpu = {.l1_bytes = 64 << 10, .l2_bytes = 1 << 20};

/* Square images, kernels of 3x3 with padding of 1; columns 0: those that the kernel likes. */
static const struct {
    size_t channels, size, stride, rows, columns;
} cases[] = {
    {512, 14, 1, 2, 4}, {256, 28, 1, 2, 4}, {128, 56, 1, 2, 7}, {192, 28, 1, 2, 7},
    {256, 28, 2, 1, 7}, {128, 56, 2, 2, 4}, {64, 112, 2, 2, 7}, {96, 112, 2, 2, 14},
    {72, 56, 1, 1, 0},  {72, 56, 2, 1, 0},  {200, 14, 1, 2, 0},
};

static void tiles_have_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_of(cases); i++) {
        size_t out = (cases[i].size - 1) / cases[i].stride + 1;
        struct convolution_depthwise plan = {
            .cpu = &cpu,
            .channels = cases[i].channels,
            .taps = 9,
            .shape.in = {1, (neo_dim)cases[i].size, (neo_dim)cases[i].size},
            .shape.out = {1, (neo_dim)out, (neo_dim)out},
            .task = {.kd = 1, .kh = 3, .kw = 3, .dilation_h = 1, .dilation_w = 1},
        };
        plan.task.stride_h = plan.task.stride_w = cases[i].stride;
        depthwise_plan_tiles(&plan);
        assert_int_equal(plan.task.tile_rows, cases[i].rows);
        assert_int_equal(plan.task.tile_columns, cases[i].columns);
        assert_int_equal(plan.task.strip % 7, 0);
        assert_in_range(plan.task.strip, 7, out);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_places),
    };
    return cmocka_run_group_tests_name("convolution_depthwise", tests, NULL, NULL);
}
