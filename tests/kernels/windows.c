/* Every kernel for windows: against a loop, every size of line and number of taps, in its arrays.
 */
#include "tests/support/kernel_tests.h"

#include <math.h>
#include <string.h>

#include "kernels/pooling/windows.h"
#include "tests/support/fill.h"
#include "tests/support/guard.h"

enum { MOST = 150, TAPS = 11, WINDOWS = 3, SPACE = 4 * (MOST + TAPS + 8) * WINDOWS };
static struct guard guard_src, guard_dst;

/* Of the row of a table that a kernel is. */
struct row {
    const struct windows_kernel *kernel;
    enum windows_alg alg;
    enum element element;
};
static struct row rows[2 * WINDOWS_ALGS * WINDOWS_TYPES];

static float want(const struct row *row, const struct windows *w, size_t window, size_t i)
{
    const char *src = (const char *)w->src + (ptrdiff_t)window * w->src_step;
    double sum = 0, max = (double)windows_lowest(row->element);
    for (size_t t = 0; t < w->tap_count; t++) {
        double x = (double)element_read_f32(row->element, src + w->taps[t], (ptrdiff_t)i);
        sum += x;
        max = x > max || isnan(x) ? x : max;
    }
    return (float)(row->alg == WINDOWS_MAX ? max : sum * (double)w->factor);
}

static void check(const struct row *row, const struct windows *w)
{
    row->kernel->run(w);
    for (size_t k = 0; k < w->count; k++)
        for (size_t i = 0; i < w->n; i++) {
            const char *dst = (const char *)w->dst + (ptrdiff_t)k * w->dst_step;
            float got = element_read_f32(row->kernel->out, dst, (ptrdiff_t)i);
            float wanted = want(row, w, k, i);
            if (got != wanted && !(isnan(got) && isnan(wanted)))
                fail_msg("%s: element %zu of %zu, window %zu, %zu taps: %g, not %g",
                         row->kernel->name, i, w->n, k, w->tap_count, (double)got, (double)wanted);
        }
}

/* Taps one element apart, the last one's line at an end of the array; windows two elements apart.
 */
static void describe(const struct row *row, struct windows *w, ptrdiff_t *taps, int end)
{
    size_t bytes = element_bytes(row->element), out = element_bytes(row->kernel->out);
    size_t windows = w->count ? w->count - 1 : 0, lines = w->tap_count ? w->tap_count - 1 : 0;
    for (size_t t = 0; t < w->tap_count; t++)
        taps[t] = (ptrdiff_t)((w->tap_count - 1 - t) * bytes);
    w->taps = taps;
    w->src_step = (ptrdiff_t)(2 * bytes);
    w->dst_step = (ptrdiff_t)(w->n * out);
    w->factor = 0.5f;
    w->src = guard_at(&guard_src, (w->n + lines + 2 * windows) * bytes, end);
    w->dst = guard_at(&guard_dst, w->n * w->count * out, end);
}

/* Small integers, of which every sum is exact; bytes of both signs. */
static void fill(const struct row *row, const struct windows *w, uint32_t *seed)
{
    size_t count = w->n + (w->tap_count ? w->tap_count - 1 : 0) + 2 * (w->count - 1);
    for (size_t i = 0; i < count; i++) {
        int value = (int)(fill_next(seed) >> 8 & 0xff) - (row->element == ELEMENT_U8 ? 0 : 128);
        element_write_f32(row->element, (void *)(uintptr_t)w->src, (ptrdiff_t)i, (float)value);
    }
}

static void every_size_is_exact(void **state)
{
    const struct row *row = *state;
    uint32_t seed = fill_seed();
    ptrdiff_t taps[TAPS];
    for (size_t n = 1; n <= MOST; n += 1 + n / 40)
        for (size_t count = 0; count <= TAPS; count += 1 + count / 2)
            for (int end = 0; end < 2; end++) {
                struct windows w = {.n = n, .count = 1 + n % WINDOWS, .tap_count = count};
                describe(row, &w, taps, end);
                fill(row, &w, &seed);
                check(row, &w);
            }
}

/* One value that is not like the others counts in every place; so does NaN. */
static void every_place_counts(void **state)
{
    const struct row *row = *state;
    ptrdiff_t taps[TAPS];
    struct windows w = {.n = 93, .count = 1, .tap_count = 3};
    describe(row, &w, taps, 1);
    for (size_t at = 0; at < w.n + 2; at++)
        for (int special = 0; special < 3; special++) {
            const float values[] = {100, NAN, -INFINITY};
            if (special > 0 && element_is_integer(row->element))
                continue;
            for (size_t i = 0; i < w.n + 2; i++)
                element_write_f32(row->element, (void *)(uintptr_t)w.src, (ptrdiff_t)i, 1);
            element_write_f32(row->element, (void *)(uintptr_t)w.src, (ptrdiff_t)at,
                              values[special]);
            check(row, &w);
        }
}

static void nothing_is_above_minus_infinity(void **state)
{
    const struct row *row = *state;
    ptrdiff_t taps[TAPS];
    struct windows w = {.n = 93, .count = 1, .tap_count = 3};
    if (row->alg != WINDOWS_MAX || element_is_integer(row->element))
        return; /* others have no infinity, or keep it */
    describe(row, &w, taps, 1);
    for (size_t i = 0; i < w.n + 2; i++)
        element_write_f32(row->element, (void *)(uintptr_t)w.src, (ptrdiff_t)i, -INFINITY);
    check(row, &w);
}

/* Sums beyond what 16 bits hold. */
static void sums_of_many_bytes(void **state)
{
    enum { MANY = 1000 };
    static ptrdiff_t taps[MANY]; /* all of them the same line */
    const struct row *row = *state;
    struct windows w = {.n = 41, .count = 1};
    describe(row, &w, taps, 1);
    for (size_t i = 0; i < w.n; i++)
        element_write_f32(row->element, (void *)(uintptr_t)w.src, (ptrdiff_t)i, 127);
    w.tap_count = MANY;
    check(row, &w);
}

int main(void)
{
    static const struct CMUnitTest each[] = {
        cmocka_unit_test(every_size_is_exact), cmocka_unit_test(every_place_counts),
        cmocka_unit_test(nothing_is_above_minus_infinity), cmocka_unit_test(sums_of_many_bytes)};
    struct row *row = rows;
    for (size_t t = 0; t < windows_kernel_count; t++)
        for (int alg = 0; alg < WINDOWS_ALGS; alg++)
            for (int element = 0; element < WINDOWS_TYPES; element++, row++) {
                const struct windows_kernel *kernel = &(*windows_kernels[t])[alg][element];
                *row = (struct row){kernel, (enum windows_alg)alg, (enum element)element};
                kernel_tests_add(kernel->name, kernel->needs, row, each,
                                 sizeof each / sizeof *each);
            }
    return kernel_tests_run(
        "windows", (struct kernel_tests_guard[]){{&guard_src, SPACE}, {&guard_dst, SPACE}}, 2);
}
