/* Every kernel for products of lines against its contract. */
#include "tests/support/test.h"

#include <math.h>

#include "arch/cpu.h"
#include "kernels/gemm/f32/lines/lines.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"
#include "tests/support/kernel_tests.h"

enum { MOST = 5, LONGEST = 37, GAP = 3 };

static struct guard guard_a, guard_b, guard_c;

/* Lines of a matrix of rows times columns, with gaps of any length between them; these are rows of
 * it one after the other, or columns. */
struct matrix {
    ptrdiff_t row, column;
    size_t values;
    float *first;
};

static struct matrix make(struct guard *guard, size_t rows, size_t columns, size_t count,
                          uint32_t options)
{
    size_t line = count + options % GAP;
    bool down = options >> 4 & 1;
    struct matrix matrix = {.row = (ptrdiff_t)(down ? line : line * columns),
                            .column = (ptrdiff_t)(down ? line * rows : line),
                            .values = (rows * columns - 1) * line + count};
    matrix.first = guard_at(guard, matrix.values * sizeof(float), options >> 5 & 1);
    return matrix;
}

static float want(const struct gemm_f32_lines *lines, size_t i, size_t j, size_t x)
{
    const float *a = lines->a + (ptrdiff_t)i * lines->a_row + (ptrdiff_t)x;
    const float *b = lines->b + (ptrdiff_t)j * lines->b_column;
    b += lines->b_is_shared ? 0 : x;
    float sum = a[0] * b[0];
    for (ptrdiff_t p = 1; p < (ptrdiff_t)lines->k; p++)
        sum = fmaf(a[p * lines->a_step], b[p * lines->b_step], sum);
    return sum;
}

/* Results are exact, and everything between them stays as it was. */
static void compare(const char *name, const struct gemm_f32_lines *lines, struct matrix c)
{
    size_t results = 0, markers = 0;
    for (size_t i = 0; i < lines->m; i++)
        for (size_t j = 0; j < lines->n; j++)
            for (size_t x = 0; x < lines->count; x++, results++) {
                float got = c.first[(ptrdiff_t)i * c.row + (ptrdiff_t)j * c.column + (ptrdiff_t)x];
                if (got != want(lines, i, j, x))
                    fail_msg("%s: %zux%zux%zu of %zu: result %zu, %zu, %zu is %.9g, not %.9g "
                             "(seed %u)",
                             name, lines->m, lines->k, lines->n, lines->count, i, j, x, (double)got,
                             (double)want(lines, i, j, x), fill_seed());
            }
    for (size_t at = 0; at < c.values; at++)
        markers += fill_is_marker(c.first[at]) != 0;
    assert_int_equal(markers + results, c.values);
}

static void check(const struct gemm_f32_lines_kernel *kernel, struct gemm_f32_lines lines,
                  uint32_t *seed)
{
    uint32_t options = fill_next(seed) >> 4;
    lines.b_is_shared = options & 1;
    struct matrix a = make(&guard_a, lines.m, lines.k, lines.count, options >> 1);
    struct matrix b =
        make(&guard_b, lines.k, lines.n, lines.b_is_shared ? 1 : lines.count, options >> 8);
    struct matrix c = make(&guard_c, lines.m, lines.n, lines.count, options >> 15);
    fill_reals(a.first, a.values, seed);
    fill_reals(b.first, b.values, seed);
    fill_marker(c.first, c.values);
    lines.a = a.first, lines.b = b.first, lines.c = c.first;
    lines.a_row = a.row, lines.a_step = a.column;
    lines.b_step = b.row, lines.b_column = b.column;
    lines.c_row = c.row, lines.c_column = c.column;
    kernel->run(&lines);
    compare(kernel->name, &lines, c);
}

static void sums_are_those_of_the_contract(void **state)
{
    uint32_t seed = fill_seed();
    for (size_t count = 1; count <= LONGEST; count++)
        for (size_t m = 1; m <= MOST; m += 2)
            for (size_t n = 1; n <= MOST; n++)
                for (size_t k = 1; k <= MOST; k++)
                    check(*state, (struct gemm_f32_lines){.m = m, .n = n, .k = k, .count = count},
                          &seed);
}

static void the_last_kernel_needs_nothing(void **state)
{
    (void)state;
    assert_string_equal(gemm_f32_lines_find(0)->name, "gemm_f32_lines_ref");
    assert_ptr_equal(gemm_f32_lines_find(~0u), gemm_f32_lines_kernels[0]);
}

int main(void)
{
    static const struct CMUnitTest each[] = {cmocka_unit_test(sums_are_those_of_the_contract)};
    static const struct CMUnitTest alone[] = {cmocka_unit_test(the_last_kernel_needs_nothing)};
    static const struct kernel_tests_guard guards[] = {
        {&guard_a, 1 << 13}, {&guard_b, 1 << 13}, {&guard_c, 1 << 13}};
    for (size_t i = 0; i < gemm_f32_lines_kernel_count; i++)
        kernel_tests_add(gemm_f32_lines_kernels[i]->name, gemm_f32_lines_kernels[i]->needs,
                         gemm_f32_lines_kernels[i], each, count_of(each));
    kernel_tests_add_alone(alone, count_of(alone));
    return kernel_tests_run("gemm_f32_lines", guards, count_of(guards));
}
