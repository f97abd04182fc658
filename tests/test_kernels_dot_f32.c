/* Every kernel for dot products against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/dot_f32.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"

static struct guard guard_rows, guard_x, guard_out;

static float want(const float *row, const float *x, size_t k)
{
    float sums[4] = {0};
    for (size_t p = 0; p < k; p++)
        sums[p % 4] = fmaf(row[p], x[p], sums[p % 4]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void check(const struct dot_f32_kernel *kernel, size_t count, size_t k, uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    int end = options & 1;
    size_t stride = k + (options >> 1 & 3), rows_count = (count - 1) * stride + k;
    float *rows = guard_at(&guard_rows, rows_count * sizeof(float), end);
    float *x = guard_at(&guard_x, k * sizeof(float), end);
    float *out = guard_at(&guard_out, count * sizeof(float), end);
    fill_reals(rows, rows_count, seed);
    fill_reals(x, k, seed);
    kernel->run(rows, stride, x, k, count, out);
    for (size_t i = 0; i < count; i++)
        if (out[i] != want(rows + i * stride, x, k))
            fail_msg("%s: count %zu k %zu stride %zu: out[%zu] is %.9g, not %.9g (seed %u)",
                     kernel->name, count, k, stride, i, (double)out[i],
                     (double)want(rows + i * stride, x, k), fill_seed());
}

static void sums_are_those_of_the_contract(void **state)
{
    (void)state;
    static const size_t depths[] = {0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 32, 50};
    uint32_t seed = fill_seed();
    for (size_t i = 0; i < dot_f32_kernel_count; i++)
        for (size_t d = 0; d < count_of(depths); d++)
            for (size_t count = 1; count <= 21; count++)
                if (!(dot_f32_kernels[i]->needs & ~cpu_get()->features))
                    check(dot_f32_kernels[i], count, depths[d], &seed);
}

static void the_last_kernel_needs_nothing(void **state)
{
    (void)state;
    assert_string_equal(dot_f32_find(0)->name, "dot_f32_ref");
    assert_ptr_equal(dot_f32_find(~0u), dot_f32_kernels[0]);
}

int main(void)
{
    guard_init(&guard_rows, 1 << 14);
    guard_init(&guard_x, 1 << 12);
    guard_init(&guard_out, 1 << 12);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_contract),
        cmocka_unit_test(the_last_kernel_needs_nothing),
    };
    int failed = cmocka_run_group_tests_name("dot_f32", tests, NULL, NULL);
    guard_deinit(&guard_rows);
    guard_deinit(&guard_x);
    guard_deinit(&guard_out);
    return failed;
}
