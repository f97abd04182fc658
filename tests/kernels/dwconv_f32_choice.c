/* Which depthwise kernel is found for a task, and what tiles do without. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/depthwise/f32/depthwise.h"
#include "kernels/depthwise/f32/heights.h"
#include "tests/support/fill.h"

/* 3x3 of channels that follow each other, without gaps. */
static struct dwconv_f32_task dense(size_t channels, size_t stride)
{
    return (struct dwconv_f32_task){
        .channels = channels,
        .out_cols = 28,
        .multiplier = 1,
        .kd = 1,
        .kh = 3,
        .kw = 3,
        .stride_h = stride,
        .stride_w = stride,
        .dilation_h = 1,
        .dilation_w = 1,
        .column = channels,
        .src_plane = 1,
        .weights_tap = channels,
        .dst_column = channels,
        .dst_plane = 1,
        .low = -INFINITY,
        .high = INFINITY,
    };
}

#if !NEO_PORTABLE
/* task: channels which are next to each other. */
static void the_kernel_for_few_channels_is_found(struct dwconv_f32_task task)
{
    task.channels = task.column = task.dst_column = 3;
    task.kh = task.kw = 3;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_lanes_neon);
    task.column = 4;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_neon);
    task.channels = task.column = task.dst_column = 10;
    task.kh = 5;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_tall_a55_neon);
    task.column = 4000;
    task.kh = 4;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
}

/* Of rows. One of few channels that is too long to be copied is left to the simplest kernel. */
static void the_kernel_for_many_taps_is_found(void)
{
    struct dwconv_f32_task task = dense(512, 1);
    task.kh = 1;
    task.kw = 87;
    task.dilation_w = 2;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_neon);
    task.out_cols = 101;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_row_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_taps_a55_neon);
    task.stride_w = 4; /* of every second column 2 */
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_row_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_taps_a55_neon);
    task.stride_w = 1;
    task.out_cols = 1;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_neon);
    task.out_cols = 28;
    task.channels = 15;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    task.dilation_w = 3;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_neon);
    task.channels = 32;
    task.out_cols = 128;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_row_neon);
    task.kw = 1;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_neon);
    task.column = task.dst_column = 1;
    task.src_plane = task.dst_plane = 100;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_planes_copied_neon);
    task.kw = 87;
    for (int kind = 0; kind < CORE_KINDS; kind++)
        assert_ptr_equal(dwconv_f32_find(CPU_NEON, kind, &task), &dwconv_f32_planes_copied_neon);
}

/* Of rows, too: few taps have the same tiles on all cores. */
static void the_kernel_for_few_taps_is_found(void)
{
    struct dwconv_f32_task task = dense(384, 1);
    task.kh = 1;
    task.kw = 4;
    task.out_cols = 127;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_row_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_row_neon);
    task.stride_w = task.dilation_w = 2;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_row_neon);
    task.dilation_w = 1;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_row_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_row_neon);
    task.stride_w = 3;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_neon);
}
#endif

static void the_special_kernel_is_found(void **state)
{
    (void)state;
    struct dwconv_f32_task task = dense(8, 1);
    assert_ptr_equal(dwconv_f32_find(0, 0, &task), &dwconv_f32_ref);
#if !NEO_PORTABLE
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_3x3_neon);
    task.kd = 2;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    task.kd = 1;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_3x3_a55_neon);
    task.dilation_w = task.dilation_h = 2;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_3x3_neon);
    task.kw = 5;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_lanes_neon);
    task.kh = 5;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_tall_a55_neon);
    task.kh = 7;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task), &dwconv_f32_tall_a55_neon);
    task.kh = 6;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_lanes_neon);
    the_kernel_for_few_channels_is_found(task);
    the_kernel_for_many_taps_is_found();
    the_kernel_for_few_taps_is_found();
    task.kh = 5;
    task.column = task.dst_column = 1;
    task.src_plane = task.dst_plane = 100;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_planes_copied_neon);
    task.dilation_w = task.dilation_h = 1;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_planes_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task),
                     &dwconv_f32_planes_a55_neon);
    task.stride_h = task.stride_w = 2;
    task.in_pairs = 1;
    for (task.kh = task.kw = 3; task.kh <= 5; task.kh = task.kw += 2)
        for (int kind = 0; kind < CORE_KINDS; kind++)
            assert_ptr_equal(dwconv_f32_find(CPU_NEON, kind, &task), &dwconv_f32_planes_pairs_neon);
    task.in_pairs = 0;
    task.kh = task.kw = 3;
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, 0, &task), &dwconv_f32_planes_copied_neon);
    assert_ptr_equal(dwconv_f32_find(CPU_NEON, IN_ORDER_NARROW, &task),
                     &dwconv_f32_planes_stride_2_a55_neon);
#endif
}

#if !NEO_PORTABLE
/* Seven columns of dst, with padding on all sides of src. */
static void runs_without_zeros(size_t out_rows, size_t stride)
{
    enum { CHANNELS = 16, COLUMNS = 7, ROW = CHANNELS * COLUMNS, MOST = 15, STRIDES = 2 };
    static float src[STRIDES * ROW], weights[9 * CHANNELS], none[STRIDES * ROW], got[MOST * ROW],
        wanted[MOST * ROW];
    const float *rows[STRIDES * MOST + 2] = {NULL};
    uint32_t seed = fill_seed();
    fill_reals(src, count_of(src), &seed);
    fill_reals(weights, count_of(weights), &seed);
    fill_marker(none, count_of(none)); /* NaN */
    for (size_t i = 1; i < stride * (out_rows - 1) + 2; i++)
        rows[i] = src;
    struct dwconv_f32_task task = dense(CHANNELS, stride);
    task.out_rows = out_rows;
    task.out_cols = COLUMNS;
    task.rows = rows;
    task.zeros = none;
    task.first = -1;
    task.columns = stride * COLUMNS - (stride - 1);
    task.weights = weights;
    task.dst = wanted;
    task.dst_row = ROW;
    dwconv_f32_ref.run(&task);
    task.dst = got;
    dwconv_f32_3x3_neon.run(&task);
    assert_memory_equal(got, wanted, out_rows * ROW * sizeof(float));
}

/* Of a kernel of three planes, without padding, as images lie, and as they may lie. */
static void planes_in_place_are_apart(void **state)
{
    (void)state;
    enum { PLANES = 3, ROWS = 9, OUT_ROWS = 7, COLUMNS = 12, OUT_COLUMNS = 10, CHANNELS = 4 };
    enum { ROW = COLUMNS + 1, PLANE = ROWS * ROW + 5, OUT = OUT_ROWS * OUT_COLUMNS };
    static float src[2 * PLANES * PLANE], weights[9 * PLANES * CHANNELS], got[CHANNELS * OUT],
        wanted[CHANNELS * OUT], scratch[16 << 10];
    const float *rows[PLANES * ROWS];
    uint32_t seed = fill_seed();
    fill_reals(src, count_of(src), &seed);
    fill_reals(weights, count_of(weights), &seed);
    struct dwconv_f32_task task = dense(CHANNELS, 1);
    task.kd = PLANES;
    task.out_rows = OUT_ROWS;
    task.out_cols = OUT_COLUMNS;
    task.multiplier = 2;
    task.rows = rows;
    task.rows_plane = ROWS;
    task.columns = COLUMNS;
    task.column = task.dst_column = 1;
    task.src_plane = (size_t)PLANES * PLANE;
    task.weights = weights;
    task.dst_row = OUT_COLUMNS;
    task.dst_plane = OUT;
    for (size_t moved = 0; moved < 3; moved++) {
        for (size_t i = 0; i < PLANES * ROWS; i++)
            rows[i] = src + i / ROWS * PLANE + i % ROWS * ROW;
        if (moved > 0) /* a row, or the last plane */
            for (size_t i = moved == 1 ? PLANES * ROWS - 1 : (PLANES - 1) * (size_t)ROWS;
                 i < PLANES * ROWS; i++)
                rows[i]--;
        task.scratch = NULL;
        task.dst = wanted;
        dwconv_f32_ref.run(&task);
        assert_true(dwconv_f32_planes_copied_neon.scratch_bytes(&task) <= sizeof scratch);
        task.scratch = scratch;
        task.dst = got;
        dwconv_f32_planes_copied_neon.run(&task);
        assert_memory_equal(got, wanted, sizeof got);
    }
}

static void tiles_need_no_zeros(void **state)
{
    (void)state;
    for (size_t out_rows = 2; out_rows <= 15; out_rows++) {
        runs_without_zeros(out_rows, 1);
        runs_without_zeros(out_rows, 2);
    }
}
#endif

/* Heights of the tiles of so many rows, the tallest first. */
static void tiles_of_one_row_are_rare(void **state)
{
    (void)state;
    static const struct {
        size_t rows, heights[4]; /* ends with 0 */
    } cases[] = {
        {1, {1}},     {3, {2, 1}},  {6, {4, 2}},  {7, {7}},        {8, {4, 4}},
        {10, {7, 4}}, {12, {7, 7}}, {14, {7, 7}}, {15, {7, 4, 4}},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        size_t done = 0, tiles = 0;
        for (; done < cases[i].rows; tiles++) {
            size_t left = cases[i].rows - done;
            size_t height = tile_heights[tile_heights_choose(done, left)];
            assert_true(height <= done + left);
            assert_int_equal(height, cases[i].heights[tiles]);
            done += height;
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_one_row_are_rare),
        cmocka_unit_test(the_special_kernel_is_found),
#if !NEO_PORTABLE
        cmocka_unit_test(tiles_need_no_zeros),
        cmocka_unit_test(planes_in_place_are_apart),
#endif
    };
    return cmocka_run_group_tests_name("dwconv_f32_choice", tests, NULL, NULL);
}
