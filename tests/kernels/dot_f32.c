/* Every kernel for dot products against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/dot/f32/dot.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

static struct guard guard_rows, guard_x, guard_out;

static float want(const float *row, const float *x, size_t k)
{
    float sums[4] = {0};
    for (size_t p = 0; p < k; p++)
        sums[p % 4] = fmaf(row[p], x[p], sums[p % 4]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* What is where result i comes. */
static float old(size_t i)
{
    return (float)(i % 13) / 8 - 1;
}

static void check(const struct dot_f32_kernel *kernel, size_t count, size_t columns, size_t k,
                  uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    bool adds = options >> 8 & 1;
    size_t stride = k + (options >> 1 & 3), rows_count = (count - 1) * stride + k;
    size_t x_stride = k + (options >> 3 & 3), x_count = (columns - 1) * x_stride + k;
    bool by_rows = options >> 7 & 1;
    size_t line = by_rows ? columns : count, lines = by_rows ? count : columns;
    size_t pitch = line + (options >> 5 & 3), out_count = (lines - 1) * pitch + line;
    size_t out_row = by_rows ? pitch : 1, out_column = by_rows ? 1 : pitch;
    float *rows = guard_at(&guard_rows, rows_count * sizeof(float), end);
    float *x = guard_at(&guard_x, x_count * sizeof(float), end);
    float *out = guard_at(&guard_out, out_count * sizeof(float), end);
    fill_reals(rows, rows_count, seed);
    fill_reals(x, x_count, seed);
    fill_marker(out, out_count);
    for (size_t i = 0; adds && i < count * columns; i++)
        out[i / columns * out_row + i % columns * out_column] = old(i);
    kernel->run(&(struct dot_f32){stride, x_stride, count, columns, k, out_row, out_column, adds},
                rows, x, out);
    for (size_t i = 0; i < count * columns; i++) {
        float sum = want(rows + i / columns * stride, x + i % columns * x_stride, k);
        float result = adds ? sum + old(i) : sum;
        float got = out[i / columns * out_row + i % columns * out_column];
        if (got != result)
            fail_msg("%s: count %zu columns %zu k %zu stride %zu adds %d: result %zu, %zu is %.9g, "
                     "not %.9g (seed %u)",
                     kernel->name, count, columns, k, stride, adds, i / columns, i % columns,
                     (double)got, (double)result, fill_seed());
    }
    for (size_t l = 0; l + 1 < lines; l++)
        for (size_t i = line; i < pitch; i++)
            assert_true(fill_is_marker(out[l * pitch + i]));
}

static void check_counts(const struct dot_f32_kernel *kernel, size_t k, uint32_t *seed)
{
    for (size_t columns = 1; columns <= DOT_F32_COLUMNS; columns++)
        for (size_t count = 1; count <= 37; count++)
            check(kernel, count, columns, k, seed);
}

static void sums_are_those_of_the_contract(void **state)
{
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 50};
    uint32_t seed = fill_seed();
    for (size_t d = 0; d < count_of(depths); d++)
        check_counts(*state, depths[d], &seed);
}

static void there_is_a_kernel_that_needs_nothing(void **state)
{
    (void)state;
    for (int in_order = 0; in_order <= IN_ORDER_NARROW; in_order++) {
        const struct dot_f32_kernel *found = dot_f32_find(~0u, in_order);
        assert_int_equal(dot_f32_find(0, in_order)->needs, 0);
        assert_true(found->in_order == 0 || found->in_order == in_order);
        assert_ptr_not_equal(found, &dot_f32_ref);
    }
    assert_ptr_equal(dot_f32_find(~0u, IN_ORDER_NARROW), dot_f32_kernels[0]);
}

int main(void)
{
    static const struct CMUnitTest each[] = {cmocka_unit_test(sums_are_those_of_the_contract)};
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(there_is_a_kernel_that_needs_nothing)};
    static const struct kernel_tests_guard guards[] = {
        {&guard_rows, 1 << 14}, {&guard_x, 1 << 12}, {&guard_out, 1 << 12}};
    for (size_t i = 0; i < dot_f32_kernel_count; i++)
        kernel_tests_add(dot_f32_kernels[i]->name, dot_f32_kernels[i]->needs, dot_f32_kernels[i],
                         each, count_of(each));
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("dot_f32", guards, count_of(guards));
}
