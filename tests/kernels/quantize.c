/* Lines that are quantized: every size, ties, what saturates, NaN, and nothing beyond the arrays.
 */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise/quantize.h"
#include "tests/support/fill.h"
#include "tests/support/kernel_tests.h"

enum { MOST = 67 };
static struct guard guard_src, guard_dst;

static const struct quantize_kernel *kernel_of(void **state)
{
    return *state;
}

/* The product rounded to f32, then the rest in f64, where it is exact. */
static int want(const struct quantize_kernel *kernel, const struct quantize_line *line, size_t i,
                int divides)
{
    volatile float value = divides ? line->src[i] / line->scale : line->src[i] * line->scale;
    double low = kernel->dst == ELEMENT_S8 ? -128 : 0;
    double rounded = (isnan(value) ? 0 : nearbyint((double)value)) + line->zero;
    return (int)fmin(fmax(rounded, low), low + 255);
}

static void check_line(const struct quantize_kernel *kernel, struct quantize_line *line,
                       int divides)
{
    int64_t sum = 0;
    (divides ? kernel->divide : kernel->multiply)(line);
    for (size_t i = 0; i < line->n; i++) {
        int got = (int)element_read_f32(kernel->dst, line->dst, (ptrdiff_t)i);
        int expected = want(kernel, line, i, divides);
        sum += expected;
        if (got == expected)
            continue;
        print_error("%s, n=%zu: %g %s %g + %d is %d, not %d\n", kernel->name, line->n,
                    (double)line->src[i], divides ? "/" : "*", (double)line->scale, line->zero, got,
                    expected);
        fail();
    }
    assert_int_equal(line->sum, sum);
}

static void quantizes_lines_of_every_size(void **state)
{
    const struct quantize_kernel *kernel = kernel_of(state);
    const float specials[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 0.5f, 1.5f, -2.5f};
    uint32_t seed = fill_seed();
    for (size_t n = 0; n <= MOST; n++)
        for (int divides = 0; divides < 2; divides++) {
            int end = n & 1;
            float *src = guard_at(&guard_src, n * sizeof *src, end);
            fill_reals(src, n, &seed);
            for (size_t i = 0; i < n; i++) {
                uint32_t bits = fill_next(&seed) >> 8;
                src[i] = bits % 5 ? src[i] * 200 : specials[bits / 5 % count_of(specials)];
            }
            int low = kernel->dst == ELEMENT_S8 ? -128 : 0;
            struct quantize_line line = {.n = n, .src = src};
            line.dst = guard_at(&guard_dst, n, end);
            line.scale = (const float[]){1, 0.7f, 3}[n % 3];
            line.zero = low + (int32_t)(fill_next(&seed) >> 24);
            check_line(kernel, &line, divides);
        }
}

static void finds_ranges_of_every_size(void **state)
{
    const struct quantize_kernel *kernel = kernel_of(state);
    uint32_t seed = fill_seed();
    for (size_t n = 0; n <= MOST; n++) {
        float *src = guard_at(&guard_src, n * sizeof *src, n & 1);
        float low = 0.25f, high = 0.5f, range[] = {low, high};
        fill_reals(src, n, &seed);
        for (size_t i = 0; i < n; i += 7)
            src[i] = NAN;
        for (size_t i = 0; i < n; i++) {
            low = fminf(low, src[i]);
            high = fmaxf(high, src[i]);
        }
        kernel->range(n, src, range);
        assert_true(range[0] == low && range[1] == high);
    }
}

static void both_types_are_found(void **state)
{
    (void)state;
    const uint32_t tiers[] = {0, CPU_NEON, cpu_get()->features};
    for (size_t t = 0; t < count_of(tiers); t++) {
        assert_int_equal(quantize_find(tiers[t], ELEMENT_S8)->dst, ELEMENT_S8);
        assert_int_equal(quantize_find(tiers[t], ELEMENT_U8)->dst, ELEMENT_U8);
        assert_null(quantize_find(tiers[t], ELEMENT_F32));
    }
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(quantizes_lines_of_every_size),
        cmocka_unit_test(finds_ranges_of_every_size),
    };
    static const struct CMUnitTest alone[] = {
        cmocka_unit_test(both_types_are_found),
    };
    static const struct kernel_tests_guard guards[] = {
        {&guard_src, MOST * sizeof(float)},
        {&guard_dst, MOST},
    };
    kernel_tests_add_alone(alone, count_of(alone));
    for (size_t i = 0; i < quantize_kernel_count; i++) {
        const struct quantize_kernel *kernel = quantize_kernels[i];
        kernel_tests_add(kernel->name, kernel->needs, kernel, each, count_of(each));
    }
    return kernel_tests_run("quantize", guards, count_of(guards));
}
